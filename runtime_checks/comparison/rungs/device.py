"""Rung 9a: the TF2 side on another device, against itself."""

from __future__ import annotations

from collections.abc import Mapping

from ..climb import Climb, Settled
from ..variants import against_itself

NUMBER = "9a"
TITLE = "TF2 on another device"
COMPARED = "with `--device` more than once: the TF2 side on each further device against itself on the first"
SCENARIOS: Mapping[str, tuple[str, ...]] = {}


def judge(climb: Climb) -> Settled:
    """Fails where outputs or training differ by more than the rounding of the other device."""
    return against_itself(climb, "device")
