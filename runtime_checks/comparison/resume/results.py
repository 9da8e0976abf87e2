"""What came of an audit, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["Interruption", "Lost", "Report", "Status"]

Status = Literal["equal", "restored", "begun anew", "refused", "lost", "not compared", "failed"]
"""``restored`` is said of a changed loop that begins with saved values alone; what it does then is another training."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A part of the state that the resumed run did not begin with.

    ``kind`` is one of `judge.ORDER`; ``step``, counted from 0, is that of the uninterrupted run; ``uninterrupted`` and
    ``resumed`` are values where they are single numbers.
    """

    kind: str
    name: str
    step: int | None
    detail: str = ""
    uninterrupted: float | int | str | None = None
    resumed: float | int | str | None = None


@dataclass(frozen=True, slots=True)
class Interruption:
    """One interruption, and the run that went on from it.

    ``behind`` is the number of steps that were done, ``how`` the way; ``saved`` the number of steps behind which the
    last save was complete, ``resumed`` the one that the resumed run went on from, each null where there is none.
    ``loss_apart`` is how far the first loss lies from the uninterrupted run's, ``weights_apart`` how far the weights do
    at the end; null where it cannot be told.
    """

    how: str
    behind: int
    status: Status
    reason: str = ""
    saved: int | None = None
    resumed: int | None = None
    steps: int = 0
    lost: tuple[Lost, ...] = ()
    notes: tuple[str, ...] = ()
    loss_apart: float | None = None
    weights_apart: float | None = None
    writer: str = ""
    """Whose weights it goes on with, where two processes saved: ``first``, ``second``, ``either`` or nobody's."""
    files: tuple[str, ...] = ()
    """What lay in the folder when the run was interrupted."""


@dataclass(frozen=True, slots=True)
class Report:
    """The whole audit; ``status`` is the exit status."""

    name: str
    status: int
    verdict: str
    steps: int
    """Of the uninterrupted run."""
    versions: dict[str, str]
    unstable: tuple[str, ...] = ()
    """What two uninterrupted runs differ in, which is not compared."""
    interruptions: tuple[Interruption, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON has it; ``format`` is 1."""
        return {"format": 1, **asdict(self)}
