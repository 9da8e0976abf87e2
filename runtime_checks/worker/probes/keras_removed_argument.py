"""TF310: whether Keras refuses a keyword, a name or a shape."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = (
    "unexpected keyword|[Uu]nrecognized keyword|not recognized|not understood|Invalid keyword"
    "|cannot contain character `/`|to a shape"
)


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised that."""
    return raises(finding, run, _HAZARD, "the line ran, and Keras took what it was given")
