"""Whether calls make anew what a model should make once, and how far a run came towards a place that makes it."""

from __future__ import annotations

from typing import Sequence

from .criteria import conclude, names_of, unreached
from .recorder import Event
from .run import CONFIRMED, FAILED, UNREACHED, Finding, Judgement, Phase, Run

__all__ = ["deciding_calls", "explain", "made_again", "never_came", "not_made_again"]


def explain(events: Sequence[Event]) -> None:
    """Say that a finding accounts for these events."""
    for event in events:
        event.explained = True


def made_again(run: Run, events: Sequence[Event], what: str) -> Judgement | None:
    """Confirmed if one of the events, each of which is a thing that was made, is of a follow-up call; else None."""
    follow_ups = {phase.name for phase in run.follow_ups()}
    again = [event for event in events if event.phase in follow_ups]
    if not again:
        return None
    explain(events)
    phases = list(dict.fromkeys(event.phase for event in again))
    rest = "" if len(phases) == 1 else f" and in {len(phases) - 1} more of the later phases"
    made = again[0].detail["class"]
    return Judgement(CONFIRMED, phases[0], f"{what} `{made}` was made again in the {phases[0]}{rest}")


def deciding_calls(finding: Finding, run: Run) -> list[Phase]:
    """The follow-up calls in which something that is made at the finding's statement would be made again.

    Where the statement ran eagerly these are the eager ones; where it ran in traces alone, only those that traced it.
    """
    calls = [phase for phase in run.follow_ups() if phase.kind == "call" and "another batch" not in phase.name]
    if any(phase.kind == "call" for phase in run.eager_lines(finding)):
        return calls
    traced = run.traced_lines(finding)
    # Keras 3 traces in eager calls too, once, to build a layer: such a trace decides nothing.
    return [phase for phase in run.follow_ups() if phase in traced] or calls


def never_came(finding: Finding, run: Run) -> Judgement | None:
    """As `unreached`; failed where nothing but ``fit`` could have come to the function around, and that failed."""
    nowhere = unreached(finding, run)
    if nowhere is None or nowhere.verdict != UNREACHED:
        return nowhere
    steps = run.of_kind("call", "traced", "fit")
    for fit in run.of_kind("fit"):
        if fit.outcome == "failed" and not any(run.entered(finding, phase) for phase in steps):
            return Judgement(FAILED, fit.name, f"{fit.name}: {fit.detail}")
    return nowhere


def not_made_again(finding: Finding, run: Run, what: str) -> Judgement:
    """The verdict where no call made it again."""
    nowhere = never_came(finding, run)
    if nowhere is not None:
        return nowhere
    fit = [phase for phase in run.of_kind("fit") if run.contexts(finding, phase)]
    calls = [phase for phase in run.ran(finding) if phase.kind in ("call", "traced")]
    decisive = deciding_calls(finding, run) if calls or not fit else fit
    return conclude(finding, run, decisive, f"no {what} was made again in {names_of(decisive)}")
