"""TF417: whether a dimension of a shape is a number."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "'(int|NoneType)' object has no attribute"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised AttributeError of a number or of None."""
    return raises(finding, run, _HAZARD, "the line ran: the dimension has what it is asked for")
