"""TF103: whether follow-up calls make the variables of this TF1 layer again."""

from __future__ import annotations

from ..criteria import is_made_at
from ..recorder import Event
from ..remaking import is_new_owner, makes_again
from ..run import Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a variable, got by name, that the layer function or a layer object made here adds in a later call."""

    def belongs(event: Event) -> bool:
        return "getter" in event.detail["by"] and (is_made_at(finding, event) or is_new_owner(finding, event))

    return makes_again(finding, run, belongs)
