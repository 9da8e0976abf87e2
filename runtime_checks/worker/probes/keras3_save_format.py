"""TF305: whether Keras refuses the name of a file."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "Invalid filepath extension|must end in `\\.|unexpected keyword argument 'save_format'"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what Keras 3 says of a name."""
    return raises(finding, run, _HAZARD, "the name was taken")
