"""TF311: whether a TensorFlow function refuses what a functional model gives it."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "KerasTensor"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised because of a KerasTensor."""
    return raises(finding, run, _HAZARD, "the line ran, and its function took what it was given")
