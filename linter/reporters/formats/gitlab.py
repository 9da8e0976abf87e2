"""GitLab: a Code Quality report, one JSON list, an object a finding.

GitLab compares fingerprints alone, across all files of a report, so here the path is part of them: without it, equal
code in two files would be one entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...adoption.fingerprint import digest, fingerprints
from ...finding import Finding, Severity
from ...result import Result
from .. import Paint
from ..ci import Repository, escaped, explained, place
from ..raw_lines import RawLines

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = True

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}
_CATEGORIES = {"breaks": "Compatibility", "changes": "Bug Risk", "legacy": "Compatibility"}


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report: one list, in ASCII, a finding a line."""
    repository = Repository()
    prints, lines = fingerprints(result.findings, result.source), RawLines(result)
    yield "["
    for position, finding in enumerate(result.findings):
        shown = _entry(finding, prints[position], repository, lines(finding))
        yield f"{json.dumps(shown)}{',' if position < len(result.findings) - 1 else ''}"
    yield "]"


def _entry(finding: Finding, fingerprint: str, repository: Repository, lines: tuple[int, int]) -> dict[str, Any]:
    path = repository.shown(finding.path)
    where = "" if finding.cell is None else f"{place(finding)}: "
    return {
        "type": "issue",
        "check_name": f"{finding.code} {finding.slug}",
        "description": f"{finding.code}: {where}{explained(finding)}",
        "categories": [_CATEGORIES[finding.consequence.value]],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": digest(path, fingerprint),
        "location": {"path": escaped(path), "lines": {"begin": lines[0], "end": lines[1]}},
    }
