"""Rung 7e: what evaluation says of the same weights."""

from __future__ import annotations

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled, why_missing
from ..metrics import paired
from ..results import Status

NUMBER = "7e"
TITLE = "evaluation"
COMPARED = "loss and metrics of evaluation over the batches of training, with TF1's initial values and its last weights"
SCENARIOS = {scenarios.STEPS: (), scenarios.EVALUATED: (scenarios.EVALUATED_NUDGED,)}
_EQUAL = "both sides evaluate with TF1's weights, copied by the names of rung 2"


def judge(climb: Climb) -> Settled:
    """Fails where a loss or a metric that both sides have differs."""
    why = why_missing(climb.both(scenarios.EVALUATED)) or climb.training.problem
    if why:
        return Settled(Status.NOT_RUN, why)
    ones, others = climb.indexes(scenarios.EVALUATED)
    found = [paired(ones, others, step) for step in ones.steps() if step in others.steps()]
    checks = climb.judge.all(scenarios.EVALUATED, [couple for couples, _ in found for couple in couples])
    alone = [words for _, left in found for words in left]
    if not checks:
        return Settled(Status.NOT_RUN, "; ".join(dict.fromkeys(alone)) or "evaluation gives nothing on either side")
    values = [value for check in checks for value in (check.tf1_value, check.tf2_value)]
    zero = "" if any(values) else "all losses and metrics of evaluation are zero on both sides"
    return climb.settle(checks, [_EQUAL, *alone], zero)
