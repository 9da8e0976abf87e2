"""TF411: whether an input pipeline of queues is made where eager execution is on."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "are not supported when eager|not compatible with eager"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what TensorFlow raises without a graph."""
    return raises(finding, run, _HAZARD, "the line ran, where a graph takes the queues")
