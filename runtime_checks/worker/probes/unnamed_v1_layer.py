"""TF103: whether follow-up calls make the variables of this TF1 layer again."""

from __future__ import annotations

from ..creation import is_made_here
from ..recreation import recreates
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a variable, got by name, that the layer function or a layer made here adds in a later call."""
    return recreates(finding, run, lambda event: "getter" in event.detail["by"] and is_made_here(finding, event))
