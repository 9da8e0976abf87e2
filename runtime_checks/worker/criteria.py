"""How a verdict follows from what happened: the questions that several probes ask."""

from __future__ import annotations

from typing import Iterable, Sequence

from .phases import STEPS, Phase
from .run import FAILED, REFUTED, UNREACHED, Judgement, Run, StaticFinding

__all__ = ["conclude", "failed_in", "names_of", "unreached"]


_NEVER = "the run never came to this line"


def names_of(phases: Iterable[Phase]) -> str:
    """Phases by name, in order, each once."""
    return ", ".join(dict.fromkeys(map(str, phases)))


def failed_in(phase: Phase) -> Judgement:
    """Failed, because that phase did not come to its end."""
    return Judgement(FAILED, phase, phase.failure)


def unreached(finding: StaticFinding, run: Run) -> Judgement | None:
    """What to say of a statement that never ran; None if it ran.

    Where import, build or every call failed, or the only way into its function ended there with an error, the run did
    not get far enough to say that it leaves the statement out.
    """
    if run.ran(finding):
        return None
    for phase in run.phases:
        if phase.kind in ("import", "build") and not phase.ok:
            return failed_in(phase)
    steps = [phase for phase in run.of_kind("call", *STEPS) if phase.scope is None and phase.outcome != "not run"]
    if steps and not any(phase.ok for phase in steps):
        return failed_in(steps[0])
    for phase in run.phases:
        if finding.function is not None and _stopped_in(phase, finding) and not _was_left(finding, run):
            return failed_in(phase)
    imported = any(path == finding.path for phase in run.phases for path, _, _ in phase.ran)
    return Judgement(UNREACHED, None, _NEVER if imported else f"{_NEVER}: it imported nothing of this file")


def _stopped_in(phase: Phase, finding: StaticFinding) -> bool:
    """Whether the error that ended a phase came through the function around the finding."""
    return any(finding.holds(frame.path, frame.line, finding.function) for frame in phase.frames)


def _was_left(finding: StaticFinding, run: Run) -> bool:
    """Whether the function around the finding ran in a phase that came to its end; an import only defines it."""
    return any(phase.ok and phase.kind != "import" and run.entered(finding, phase) for phase in run.phases)


def conclude(finding: StaticFinding, run: Run, decisive: Sequence[Phase], clean: str) -> Judgement:
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
    decisive = [phase for phase in decisive if phase.outcome != "cut short"]
    failed = [phase for phase in decisive if not phase.ok]
    if failed:
        return failed_in(failed[0])
    if not decisive:
        broken = [phase for phase in run.calls() if phase.outcome == "failed"]
        if broken:
            return failed_in(broken[0])
        return Judgement(FAILED, None, "no phase was run in which it could show")
    return Judgement(REFUTED, decisive[-1], clean)
