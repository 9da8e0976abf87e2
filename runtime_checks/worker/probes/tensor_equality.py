"""TF418: whether a tensor or variable is hashed, or asked for the truth of its elements."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "unhashable|truth value of an array|convert a value .None.|Tried to convert 'y'"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what tensors raise that are used as objects."""
    return raises(finding, run, _HAZARD, "the line ran, and compared or hashed what it was given")
