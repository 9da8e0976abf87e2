"""TF312: whether a weight that is given its name first raises."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "must be passed as a keyword|to a shape|multiple values|initializer identifier|both positionally"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what Keras 3 raises of such arguments."""
    return raises(finding, run, _HAZARD, "the line ran, and made the weight")
