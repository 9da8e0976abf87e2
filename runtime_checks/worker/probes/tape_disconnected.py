"""TF629: whether the gradients that the function of this line takes are all None."""

from __future__ import annotations

import linecache
import re

from ..at_line import by_errors, settle
from ..recorder import Event
from ..run import CONFIRMED, FAILED, REFUTED, UNREACHED, Judgement, Run, StaticFinding

_NO_TENSOR = "AttributeError|has no attribute"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By what ``tape.gradient`` gave in the function around the finding."""
    settled = settle(finding, run, "")
    if settled.verdict == UNREACHED:
        return settled
    taken = run.events_at(finding, "gradients", finding.function or finding.body)
    taken = [event for event in taken if _names(finding, event)] or taken
    raised = by_errors(taken, _NO_TENSOR, "the gradient")
    if raised is not None:
        return raised
    if not taken:
        if settled.verdict == FAILED:
            return settled
        return Judgement(FAILED, settled.phase, "no gradient was taken in this function, so nothing was seen of it")
    lost = [event for event in taken if event.detail["all"] and event.detail["missing"] == event.detail["all"]]
    if lost:
        return Judgement(CONFIRMED, lost[0].phase, f"all {lost[0].detail['all']} gradients are None")
    detail = taken[-1].detail
    given = detail["all"] - detail["missing"]
    return Judgement(REFUTED, taken[-1].phase, f"{given} of {detail['all']} gradients are tensors")


def _names(finding: StaticFinding, event: Event) -> bool:
    """Whether the line that takes the gradient names the loss."""
    line = linecache.getline(event.frames[0].path, event.frames[0].line)
    return bool(finding.subject) and re.search(rf"\b{re.escape(finding.subject or '')}\b", line) is not None
