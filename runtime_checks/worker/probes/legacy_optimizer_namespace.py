"""TF313: whether the optimizers of Keras 2 are there."""

from __future__ import annotations

from ..at_line import raises
from ..lookup import missing
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the name is missing, or where the line raised what stands in for an optimizer raises."""
    return missing(finding) or raises(finding, run, "not supported in Keras 3", "the line ran, and made an optimizer")
