"""Rung 6: the first training step."""

from __future__ import annotations

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled, why_missing
from ..judging.pairing import Index
from ..results import Status

NUMBER = "6"
TITLE = "one training step"
COMPARED = "one training step: loss, metrics, learning rate, gradients, updates, weights"
SCENARIOS = {scenarios.STEPS: (scenarios.STEPS_NUDGED, scenarios.STEPS_OTHER, scenarios.STEPS_AGAIN)}

_KINDS = {"loss": "loss", "learning_rate": "learning rate", "gradient": "gradients", "slot": "optimizer slots"}


def judge(climb: Climb) -> Settled:
    """Fails where something of the first step differs, or what it begins with."""
    ones, others = climb.indexes(scenarios.STEPS)
    why = why_missing(climb.both(scenarios.STEPS))
    common = {step for step in ones.steps() if step >= 0} & set(others.steps())
    if why and not common:
        return Settled(Status.NOT_RUN, why)
    problem = climb.training.problem
    checks = [check for check in climb.training.checks if check.step <= 0]
    stopped = problem or why
    if stopped and checks and max(common) > 0 and "step 0:" not in problem:
        stopped = ""
    return climb.trained(checks, _one_sided(ones, others), stopped)


def _one_sided(ones: Index, others: Index) -> list[str]:
    """What only one side recorded of the first step, so that nothing was compared of it."""
    notes = []
    for kind, words in _KINDS.items():
        found = [side for side, index in (("TF1", ones), ("TF2", others)) if index.all(kind, 0)]
        if len(found) == 1:
            notes.append(f"{words}: seen on the {found[0]} side only, so nothing was compared")
    return notes
