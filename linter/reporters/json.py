"""For programs: one JSON object, version 1."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import Paint, counts

if TYPE_CHECKING:
    from ..finding import Finding, Fix
    from ..run import Result

__all__ = ["report"]


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report; one object, in ASCII."""
    findings = result.findings
    severities = counts(findings)
    document: dict[str, Any] = {
        "version": 1,
        "findings": [],
        "summary": {
            "files": result.files,
            "findings": len(findings),
            "errors": severities["error"],
            "warnings": severities["warning"],
            "infos": severities["info"],
            "rules": dict(sorted(Counter(finding.code for finding in findings).items())),
            "consequences": dict(sorted(Counter(finding.consequence.value for finding in findings).items())),
            "targets": [
                {"root": project.root, "target": project.target.value, "reason": project.reason, "files": project.files}
                for project in result.projects
            ],
            "empty": list(result.empty),
        },
    }
    # The encoder in C, which is ten times as fast, indents nothing: a line each.
    head, _, tail = json.dumps(document).partition('"findings": []')
    yield f'{head}"findings": ['
    for position, finding in enumerate(findings):
        yield f"{json.dumps(_finding(finding))}{',' if position < len(findings) - 1 else ''}"
    yield f"]{tail}"


def _finding(finding: Finding) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
    }
    if finding.cell is not None:
        shown["cell"] = finding.cell
    return shown | {
        "code": finding.code,
        "slug": finding.slug,
        "severity": finding.severity.value,
        "consequence": finding.consequence.value,
        "message": finding.message,
        "fix": None if finding.fix is None else _fix(finding.fix),
        "origin": finding.origin,
        "evidence": [],
    }


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [
        {
            "line": edit.line,
            "column": edit.column,
            "end_line": edit.end_line,
            "end_column": edit.end_column,
            "text": edit.text,
        }
        for edit in fix.edits
    ]
    return {"applicability": fix.applicability.value, "edits": edits}
