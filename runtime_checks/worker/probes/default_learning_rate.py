"""TF605: at what rate the optimizer of this line learns, and at what rate it learned in the Keras of TF1."""

from __future__ import annotations

import inspect

from ..phases import Phase
from ..rates import living, none_seen, rate_now, same
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding

_OLD = {"Adadelta": 1.0, "Adagrad": 0.01, "Adamax": 0.002, "Nadam": 0.002}


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by another rate, as it was when the line's phase was over."""
    seen = run.snapshots[finding.id]
    return Judgement(*seen[0].value) if seen else none_seen(finding, run)


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict on the first optimizer of the line."""
    for event, optimizer in [] if run.snapshots[finding.id] else living(finding, run):
        kind, rate = event.detail["class"], rate_now(optimizer)
        if kind not in _OLD:
            return Judgement(REFUTED, phase, f"`{kind}` learns at {rate:.6g}, as it did in the Keras of TF1")
        was = f"where it learned at {_OLD[kind]} in the Keras of TF1"
        given = inspect.signature(event.detail["type"].__init__).parameters["learning_rate"].default
        if same(rate, _OLD[kind]) or not same(rate, given):
            return Judgement(REFUTED, phase, f"`{kind}` learns at {rate:.6g}, which the program gives, {was}")
        return Judgement(CONFIRMED, phase, f"`{kind}` learns at {rate:.6g}, {was}")
    return None
