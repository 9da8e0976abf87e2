"""TF412: whether a dataset has an iterator of TF1."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "has no attribute 'make_|is not supported in eager mode"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what a dataset of TF2, or eager execution, raises."""
    return raises(finding, run, _HAZARD, "the line made an iterator")
