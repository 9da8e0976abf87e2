"""TF315: whether Keras lets a layer or a model add that."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "NotImplementedError|no attribute 'add_update'"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised."""
    return raises(finding, run, _HAZARD, "the line ran, and added what it was given")
