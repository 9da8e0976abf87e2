"""TF204: whether Python draws the number, or reads the clock, while TensorFlow traces."""

from __future__ import annotations

from ..run import Judgement, Run, StaticFinding
from ..tracing import runs_while_tracing


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed if the line ran while tracing: every call of that trace has the same value."""
    return runs_while_tracing(finding, run, "Python gave one value", finding.called)
