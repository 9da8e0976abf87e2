"""Whether what a finding is about makes variables again, also where only TensorFlow's refusal shows it."""

from __future__ import annotations

from typing import Callable

from .criteria import created_again, unreached
from .errors import one_line
from .making import explain, not_made_again
from .recorder import Event
from .run import CONFIRMED, Finding, Judgement, Run

__all__ = ["holds_frame", "is_made_here", "is_new_owner", "makes_again"]

Belongs = Callable[[Event], bool]


def holds_frame(finding: Finding, event: Event, span: tuple[int, int] | None = None) -> bool:
    """Whether any user frame of an event lies in the finding's statement, or in `span` of its file."""
    return any(finding.holds(frame.path, frame.line, span) for frame in event.frames)


def is_new_owner(finding: Finding, event: Event) -> bool:
    """Whether what was making a variable had itself been made at the finding's statement, in the same phase."""
    return any(
        bool(owner.frames) and finding.holds(*owner.frames[0][:2]) and owner.phase == event.phase
        for owner in event.detail["owners"]
    )


def is_made_here(finding: Finding, event: Event) -> bool:
    """Whether the finding's statement itself made a variable, or a thing that it made in the same phase did."""
    innermost = bool(event.frames) and finding.holds(*event.frames[0][:2])
    return innermost or is_new_owner(finding, event)


def makes_again(finding: Finding, run: Run, belongs: Belongs, what: str = "variable") -> Judgement:
    """As `created_again`; where ``tf.function`` refused in a second trace what was made in the first, that counts."""
    ours = [event for event in run.events if event.kind == "variable" and belongs(event)]
    follow_ups = {phase.name for phase in run.follow_ups()}
    if any(event.phase in follow_ups for event in ours):
        return created_again(finding, run, belongs, what)
    places = {(event.phase, event.frames[0][:2]) for event in ours if event.frames}
    for event in run.events:
        if event.kind == "refused" and event.frames and (event.phase, event.frames[0][:2]) in places:
            explain(ours)
            detail = f"{what} made again, which TensorFlow refused: {run.phase(event.phase).detail}"
            return Judgement(CONFIRMED, event.phase, one_line(detail))
    return unreached(finding, run) or not_made_again(finding, run, what)
