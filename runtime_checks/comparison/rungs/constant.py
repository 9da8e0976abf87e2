"""Rung 3: inference with every variable at 0.001."""

from __future__ import annotations

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled

NUMBER = "3"
TITLE = "all variables at 0.001"
COMPARED = "outputs, taps and regularization losses with all variables at 0.001"
SCENARIOS = {scenarios.CONSTANT: ()}


def judge(climb: Climb) -> Settled:
    """Fails where the outputs, taps or regularization losses differ."""
    return climb.unless_fingerprint_shows(climb.filled(scenarios.CONSTANT))
