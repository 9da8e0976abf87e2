"""Teams: one page to search and filter, which works offline, with what each rule says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ....finding import Consequence, Severity
from ....result import Result
from ... import Paint, version
from ...page import markup, page
from .page_data import page_data, shown

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = True
_ICON = "".join(
    f"%3Cpath d='{path}' fill='%23{color}'/%3E"
    for path, color in (("M2 3h12v3H2z", "c0392b"), ("M2 7h8v3H2z", "d99a1c"), ("M2 11h5v3H2z", "4a7fb5"))
)


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the page, in ASCII."""
    data = page_data(result, version())
    title = shown(f"migrate-lint: {data['title']}" if data["title"] else "migrate-lint")
    rules = _rows(f"{finding.code} {finding.slug}" for finding in result.findings)
    files = _rows(finding.path for finding in result.findings)
    fallback = (
        f"<p>{_summary(result)}</p>\n"
        "<p>This page shows its findings with the script that it holds, which is switched off here.</p>\n"
        f"<table><caption>Findings by rule</caption>{rules}</table>\n"
        f"<table><caption>Findings by file</caption>{files}</table>"
    )
    yield from page(__name__, title, _ICON, fallback, data).rstrip("\n").split("\n")


def _summary(result: Result) -> str:
    """What a reader without scripts gets, before the tables."""
    severities = Counter(finding.severity for finding in result.findings)
    consequences = Counter(finding.consequence for finding in result.findings)
    words = [f"{consequences[one]} {one.value}" for one in Consequence]
    words += [f"{severities[one]} {one.value}" for one in Severity]
    return f"Findings: {len(result.findings)}, in {result.files} files: {', '.join(words)}."


def _rows(names: Iterable[str]) -> str:
    """Rows of a table with how often each name occurs, the most frequent first."""
    ordered = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"<tr><td>{number}<td>{markup(shown(name))}" for name, number in ordered)
