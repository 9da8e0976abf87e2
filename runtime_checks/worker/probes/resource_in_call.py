"""TF116: whether later calls make the table, iterator or writer of this line again."""

from __future__ import annotations

from ..making import made_again, not_made_again
from ..run import Finding, Judgement, Run
from ..tracking import made_through

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a construction in a follow-up call; refuted if those ran without one."""
    kinds = ("resource", "iterator")
    made = [event for event in run.events if event.kind in kinds and made_through(finding, event)]
    return made_again(run, made, "the resource") or not_made_again(finding, run, "resource")
