"""TF104: whether follow-up calls make the variables of this slim layer again."""

from __future__ import annotations

from ..creation import holds_frame, is_made_here
from ..recorder import Event
from ..recreation import recreates
from ..run import Judgement, Run, StaticFinding

_REPEATING = ("repeat", "stack")


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a variable that the layer adds in a later call; below `repeat` and `stack` the user's own too."""
    repeats = finding.called in _REPEATING

    def belongs(event: Event) -> bool:
        if "getter" not in event.detail["by"]:
            return False
        return is_made_here(finding, event) or (repeats and holds_frame(finding, event))

    return recreates(finding, run, belongs)
