"""Rung 3f: inference with every variable filled from a hash of its name."""

from __future__ import annotations

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled

NUMBER = "3f"
TITLE = "variables filled by their names"
COMPARED = "the same with every variable filled from a hash of its name"
SCENARIOS = {scenarios.FINGERPRINT: (scenarios.FINGERPRINT_NUDGED, scenarios.FINGERPRINT_AGAIN)}


def judge(climb: Climb) -> Settled:
    """Fails where the outputs, taps or regularization losses differ."""
    return climb.filled(scenarios.FINGERPRINT)
