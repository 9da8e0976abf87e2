"""TF408: whether a function refuses a keyword of TF1."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "unexpected keyword argument|name for name_scope must be a string"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised TypeError, or the ValueError for a scope without a name."""
    return raises(finding, run, _HAZARD, "the call took its keywords")
