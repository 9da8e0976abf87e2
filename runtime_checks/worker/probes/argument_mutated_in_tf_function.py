"""TF221: whether TensorFlow refuses that a traced function changes its argument."""

from __future__ import annotations

import re

from ..criteria import conclude, names_of
from ..errors import one_line
from ..run import CONFIRMED, Judgement, Run, StaticFinding

_HAZARD = "should not modify its Python input arguments"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where a call that came to the line raised so; it raises when the trace is over, and names no line."""
    for phase in run.phases:
        if phase.error is not None and run.contexts(finding, phase) and re.search(_HAZARD, str(phase.detail)):
            return Judgement(CONFIRMED, phase, one_line(f"the call raised {phase.detail}"))
    traced = run.traced_lines(finding)
    decisive = traced or run.ran(finding)
    where = names_of(decisive)
    return conclude(finding, run, decisive, f"the argument was changed in {where}, and TensorFlow found it unchanged")
