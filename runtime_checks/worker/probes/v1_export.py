"""TF426: whether the installed TensorFlow has the name, and takes the call without a graph."""

from __future__ import annotations

from ..at_line import raises
from ..lookup import missing
from ..run import Judgement, Run, StaticFinding

_HAZARD = "not supported in eager execution|unexpected keyword argument 'sess'|Expected binary or unicode string"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the name is not there, or where the line raised what is raised without a session's graph."""
    return missing(finding) or raises(finding, run, _HAZARD, "the line ran, and raised nothing")
