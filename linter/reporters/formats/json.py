"""Programs: one JSON object, version 1."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ...finding import Finding, Fix, Verdict
from ...result import Result, Runtime
from ...runtime_report import WorkerRun
from .. import Paint, counts, only_at_runtime

__all__ = ["FOR_PROGRAMS", "SHOWS_FIXES", "finding_of", "report"]

FOR_PROGRAMS = True
SHOWS_FIXES = True
_FACTS = ("target", "device", "tensorflow", "keras", "python", "seconds", "peak_memory", "cause", "phases", "lines")
"""Of a worker's run, in this order."""


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
            "efforts": dict(sorted(Counter(finding.effort.value for finding in findings).items())),
            "targets": [asdict(project) for project in result.projects],
            "empty": list(result.empty),
            "milder": result.milder,
        },
    }
    if result.coverage is not None:
        document["summary"]["coverage"] = {
            **result.coverage._asdict(), "unread": result.unread, "not_followed": dict(result.not_followed),
        }  # fmt: skip
    if result.baseline is not None:
        status = result.baseline
        document["summary"]["baseline"] = {
            "initial": status.initial, "left": status.left, "stale": status.stale, "unseen": status.unseen,
            "history": dict(status.history), "damage": list(status.damage),
        }  # fmt: skip
    if result.since is not None:
        since = result.since
        document["summary"]["since"] = {"commit": since.commit, "new": since.new, "known": since.known}
    if result.runtime is not None:
        document["summary"]["runtime"] = _runtime(result.runtime, only_at_runtime(findings))
    # The encoder in C, which is ten times as fast, indents nothing: a line each.
    head, _, tail = json.dumps(document).partition('"findings": []')
    yield f'{head}"findings": ['
    ran = result.runtime is not None
    for position, finding in enumerate(findings):
        yield f"{json.dumps(finding_of(finding, ran))}{',' if position < len(findings) - 1 else ''}"
    yield f"]{tail}"


def finding_of(finding: Finding, ran: bool) -> dict[str, Any]:
    """The object of one finding, of a run of the model or without one."""
    shown: dict[str, Any] = {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
    }
    if finding.cell is not None:
        shown["cell"] = finding.cell
    shown |= {
        "code": finding.code,
        "slug": finding.slug,
        "severity": finding.severity.value,
        "consequence": finding.consequence.value,
        "message": finding.message,
        "fix": None if finding.fix is None else _fix(finding.fix),
        "origin": finding.origin,
    }
    if ran:
        shown["verdict"] = None if finding.verdict is None else finding.verdict.value
    return shown | {"evidence": [asdict(one) for one in finding.evidence]}


def _fix(fix: Fix) -> dict[str, Any]:
    shown = asdict(fix)
    return shown if fix.reason else {"applicability": shown["applicability"], "edits": shown["edits"]}


def _runtime(runtime: Runtime, added: int) -> dict[str, Any]:
    verdicts = {verdict.value: runtime.verdicts[verdict] for verdict in Verdict}
    return verdicts | {"runtime-only": added, "runs": [_run(run) for run in runtime.runs]}


def _run(run: WorkerRun) -> dict[str, Any]:
    facts = asdict(run)
    scopes = [{"name": name, "said": words} for name, words in run.scopes]
    for file, one in zip(facts["lines"], run.lines, strict=True):
        file |= {"ran": dict(one.ran), "missed": one.missed}
    return {name: facts[name] for name in _FACTS} | {"scopes": scopes, "notes": run.notes}
