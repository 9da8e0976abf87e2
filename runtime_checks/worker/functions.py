"""Verdicts on calls of public functions: what was called is computed as it is now and as TF1 did it, and compared."""

from __future__ import annotations

import inspect
from typing import Any, Callable

from .at_line import settle
from .both_ways import arrays, difference
from .errors import essence, one_line
from .phases import Phase
from .recorder import Event
from .replay import replay_of
from .run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

__all__ = ["bound", "compare_calls", "judge_calls", "numbers_apart"]

Way = Callable[..., Any]
"""Takes the arguments of a call, and gives what is compared."""


def judge_calls(finding: StaticFinding, run: Run) -> Judgement:
    """What `compare_calls` said when the run was over; by what the line raised where no call could be kept."""
    seen = run.snapshots[finding.id]
    if seen:
        return Judgement(*seen[-1].value)
    settled = settle(finding, run, "no call of it was seen whose arguments could be kept")
    return settled._replace(verdict=FAILED) if settled.verdict == REFUTED else settled


def numbers_apart(now: Any, before: Any) -> str:
    """How far two structures of tensors lie apart, in words."""
    return difference(arrays(now), arrays(before), "where TF1 gave")


def compare_calls(
    finding: StaticFinding,
    run: Run,
    phase: Phase | None,
    now: Way,
    before: Way,
    apart: Callable[[Any, Any], str] = numbers_apart,
    usable: Callable[[Event], bool] = lambda event: True,
) -> Judgement | None:
    """The verdict on the recorded calls of a finding's line, at the end of the run; None before, or without a call.

    Args:
        finding: what is judged.
        run: what was recorded.
        phase: the phase that ended, or None at the end of the run.
        now: computes it as the line does, or as what the finding says would take its place.
        before: computes it as TF1 did.
        apart: says how the two differ; empty where they are the same.
        usable: whether a call is one that can be computed again; all are by default.
    """
    if phase is not None:
        return None
    said = [_compared(event, now, before, apart) for event in run.events_at(finding, "called") if usable(event)]
    for verdict in (CONFIRMED, REFUTED, FAILED):
        for one in said:
            if one.verdict == verdict:
                return one
    return None


def _compared(event: Event, now: Way, before: Way, apart: Callable[[Any, Any], str]) -> Judgement:
    call = replay_of(event)
    try:
        old = before(*call.args, **call.kwargs)
    except Exception as error:
        return Judgement(FAILED, event.phase, one_line(f"on {call.on}, what TF1 did raises too: {essence(error)}"))
    try:
        new = now(*call.args, **call.kwargs)
    except Exception as error:
        detail = one_line(f"on {call.on}, it raises {essence(error)}, where TF1 gave numbers")
        return Judgement(CONFIRMED, event.phase, detail)
    said = apart(new, old)
    if said:
        return Judgement(CONFIRMED, event.phase, f"on {call.on}, the outputs {said}")
    if event.detail["symbolic"]:
        return Judgement(FAILED, event.phase, f"on {call.on} both ways are the same, and no others were seen")
    return Judgement(REFUTED, event.phase, f"on {call.on}, both ways give the same")


def bound(function: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by name."""
    return dict(inspect.signature(function).bind(*args, **kwargs).arguments)
