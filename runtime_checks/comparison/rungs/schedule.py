"""Rung 7r: the learning rates of steps that are not run."""

from __future__ import annotations

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled
from ..judging.naming import read_by_rates
from ..rates import compare_rates
from ..results import Status
from ..wording import some

NUMBER = "7r"
TITLE = "learning rates later"
COMPARED = "the learning rate at steps 0, 1, 3, 10 ... a million, and around the steps between them at which it jumps"
SCENARIOS = {scenarios.STEPS: ()}


def judge(climb: Climb) -> Settled:
    """Fails where a learning rate differs at a step that may never have been run."""
    found = compare_rates(climb.judge, climb.tf1, climb.tf2)
    if not found.checks:
        return Settled(Status.NOT_RUN, "; ".join(found.unknown) or "no side says what its learning rate is later")
    names = read_by_rates(climb.tf1)
    kept = [f"TF1 reads its rate of {some(names)}, which no step changes: what its program sets it to was not compared"]
    return climb.settle(found.checks, (*found.unknown, *(kept if names else ())), "")
