"""TF110: whether follow-up calls make the variables in this scope again."""

from __future__ import annotations

from ..recorder import Event
from ..remaking import holds_frame, makes_again
from ..run import Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a variable that is got by name in the body of the ``with``, also far below it, in a later call."""

    def belongs(event: Event) -> bool:
        return "getter" in event.detail["by"] and holds_frame(finding, event, finding.body)

    return makes_again(finding, run, belongs, "variable in this scope")
