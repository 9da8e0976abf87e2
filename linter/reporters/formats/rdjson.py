"""reviewdog, which comments on a change: one object in its diagnostic format.

Format: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...finding import Applicability, Edit, Finding, Severity
from ...result import Result
from .. import Paint
from ..ci import Repository, escaped, explained, place
from ..raw_lines import RawLines

__all__ = ["FOR_PROGRAMS", "SHOWS_FIXES", "report"]

FOR_PROGRAMS = True
SHOWS_FIXES = True
_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report: one object, in ASCII, a finding a line.

    Columns are in UTF-8 bytes, as the format has them.
    """
    repository, lines, texts = Repository(), RawLines(result), _Texts(result)
    yield '{"source": {"name": "migrate-lint"}, "diagnostics": ['
    for position, finding in enumerate(result.findings):
        shown = json.dumps(_diagnostic(finding, repository, lines(finding), texts))
        yield f"{shown}{',' if position < len(result.findings) - 1 else ''}"
    yield "]}"


class _Texts:
    """The lines of files, for columns in bytes."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._lines: dict[str, list[str]] = {}

    def position(self, path: str, line: int, column: int) -> dict[str, int]:
        """A position in bytes; one that has no line in the file as it is."""
        if path not in self._lines:
            source = self._result.source(path)
            self._lines[path] = [] if source is None or source.notebook is not None else source.lines
        known = self._lines[path]
        text = known[line - 1] if 0 < line <= len(known) else ""
        return {"line": line, "column": len(text[: column - 1].encode("utf-8", "surrogatepass")) + 1}

    def range(self, path: str, one: Finding | Edit) -> dict[str, dict[str, int]]:
        """Where something stands; its end is exclusive."""
        return {
            "start": self.position(path, one.line, one.column),
            "end": self.position(path, one.end_line, one.end_column),
        }


def _diagnostic(finding: Finding, repository: Repository, lines: tuple[int, int], texts: _Texts) -> dict[str, Any]:
    where: dict[str, dict[str, int]] = {"start": {"line": lines[0]}, "end": {"line": lines[1]}}
    said, fix = explained(finding), finding.fix
    if finding.cell is None:
        where = texts.range(finding.path, finding)
    else:
        said = f"{place(finding)}: {said}"
    shown: dict[str, Any] = {
        "message": said,
        "location": {"path": escaped(repository.shown(finding.path)), "range": where},
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
    }
    if fix is not None and finding.cell is None and fix.applicability is not Applicability.DISPLAY:
        shown["suggestions"] = [{"range": texts.range(finding.path, edit), "text": edit.text} for edit in fix.edits]
    return shown
