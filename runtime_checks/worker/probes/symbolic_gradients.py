"""TF419: whether gradients are asked of a graph where there is none."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "not supported when eager|should be a function"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what TensorFlow raises in eager execution."""
    return raises(finding, run, _HAZARD, "the line ran, and its gradients were worked out")
