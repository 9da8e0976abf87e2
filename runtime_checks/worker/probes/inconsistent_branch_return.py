"""TF219: whether branches that leave different things behind are refused."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "must also have a return|must also be initialized|is None at the end of|same nested structure"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the `if` raised what AutoGraph raises of unlike branches."""
    return raises(finding, run, _HAZARD, "the `if` ran, and its branches were accepted")
