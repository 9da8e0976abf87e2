"""TF314: whether a Keras model takes an optimizer of TF1."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "Could not interpret optimizer|of type 'Variable', not tf.Tensor|no attribute '_unique_id'"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what Keras 3, or TensorFlow of its variables, says."""
    return raises(finding, run, _HAZARD, "the line ran with an optimizer of TF1")
