"""One page that works offline: the ladder, the first divergence in words, and pictures of where both sides part."""

from __future__ import annotations

from .....linter.reporters.page import markup, page
from ...results import Results
from ...wording import printable, verdict
from .page_data import page_data

__all__ = ["render"]

_ICON = (
    "%3Cpath d='M1 12h6l7-9' fill='none' stroke='%234a7fb5' stroke-width='2.5'/%3E"
    "%3Cpath d='M7 12h7' stroke='%23c0392b' stroke-width='2.5'/%3E"
)


def render(report: Results, color: bool = False) -> str:
    """The page, in ASCII, in colours of its own."""
    fallback = (
        f"<p>{markup(printable(verdict(report)))}</p>\n"
        f"<table><caption>The ladder</caption>{_rows(report)}</table>\n"
        f"{_omitted(report)}"
        "<p>This page draws its pictures with the script that it holds, which is switched off here.</p>"
    )
    return page(__name__, printable(f"verify: {report.name}"), _ICON, fallback, page_data(report))


def _omitted(report: Results) -> str:
    if not report.not_compared:
        return ""
    return f"<p>not compared: {markup('; '.join(map(printable, report.not_compared)))}</p>\n"


def _rows(report: Results) -> str:
    """The ladder for a reader without scripts."""
    rows = [(rung.number, rung.title, rung.status.value, rung.detail) for rung in report.rungs]
    return "".join("<tr>" + "".join(f"<td>{markup(printable(cell))}" for cell in row) for row in rows)
