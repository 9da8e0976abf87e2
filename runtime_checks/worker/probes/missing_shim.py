"""TF106: whether follow-up calls make the TF1 variables of this line again, for want of a shim that keeps them."""

from __future__ import annotations

from ..creation import is_made_here
from ..recreation import recreates
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a variable that is got by name here, or by a layer or cell made here, and is new in a later call."""
    return recreates(finding, run, lambda event: "getter" in event.detail["by"] and is_made_here(finding, event))
