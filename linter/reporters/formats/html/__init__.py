"""Teams: one page to search and filter, which works offline, with what each rule says."""

from __future__ import annotations

from collections.abc import Iterator

from ....result import Result
from ... import Paint, version
from ...page import page
from .fallback import fallback
from .known import known_findings
from .page_data import page_data, shown

__all__ = ["FOR_PROGRAMS", "FOR_TEAMS", "SHOWS_FIXES", "report"]

FOR_PROGRAMS = True
FOR_TEAMS = True
SHOWS_FIXES = True
_ICON = "".join(
    f"%3Cpath d='{path}' fill='%23{color}'/%3E"
    for path, color in (("M2 3h12v3H2z", "c0392b"), ("M2 7h8v3H2z", "d99a1c"), ("M2 11h5v3H2z", "4a7fb5"))
)


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the page, in ASCII."""
    data = page_data(result, version())
    title = shown(f"migrate-lint: {data['title']}" if data["title"] else "migrate-lint")
    known = "" if result.baseline is None else known_findings(result.baseline)
    yield from page(__name__, title, _ICON, fallback(data, known), data, known).rstrip("\n").split("\n")
