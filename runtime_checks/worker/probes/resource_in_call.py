"""TF116: whether later calls make the table, iterator or writer of this line again."""

from __future__ import annotations

from ..creation import made_through
from ..recreation import not_recreated, recreated
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a construction in a follow-up call; refuted if those ran without one."""
    made = [event for event in run.events("resource", "iterator") if made_through(finding, event)]
    return recreated(run, made, "the resource") or not_recreated(finding, run, "resource")
