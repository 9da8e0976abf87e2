"""TF510: whether a warm start by names found a variable to give a value to."""

from __future__ import annotations

from ..at_line import raises
from ..lookup import missing
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding

_HAZARD = "map with scope only"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By the name; then by what the line raised, and by how many variables got a value."""
    gone = missing(finding)
    if gone is not None:
        return gone
    judged = raises(finding, run, _HAZARD, "")
    if judged.verdict != REFUTED:
        return judged
    given = run.events_at(finding, "initialized")
    if given:
        return Judgement(REFUTED, given[0].phase, f"variables that got a value: {len(given)}")
    return Judgement(CONFIRMED, judged.phase, "the line ran, and no variable got a value")
