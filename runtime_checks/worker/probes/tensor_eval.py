"""TF416: whether a tensor is asked for a value that a session would hold."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "not supported when eager|undefined when eager|has no attribute 'eval'|Cannot evaluate tensor"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what tensors raise without a session."""
    return raises(finding, run, _HAZARD, "the line ran, and its `eval` gave a value")
