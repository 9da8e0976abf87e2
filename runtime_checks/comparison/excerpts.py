"""The lines of the users' files that a report shows, as both sides recorded them."""

from __future__ import annotations

from collections.abc import Iterator

from ..worker.recording.format.reading import Recorded
from ..worker.recording.format.rows import Place
from .results import Excerpt, Results

__all__ = ["excerpts"]

_AROUND = 5
"""Lines before a place, and behind it."""
_LONGEST = 400
"""Characters of a line."""


def excerpts(report: Results, tf1: Recorded, tf2: Recorded) -> tuple[Excerpt, ...]:
    """The lines around every place that explains the first divergence; one of each place."""
    places = dict.fromkeys(_places(report))
    return tuple(_excerpt(side, place, tf1 if side == "tf1" else tf2) for side, place in places)


def _places(report: Results) -> Iterator[tuple[str, Place]]:
    found: list[tuple[str, Place | None]] = []
    first = report.first_divergence
    if first is not None:
        found += [("tf1", first.deviation.tf1_place), ("tf2", first.deviation.tf2_place)]
        if first.operation is not None:
            ends = (("tf1", first.operation.tf1), ("tf2", first.operation.tf2))
            found += [(side, end.place) for side, end in ends if end is not None]
    for cause in report.causes:
        found += [("tf1", cause.tf1_place), ("tf2", cause.tf2_place)]
    if report.trial is not None:
        found += [("tf2", change.place) for change in report.trial.changes]
    yield from ((side, place) for side, place in found if place is not None)


def _excerpt(side: str, place: Place, recorded: Recorded) -> Excerpt:
    path, line = place
    text = (recorded.content.get("sources") or {}).get(path)
    lines = [] if text is None else str(text).split("\n")
    start = max(1, line - _AROUND)
    shown = tuple(one[:_LONGEST] for one in lines[start - 1 : line + _AROUND]) if 0 < line <= len(lines) else ()
    return Excerpt(side, path, line, start, shown)
