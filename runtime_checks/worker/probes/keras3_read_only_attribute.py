"""TF317: whether an attribute can be set."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "has no setter|can't set attribute"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised that."""
    return raises(finding, run, _HAZARD, "the line ran, and set the attribute")
