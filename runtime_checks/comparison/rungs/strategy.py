"""Rung 9b: the TF2 side under a distribution strategy, against itself."""

from __future__ import annotations

from collections.abc import Mapping

from ..climb import Climb, Settled
from ..variants import against_itself

NUMBER = "9b"
TITLE = "TF2 under a distribution strategy"
COMPARED = (
    "with `--strategy`: the training steps of the TF2 side with the batch split over replicas, and the rows that they "
    "get of its pipeline, against one device"
)
SCENARIOS: Mapping[str, tuple[str, ...]] = {}


def judge(climb: Climb) -> Settled:
    """Fails where losses, gradients or weights differ by more than rounding, and nothing that is due explains it.

    It fails, too, where rows of the input pipeline come more or less often than on one device.
    """
    return against_itself(climb, "strategy")
