"""TF405: whether the installed TensorFlow has tf.contrib."""

from __future__ import annotations

from ..lookup import decide
from ..run import Judgement, Run, StaticFinding

__all__ = ["judge"]


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed if the name is missing, refuted if it is there; the line need not run."""
    return decide(finding, run)
