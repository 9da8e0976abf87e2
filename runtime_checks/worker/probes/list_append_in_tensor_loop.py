"""TF212: whether a list that grows in a loop of the graph holds what cannot be used after it."""

from __future__ import annotations

import re

from ..criteria import conclude, names_of
from ..errors import one_line
from ..run import CONFIRMED, Judgement, Run, StaticFinding

_HAZARD = "out of scope|InaccessibleTensor"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the traced function, or the graph that it gives, raised that a tensor is out of scope."""
    for phase in run.phases:
        if phase.error is not None and run.contexts(finding, phase) and re.search(_HAZARD, str(phase.detail)):
            return Judgement(CONFIRMED, phase, one_line(f"what the list holds raised {phase.detail}"))
    traced = run.traced_lines(finding)
    decisive = traced or run.ran(finding)
    where = names_of(decisive)
    return conclude(finding, run, decisive, f"the list was used after it had grown in {where}, and nothing raised")
