"""Tools that read pylint's text: one line a finding."""

from __future__ import annotations

from collections.abc import Iterator

from ...result import Result
from .. import Paint, printable
from ..ci import place

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = True


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, ``path:line: [code(slug), ] message``, as pylint's parseable output has them."""
    for finding in result.findings:
        where = "" if finding.cell is None else f"{place(finding)}: "
        shown = f"[{finding.code}({finding.slug}), ] {printable(where + finding.message)}"
        yield f"{printable(finding.path)}:{finding.line}: {shown}"
