"""Rung 7: the training steps after the first."""

from __future__ import annotations

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled, why_missing
from ..results import Status

NUMBER = "7"
TITLE = "training steps"
COMPARED = "all further steps, with optimizer slots and the outputs of inference afterwards"
SCENARIOS = {scenarios.STEPS: (), scenarios.STEPS_FORCED: ()}


def judge(climb: Climb) -> Settled:
    """Fails where something of a later step differs."""
    ones, others = climb.indexes(scenarios.STEPS)
    why = why_missing(climb.both(scenarios.STEPS))
    common = {step for step in ones.steps() if step >= 0} & set(others.steps())
    if why and not common:
        return Settled(Status.NOT_RUN, why)
    if common == {0} and not why:
        return Settled(Status.NOT_RUN, "only one step was recorded")
    checks = [check for check in climb.training.checks if check.step > 0]
    settled = climb.trained(checks, (), climb.training.problem or why)
    first_agrees = all(check.passed for check in climb.training.checks if check.counts and check.step == 0)
    if settled.status is Status.FAIL and first_agrees and climb.branching:
        return Settled(Status.NOT_RUN, climb.branching, notes=settled.notes)
    return settled
