"""TF430: whether a strategy has the method, and takes the call as it is."""

from __future__ import annotations

from ..at_line import raises
from ..lookup import missing
from ..run import Judgement, Run, StaticFinding

_HAZARD = "has no attribute|missing 1 required positional argument"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the name is not there, or where the line raised what a missing method or argument raises."""
    gone = missing(finding) if (finding.subject or "").startswith("tensorflow.") else None
    return gone or raises(finding, run, _HAZARD, "the line ran, and the strategy took the call")
