"""TF201: whether the print runs while TensorFlow traces, and not at the calls that follow."""

from __future__ import annotations

from ..run import Judgement, Run, StaticFinding
from ..tracing import writes


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by what was printed while tracing; refuted if it was only printed outside of traces."""
    return writes(finding, run, exact="pprint" not in (finding.subject or ""))
