"""TF307: whether one Keras refuses another's object."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = (
    "Only instances of `keras.Layer`|[Cc]ould not interpret|no attribute '(?:rank|_implements|_distribute)"
    "|Please initialize|must be an instance of|added layer must be"
)


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised that."""
    return raises(finding, run, _HAZARD, "the line ran, and took the other Keras's object")
