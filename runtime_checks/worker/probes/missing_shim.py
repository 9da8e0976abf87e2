"""TF106: whether follow-up calls make the TF1 variables of this line again, for want of a shim that keeps them."""

from __future__ import annotations

from ..recorder import Event
from ..remaking import is_made_here, makes_again
from ..run import Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a variable that is got by name here, or by a layer or cell made here, and is new in a later call."""

    def belongs(event: Event) -> bool:
        return "getter" in event.detail["by"] and is_made_here(finding, event)

    return makes_again(finding, run, belongs)
