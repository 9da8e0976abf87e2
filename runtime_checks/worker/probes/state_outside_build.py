"""TF114: whether calls add a weight or sublayer here to a layer that has its state, or Keras refuses to let them."""

from __future__ import annotations

from ..creation import is_made_here
from ..recreation import recreates, refused_creation
from ..run import CONFIRMED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a weight added here in a later call, by one of a layer made here in it, or by Keras 3's refusal."""
    judgement = recreates(finding, run, lambda event: is_made_here(finding, event), "state")
    if judgement.verdict == CONFIRMED:
        return judgement
    return refused_creation(finding, run) or judgement
