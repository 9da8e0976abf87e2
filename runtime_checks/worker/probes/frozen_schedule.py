"""TF606: whether the learning rate of this line's optimizer is left behind by its steps."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from ..at_line import raises
from ..phases import Phase
from ..rates import living, none_seen, rate_now, same, steps_of
from ..recorder import Event
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

_REFUSAL = "[Aa]rgument `?learning_rate"
_LATER = (10, 100, 1000, 10**4, 10**5, 10**6)


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the function of TF1 gives another rate for the steps that the optimizer took."""
    refused = raises(finding, run, _REFUSAL, "")
    if refused.verdict != REFUTED:
        return refused
    seen = [one for one in run.snapshots[finding.id] if one.phase is None]
    if seen:
        return Judgement(*seen[-1].value)
    if living(finding, run):
        return Judgement(FAILED, refused.phase, "the run has not come to its end")
    return none_seen(finding, run)


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Any:
    """The value of what the rate was made of, early; at the end of the run the verdict."""
    for event, optimizer in living(finding, run):
        if phase is None:
            return _verdict(event, optimizer, run.snapshots[finding.id][0].value)
        return None if run.snapshots[finding.id] else _source(event)
    return None


def _source(event: Event) -> float:
    """The step that a function of TF1 was given, or the value of a variable; 0 for anything else."""
    rate = event.detail["rate"]
    if isinstance(rate, functools.partial) and rate.args:
        return float(rate.args[0])
    variable = rate() if isinstance(rate, weakref.ref) else None
    return 0.0 if variable is None else float(variable)


def _verdict(event: Event, optimizer: Any, before: float) -> Judgement:
    given, phase = event.detail["rate"], event.phase
    steps, rate = steps_of(optimizer), rate_now(optimizer)
    said = f"after {steps} steps it learns at {rate:.6g}"
    if isinstance(given, (int, float)):
        return Judgement(REFUTED, phase, f"{said}; its rate was given as a number")
    if hasattr(given, "get_config"):
        return Judgement(REFUTED, phase, f"{said}, by a schedule of Keras that counts the optimizer's own steps")
    if not steps:
        return Judgement(FAILED, phase, "the optimizer took no step in the run, so its rate had no reason to change")
    if isinstance(given, functools.partial) and given.args:
        return _of_function(given.func, before, _source(event), steps, rate, phase, said)
    if isinstance(given, weakref.ref) and given() is not None:
        return _of_variable(before, _source(event), rate, phase, said)
    return Judgement(FAILED, phase, f"{said}; what its rate was computed of is not known")


def _of_function(
    decay: Any, before: float, now: float, steps: int, rate: float, phase: Phase, said: str
) -> Judgement:
    old = float(decay(before + steps))
    if not same(rate, old):
        return Judgement(CONFIRMED, phase, f"{said}, where TF1 learned at {old:.6g}: its step is {now:.0f}")
    if now >= before + steps:
        return Judgement(REFUTED, phase, f"{said}, as TF1 did: the program raised the step to {now:.0f}")
    for later in _LATER:
        if not same(float(decay(before + later)), rate):
            where = f"TF1 learned at {float(decay(before + later)):.6g} after {later}"
            return Judgement(CONFIRMED, phase, f"{said} and its step is still {now:.0f}; {where}")
    return Judgement(REFUTED, phase, f"{said}, as TF1 did; the function gives no other rate later")


def _of_variable(before: float, now: float, rate: float, phase: Phase, said: str) -> Judgement:
    if same(rate, now) and not same(before, now):
        return Judgement(REFUTED, phase, f"{said}, as its variable does, which was {before:.6g} before")
    if same(rate, now):
        return Judgement(FAILED, phase, f"{said}; nothing changed its variable in the run")
    return Judgement(CONFIRMED, phase, f"{said}, and its variable is {now:.6g}")
