"""Whether calls make anew what a model should make once, and how far a run came towards a place that makes it."""

from __future__ import annotations

from typing import Callable, Sequence

from .conditions import always_comes
from .creation import creations, is_made_at
from .criteria import conclude, failed_in, names_of, unreached
from .errors import one_line, text_of
from .lines import EAGER
from .phases import STEPS, Phase
from .recorder import Event
from .run import CONFIRMED, UNREACHED, Judgement, Run, StaticFinding

__all__ = [
    "made_again", "never_came", "not_recreated", "recreated", "recreates", "refused_creation", "variables_recreated",
]  # fmt: skip

Belongs = Callable[[Event], bool]
"""Whether a ``variable`` event is the finding's."""


def made_again(events: Sequence[Event]) -> list[Event]:
    """The events, each of which is a thing that was made, in which a call made anew what an earlier one had made.

    These are the events of follow-up calls. Where no call came to its end there is no such call: then they are those of
    eager calls that raised, too, the second time on, if nothing decided whether the calls came to that line.
    """
    again = [event for event in events if event.phase.follow_up]
    if again:
        return again
    seen: dict[object, Phase] = {}
    for event in events:
        phase, place = event.phase, event.frames[:1]
        if _is_eager_call(phase) and event.context == EAGER and _is_made_anew(event):
            if seen.setdefault(place, phase) is not phase:
                again.append(event)
    return again


def _is_eager_call(phase: Phase) -> bool:
    return phase.kind == "call" and not phase.traced and phase.scope is None


def _is_made_anew(event: Event) -> bool:
    """Whether a call makes it in any case, or what it belongs to."""
    owners = [owner for owner in event.detail.get("owners", ()) if owner.phase is event.phase]
    return any(always_comes(one.frames) for one in (event, *owners))


def recreated(run: Run, events: Sequence[Event], what: str) -> Judgement | None:
    """Confirmed if one of the events, each of which is a thing that was made, is of a follow-up call; else None."""
    again = made_again(events)
    if not again:
        return None
    phases = list(dict.fromkeys(event.phase for event in again))
    rest = "" if len(phases) == 1 else f" and in {len(phases) - 1} more of the later phases"
    made = again[0].detail["class"]
    return Judgement(CONFIRMED, phases[0], f"{what} `{made}` was made again in the {phases[0]}{rest}", events)


def not_recreated(finding: StaticFinding, run: Run, what: str) -> Judgement:
    """The verdict where no call made it again."""
    nowhere = never_came(finding, run)
    if nowhere is not None:
        return nowhere
    fit = [phase for phase in run.of_kind(*STEPS) if run.contexts(finding, phase)]
    calls = [phase for phase in run.ran(finding) if phase.kind == "call"]
    decisive = _deciding_calls(finding, run) if calls or not fit else fit
    return conclude(finding, run, decisive, f"no {what} was made again in {names_of(decisive)}")


def _deciding_calls(finding: StaticFinding, run: Run) -> list[Phase]:
    """The follow-up calls in which something that is made at the finding's statement would be made again.

    Where the statement ran eagerly these are the eager ones; where it ran in traces alone, only those that traced it.
    """
    if any(phase.kind == "call" and not phase.traced for phase in run.eager_lines(finding)):
        return _eager_repeats(run)
    traced = run.traced_lines(finding)
    # Keras 3 traces in eager calls too, once, to build a layer: such a trace decides nothing.
    return [phase for phase in run.follow_ups() if phase in traced] or _eager_repeats(run)


def _eager_repeats(run: Run) -> list[Phase]:
    return [phase for phase in run.follow_ups() if not phase.traced and not phase.batch]


def never_came(finding: StaticFinding, run: Run) -> Judgement | None:
    """As `unreached`; failed where nothing but ``fit`` could have come to the function around, and that failed."""
    nowhere = unreached(finding, run)
    if nowhere is None or nowhere.verdict != UNREACHED:
        return nowhere
    steps = run.of_kind("call", *STEPS)
    for fit in run.of_kind(*STEPS):
        if fit.outcome == "failed" and not any(run.entered(finding, phase) for phase in steps):
            return failed_in(fit)
    return nowhere


def recreates(finding: StaticFinding, run: Run, belongs: Belongs, what: str = "variable") -> Judgement:
    """As `variables_recreated`; also where ``tf.function`` refused in a second trace what was made in the first."""
    ours = [event for event in run.events("variable") if belongs(event)]
    if made_again(ours):
        return variables_recreated(finding, run, belongs, what)
    places = {(event.phase, event.frames[0][:2]) for event in ours if event.frames}
    for event in run.events("refused"):
        if event.frames and (event.phase, event.frames[0][:2]) in places:
            detail = f"{what} made again, which TensorFlow refused: {event.phase.detail}"
            return Judgement(CONFIRMED, event.phase, one_line(detail), ours)
    return unreached(finding, run) or not_recreated(finding, run, what)


def variables_recreated(
    finding: StaticFinding, run: Run, belongs: Belongs | None = None, what: str = "variable"
) -> Judgement:
    """Whether the finding's line makes variables in calls of a model that already has what it needs.

    Args:
        finding: what is judged.
        run: what happened.
        belongs: whether a variable is the finding's; by default if its innermost user frame, or the construction of a
            layer that was making it, lies in the finding's statement.
        what: how to call the thing in the evidence.
    """
    is_ours = belongs or (lambda event: is_made_at(finding, event))
    ours = [event for event in run.events("variable") if is_ours(event)]
    again = made_again(ours)
    refused = refused_creation(finding, run)
    if refused is not None and not any(event.phase.follow_up for event in again):
        return refused._replace(explains=ours)
    if again:
        return Judgement(CONFIRMED, again[0].phase, f"{what} created again: {creations(again)}", ours)
    decisive = _eager_repeats(run) or run.follow_ups()
    return conclude(finding, run, decisive, f"no {what} was created again in {names_of(decisive)}")


def refused_creation(finding: StaticFinding, run: Run) -> Judgement | None:
    """The verdict where TensorFlow itself refused the creation, with an error raised at the finding's statement."""
    for phase in run.errors_at(finding):
        said = "" if phase.error is None else text_of(phase.error)
        if "singleton" in said or "is already built" in said:
            return Judgement(CONFIRMED, phase, one_line(phase.detail), ())
    return None
