"""TF111: whether follow-up calls make a new template here that makes variables of its own."""

from __future__ import annotations

from ..creation import is_new_owner
from ..recreation import recreates
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a variable of a template that was made here in the same follow-up call."""
    what = "variable of a template made here"
    return recreates(finding, run, lambda event: "getter" in event.detail["by"] and is_new_owner(finding, event), what)
