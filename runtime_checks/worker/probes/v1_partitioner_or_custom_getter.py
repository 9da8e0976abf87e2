"""TF115: whether a variable's partitioner is refused."""

from __future__ import annotations

import re

from ..at_line import settle
from ..errors import one_line
from ..run import CONFIRMED, Judgement, Run, StaticFinding

_HAZARD = "partitioner.{0,40}unsupported"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the shim raised so in the statement, or under the scope that it opens."""
    for phase in run.errors_at(finding, finding.body):
        if re.search(_HAZARD, str(phase.detail)):
            return Judgement(CONFIRMED, phase, one_line(f"the shim raised {phase.detail}"))
    return settle(finding, run, "the line ran, and the variable was made")
