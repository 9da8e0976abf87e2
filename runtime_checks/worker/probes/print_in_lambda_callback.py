"""TF303: whether what a callback prints is symbolic."""

from __future__ import annotations

import re

from ..at_line import settle
from ..criteria import unreached
from ..errors import one_line
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

_HAZARD = "KerasTensor|[Ss]ymbolic|of unsupported type|has no defined (?:out|in)put"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by what was printed, or by an error that there is nothing to print; refuted by a printed value."""
    for phase in run.errors_at(finding):
        if re.search(_HAZARD, str(phase.detail)):
            return Judgement(CONFIRMED, phase, one_line(f"the print raised {phase.detail}"))
    written = run.events_at(finding, "output")
    for event in written:
        if re.search(_HAZARD, str(event.detail["text"])):
            return Judgement(CONFIRMED, event.phase, one_line("it printed `{}`".format(event.detail["text"])))
    if written:
        text = written[-1].detail["text"]
        return Judgement(REFUTED, written[-1].phase, one_line(f"it printed `{text}`, which is a value"))
    nowhere = unreached(finding, run)
    if nowhere is None and not list(run.errors_at(finding)):
        return Judgement(FAILED, run.ran(finding)[-1], "the line ran, but what it printed was not recorded")
    return settle(finding, run, "")
