"""TF207: whether functions made at this line are traced each, and none of them is used again."""

from __future__ import annotations

from typing import Any

from ..criteria import conclude, names_of
from ..recorder import Event
from ..run import CONFIRMED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed if a repeated call makes and traces one anew, or a loop leaves each one for the next."""
    made = run.events_at(finding, "function")
    traces = [e for e in run.events("trace") if any(e.detail["made"] is one for one in made)]
    traced = [one for one in made if any(e.detail["made"] is one for e in traces)]
    anew = _anew_in_repeats(run, traced) or _left_for_the_next(traced)
    if anew:
        calls = sum(one.detail["calls"].number for one in anew)
        name = next(e.detail["function"] for e in traces if e.detail["made"] is anew[0])
        number = _times(len(anew))
        detail = f"`{name}` was made and traced {number} for {_times(calls, 'call')}, in the {anew[0].phase}"
        return Judgement(CONFIRMED, anew[0].phase, detail, traces)
    decisive = [phase for phase in run.follow_ups() if not phase.traced and phase.scope is None]
    if not any(phase.kind in ("call", "fit") for phase in run.ran(finding)):
        decisive = run.ran(finding)
    number = _times(len(made))
    return conclude(finding, run, decisive, f"made {number} in all, and not made anew in {names_of(decisive)}")


def _times(number: int, word: str = "") -> str:
    if word:
        return f"{number} {word}{'' if number == 1 else 's'}"
    return "once" if number == 1 else f"{number} times"


def _anew_in_repeats(run: Run, traced: list[Event]) -> list[Event]:
    """Those that one call made again after a call with the same inputs had made them."""
    for phase in run.follow_ups():
        again = [event for event in traced if event.phase is phase]
        if phase.ok and again and any(phase.repeats(event.phase) for event in traced):
            return again
    return []


def _left_for_the_next(traced: list[Event]) -> list[Event]:
    """Two or more from the same code and the same way there, none called once the next was made."""
    groups: dict[Any, list[Event]] = {}
    for event in traced:
        groups.setdefault((event.phase, event.context, event.frames, event.detail["code"]), []).append(event)
    for group in groups.values():
        pairs = list(zip(group, group[1:]))
        if pairs and all(one.detail["calls"].last <= following.detail["at"] for one, following in pairs):
            return group
    return []
