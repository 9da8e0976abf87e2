"""Rung 9c: the TF2 side in mixed precision, against itself."""

from __future__ import annotations

from collections.abc import Mapping

from ..climb import Climb, Settled
from ..variants import against_itself

NUMBER = "9c"
TITLE = "TF2 in mixed precision"
COMPARED = "with `--precision`: the TF2 side under a policy of mixed precision against itself in float32"
SCENARIOS: Mapping[str, tuple[str, ...]] = {}


def judge(climb: Climb) -> Settled:
    """Fails where outputs or training differ by more than the rounding of 16 bits, or nothing was computed in them."""
    return against_itself(climb, "precision")
