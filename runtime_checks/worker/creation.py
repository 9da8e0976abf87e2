"""What made a thing, and where: by the statement of a finding, or by something that was made there."""

from __future__ import annotations

from typing import Sequence

from .recorder import Event
from .run import StaticFinding

__all__ = ["creations", "holds_frame", "is_made_at", "is_made_here", "is_new_owner", "made_through"]


def holds_frame(finding: StaticFinding, event: Event, span: tuple[int, int] | None = None) -> bool:
    """Whether any user frame of an event lies in the finding's statement, or in `span` of its file."""
    return any(finding.holds(frame.path, frame.line, span) for frame in event.frames)


def made_through(finding: StaticFinding, event: Event) -> bool:
    """Whether the finding's statement stands anywhere in the stack of an event, or of a construction behind it."""
    return any(holds_frame(finding, one) for one in [event, *event.detail.get("owners", ())])


def is_made_at(finding: StaticFinding, event: Event) -> bool:
    """Whether a ``variable`` event comes from the finding's statement, itself or by a layer that was made there."""
    return any(finding.holds_first(one.frames) for one in [event, *event.detail["owners"]])


def is_made_here(finding: StaticFinding, event: Event) -> bool:
    """Whether the finding's statement itself made a variable, or a thing that it made in the same phase did."""
    return finding.holds_first(event.frames) or is_new_owner(finding, event)


def is_new_owner(finding: StaticFinding, event: Event) -> bool:
    """Whether what was making a variable had itself been made at the finding's statement, in the same phase."""
    return any(finding.holds_first(owner.frames) and owner.phase is event.phase for owner in event.detail["owners"])


def creations(events: Sequence[Event]) -> str:
    """In words, which variables some events made: the first one, how many, in how many calls, from which one on."""
    detail = events[0].detail
    number, calls = len(events), len({event.phase for event in events})
    shown = "`{}` (shape {}, {})".format(detail["name"], detail["shape"], detail["dtype"])
    if number > 1:
        shown += f" and {number - 1} more"
    return "{} in {}, first in the {}".format(shown, "1 call" if calls == 1 else f"{calls} calls", events[0].phase)
