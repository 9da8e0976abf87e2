"""TF508: whether a backup refuses a model that is not built."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "model must be built before"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what the callback raises of a model without variables."""
    return raises(finding, run, _HAZARD, "the line ran, and the model was trained")
