"""TF114: whether calls add a weight or sublayer here to a layer that has its state, or Keras refuses to let them."""

from __future__ import annotations

from ..criteria import refused_creation
from ..remaking import is_made_here, makes_again
from ..run import CONFIRMED, Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a weight added here in a later call, by one of a layer made here in it, or by Keras 3's refusal."""
    judgement = makes_again(finding, run, lambda event: is_made_here(finding, event), "state")
    if judgement.verdict == CONFIRMED:
        return judgement
    return refused_creation(finding, run) or judgement
