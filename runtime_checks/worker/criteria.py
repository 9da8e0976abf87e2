"""How a verdict follows from what happened: the questions that several probes ask.

A probe is a module of ``probes/``, named like its rule, with ``judge(finding, run)``, which gives a `Judgement`.
"""

from __future__ import annotations

from typing import Callable, Iterable, Sequence

from .errors import one_line, text_of
from .recorder import Event
from .run import CONFIRMED, FAILED, REFUTED, UNREACHED, Finding, Judgement, Phase, Run

__all__ = ["conclude", "created_again", "creations", "names_of", "unreached"]


def names_of(phases: Iterable[Phase]) -> str:
    """Phases by name, in order, each once."""
    return ", ".join(dict.fromkeys(phase.name for phase in phases))


def unreached(finding: Finding, run: Run) -> Judgement | None:
    """What to say of a statement that never ran; None if it ran.

    Where import, build or every call failed, or the only way into its function ended there with an error, the run did
    not get far enough to say that it leaves the statement out.
    """
    if run.ran(finding):
        return None
    for phase in run.phases:
        if phase.kind in ("import", "build") and not phase.ok:
            return Judgement(FAILED, phase.name, f"{phase.name}: {phase.detail}")
    calls = run.of_kind("call", "traced")
    if calls and not any(phase.ok for phase in calls):
        return Judgement(FAILED, calls[0].name, f"{calls[0].name}: {calls[0].detail}")
    for phase in run.phases:
        if finding.function is not None and _stopped_in(phase, finding) and not _was_left(finding, run):
            return Judgement(FAILED, phase.name, f"{phase.name}: {phase.detail}")
    return Judgement(UNREACHED, "", "the run never came to this line")


def _stopped_in(phase: Phase, finding: Finding) -> bool:
    """Whether the error that ended a phase came through the function around the finding."""
    return any(finding.holds(frame.path, frame.line, finding.function) for frame in phase.frames)


def _was_left(finding: Finding, run: Run) -> bool:
    """Whether the function around the finding ran in a phase that came to its end; an import only defines it."""
    return any(phase.ok and phase.kind != "import" and run.entered(finding, phase) for phase in run.phases)


def conclude(finding: Finding, run: Run, decisive: Sequence[Phase], clean: str) -> Judgement:
    """The verdict where the hazard was not seen.

    Args:
        finding: what is judged.
        run: what happened.
        decisive: the phases in which the hazard would have shown.
        clean: what to say if all of them ran and it did not show.
    """
    nowhere = unreached(finding, run)
    if nowhere is not None:
        return nowhere
    failed = [phase for phase in decisive if not phase.ok]
    if failed:
        return Judgement(FAILED, failed[0].name, f"{failed[0].name}: {failed[0].detail}")
    if not decisive:
        broken = [phase for phase in run.of_kind("call", "traced") if phase.outcome == "failed"]
        if broken:
            return Judgement(FAILED, broken[0].name, f"{broken[0].name}: {broken[0].detail}")
        return Judgement(FAILED, "", "no phase was run in which it could show")
    return Judgement(REFUTED, decisive[-1].name, clean)


def created_again(
    finding: Finding, run: Run, belongs: Callable[[Event], bool] | None = None, what: str = "variable"
) -> Judgement:
    """Whether the finding's line makes variables in calls of a model that already has what it needs.

    Args:
        finding: what is judged.
        run: what happened.
        belongs: whether a ``variable`` event is the finding's; by default if its innermost user frame, or the
            construction of a layer that was making it, lies in the finding's statement.
        what: how to call the thing in the evidence.
    """
    is_ours = belongs or (lambda event: is_made_at(finding, event))
    follow_ups = {phase.name for phase in run.follow_ups()}
    again = [e for e in run.events if e.kind == "variable" and e.phase in follow_ups and is_ours(e)]
    if again:
        for event in run.events:
            if event.kind == "variable" and is_ours(event):
                event.explained = True
        return Judgement(CONFIRMED, again[0].phase, f"{what} created again: {creations(again)}")
    refused = refused_creation(finding, run)
    if refused is not None:
        return refused
    decisive = [phase for phase in run.follow_ups() if phase.kind == "call" and "another batch" not in phase.name]
    if not decisive:
        decisive = run.follow_ups()
    return conclude(finding, run, decisive, f"no {what} was created again in {names_of(decisive)}")


def is_made_at(finding: Finding, event: Event) -> bool:
    """Whether a ``variable`` event comes from the finding's statement, itself or by a layer that was made there."""
    if event.frames and finding.holds(event.frames[0].path, event.frames[0].line):
        return True
    return any(
        owner.frames and finding.holds(owner.frames[0].path, owner.frames[0].line) for owner in event.detail["owners"]
    )


def refused_creation(finding: Finding, run: Run) -> Judgement | None:
    """The verdict where TensorFlow itself refused the creation, with an error raised at the finding's statement."""
    for phase in run.errors_at(finding):
        said = "" if phase.error is None else text_of(phase.error)
        if "singleton" in said or "is already built" in said:
            return Judgement(CONFIRMED, phase.name, one_line(phase.detail))
    return None


def creations(events: Sequence[Event]) -> str:
    """In words, which variables some events made: the first one, how many, in how many calls, from which one on."""
    detail = events[0].detail
    number, calls = len(events), len({event.phase for event in events})
    shown = "`{}` (shape {}, {})".format(detail["name"], detail["shape"], detail["dtype"])
    if number > 1:
        shown += f" and {number - 1} more"
    return "{} in {}, first in the {}".format(shown, "1 call" if calls == 1 else f"{calls} calls", events[0].phase)
