"""Verdicts that follow from what one line did, whichever call came to it."""

from __future__ import annotations

import re

from .criteria import unreached
from .errors import one_line
from .recorder import Event
from .run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

__all__ = ["by_errors", "raises", "settle"]


def by_errors(events: list[Event], hazard: str, what: str) -> Judgement | None:
    """The verdict of the first event with an ``error``: confirmed if it is the hazard's, failed if it is another.

    Args:
        events: those with ``error`` in their detail.
        hazard: a regular expression for the texts of the hazard's errors.
        what: what the events are, in words.
    """
    raised = [event for event in events if event.detail["error"]]
    for event in raised:
        if re.search(hazard, event.detail["error"]):
            return Judgement(CONFIRMED, event.phase, "{} raised {}".format(what, event.detail["error"]))
    if raised:
        return Judgement(FAILED, raised[0].phase, "{} raised {}".format(what, raised[0].detail["error"]))
    return None


def settle(finding: StaticFinding, run: Run, clean: str) -> Judgement:
    """The verdict where nothing was recorded at the line: unreached, failed where it raised, else refuted."""
    nowhere = unreached(finding, run)
    if nowhere is not None:
        return nowhere
    for phase in run.errors_at(finding):
        return Judgement(FAILED, phase, one_line(f"the line raised {phase.detail}"))
    return Judgement(REFUTED, run.ran(finding)[-1], clean)


def raises(finding: StaticFinding, run: Run, hazard: str, clean: str) -> Judgement:
    """The verdict by what the line itself raised: confirmed if it is the hazard's error, refuted if it ran without.

    Args:
        finding: the static finding.
        run: what was recorded.
        hazard: a regular expression for the texts of the hazard's errors.
        clean: the evidence where the line ran and raised nothing.
    """
    for phase in run.errors_at(finding):
        if re.search(hazard, str(phase.detail)):
            return Judgement(CONFIRMED, phase, one_line(f"the line raised {phase.detail}"))
    return settle(finding, run, clean)
