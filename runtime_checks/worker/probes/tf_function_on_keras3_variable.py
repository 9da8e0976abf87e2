"""TF320: whether a function refuses a variable of Keras."""

from __future__ import annotations

from ..at_line import raises
from ..run import STATIC_ONLY, Judgement, Run, StaticFinding

_HAZARD = "'str' object has no attribute|of type 'Variable', not tf.Tensor"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised that."""
    if finding.subject == "isinstance":
        return Judgement(STATIC_ONLY, None, "a test that is always False raises nothing")
    return raises(finding, run, _HAZARD, "the line ran, and its function took the variable")
