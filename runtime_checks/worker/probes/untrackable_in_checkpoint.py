"""TF511: whether a checkpoint refuses what it is given."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "was expecting .*trackable object"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what `tf.train.Checkpoint` raises of a value without state."""
    return raises(finding, run, _HAZARD, "the line ran, and made the checkpoint")
