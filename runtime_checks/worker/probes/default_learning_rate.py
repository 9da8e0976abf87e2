"""TF605: at what rate the optimizer of this line learns, and at what rate it learned until Keras 2.3."""

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
        kind, given = event.detail["class"], event.detail["rate"]
        if kind not in _OLD:
            return Judgement(REFUTED, phase, f"the default of `{kind}` is what it was in Keras 2.3")
        default = inspect.signature(event.detail["type"].__init__).parameters["learning_rate"].default
        if not isinstance(given, (int, float)) or given != default:
            return Judgement(REFUTED, phase, f"the program gives `{kind}` its learning rate")
        rate = rate_now(optimizer)
        said = f"`{kind}` learns at {rate:.6g}, where it learned at {_OLD[kind]} until Keras 2.3"
        return Judgement(REFUTED if same(rate, _OLD[kind]) else CONFIRMED, phase, said)
    return None
