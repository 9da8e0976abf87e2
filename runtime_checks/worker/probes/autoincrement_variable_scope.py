"""TF110: whether follow-up calls make the variables in this scope again."""

from __future__ import annotations

from ..creation import holds_frame
from ..recorder import Event
from ..recreation import recreates
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a variable that is got by name in the body of the ``with``, also far below it, in a later call."""

    def belongs(event: Event) -> bool:
        return "getter" in event.detail["by"] and holds_frame(finding, event, finding.body)

    return recreates(finding, run, belongs, "variable in this scope")
