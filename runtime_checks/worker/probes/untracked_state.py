"""TF107: whether the model computes with variables of this line that it does not know of."""

from __future__ import annotations

import linecache

from ..errors import one_line
from ..phases import Phase
from ..run import CONFIRMED, Judgement, Run, StaticFinding
from ..state import judge_state, own_variables


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a variable that is used and not known, or by the default that Keras 3 takes from a dict."""
    for phase in run.phases:
        if _lost_its_default(finding, phase):
            return Judgement(CONFIRMED, phase, one_line(phase.detail))
    return judge_state(finding, run, own_variables(finding, run))


def _lost_its_default(finding: StaticFinding, phase: Phase) -> bool:
    """Whether a missing key of the attribute was an error, where a ``defaultdict`` would have made it."""
    if not finding.subject or not isinstance(phase.error, KeyError) or not phase.frames:
        return False
    frame = phase.frames[0]
    return frame.path == finding.path and f"{finding.subject}[" in linecache.getline(frame.path, frame.line)
