"""TF202: whether the log call runs while TensorFlow traces, and not at the calls that follow."""

from __future__ import annotations

from ..run import Judgement, Run, StaticFinding
from ..tracing import writes


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a record or a run of the line while tracing; refuted if either was outside of traces only.

    A record below the logger's level, and the log of an experiment tracker, leave nothing but the line that ran.
    """
    return writes(finding, run, exact=False)
