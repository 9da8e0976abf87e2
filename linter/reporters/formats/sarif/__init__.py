"""Code scanning: SARIF 2.1.0 as GitHub reads it, one run with the metadata of every rule.

What GitHub asks for decides where the standard leaves a choice:

- Paths are relative to the checkout's root, ``%SRCROOT%``, and columns count code points.
- ``partialFingerprints`` come from `linter.adoption.fingerprint`. GitHub compares ``primaryLocationLineHash`` alone.
  It is filled because an upload through the REST interface has no other, and because the one that ``upload-sarif``
  computes changes with the lines below a finding and is the same for all findings of a rule on a line.
  That action keeps ours, and says in its log that it would have computed another.
- A file of more than 25,000 results is refused, so the mildest are left out and a notification says how many.
- A place in a notebook is one in its JSON text, which is what GitHub shows; the message begins with the cell.
- Suppressed findings are left out: GitHub does not read ``suppressions`` and would open an alert for each.
- A run of the model is a category of its own, so that it does not close the alerts of a static run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ....adoption.fingerprint import fingerprints
from ....finding import INTERNAL_ERROR, Finding, Fix
from ....result import Result
from ....runtime_report import WorkerRun
from ... import Paint
from ...ci import Repository, documented_rules, escaped, explained, place, worst_first
from ...raw_lines import RawLines
from .rules import LEVELS, driver

__all__ = ["FOR_PROGRAMS", "LIMIT", "SHOWS_FIXES", "report"]

FOR_PROGRAMS = True
SHOWS_FIXES = True

LIMIT = 25_000
"""Results that GitHub takes in one run."""

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report: one object, in ASCII, a result a line."""
    findings = _kept(result.findings)
    rules = documented_rules()
    numbers = {rule.code: number for number, rule in enumerate(rules)}
    places = _Places(result)
    prints = fingerprints(result.findings, result.source)
    known = {id(finding): digest for finding, digest in zip(result.findings, prints, strict=True)}
    run = {
        "tool": {"driver": driver(rules)},
        "invocations": [_invocation(result, len(findings), places)],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": _root_uri(places.repository.root)}},
        "automationDetails": {"id": f"migrate-lint/{'static' if result.runtime is None else 'runtime'}/"},
        "properties": _properties(result, places.repository),
        "results": [],
    }
    head, _, tail = json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}).rpartition('"results": []')
    yield f'{head}"results": ['
    for position, finding in enumerate(findings, 1):
        shown = _result(finding, numbers.get(finding.code), known[id(finding)], places)
        yield f"{json.dumps(shown)}{',' if position < len(findings) else ''}"
    yield f"]{tail}"


class _Places:
    """Where findings are, for a consumer that knows the checkout."""

    def __init__(self, result: Result) -> None:
        self.repository = Repository()
        self.lines = RawLines(result)

    def location(self, finding: Finding) -> dict[str, Any]:
        """The place in the file; of a finding in a notebook lines of its JSON text, and the cell by name."""
        first, last = self.lines(finding)
        location: dict[str, Any] = {"physicalLocation": {"artifactLocation": self.artifact(finding.path)}}
        region = {"startLine": first, "endLine": last}
        if finding.cell is None:
            region = _region(finding.line, finding.column, finding.end_line, finding.end_column)
        else:
            location["logicalLocations"] = [{"name": f"cell {finding.cell}", "fullyQualifiedName": place(finding)}]
        location["physicalLocation"]["region"] = region
        return location

    def artifact(self, path: str) -> dict[str, str]:
        """The address of a file, relative to the checkout where it is in it."""
        from urllib.parse import quote

        relative = self.repository.relative(path)
        if relative is None:
            return {"uri": Path(self.repository.absolute(path)).as_uri()}
        return {"uri": quote(os.fsencode(relative)), "uriBaseId": _ROOT}


def _kept(findings: Sequence[Finding]) -> Sequence[Finding]:
    if len(findings) <= LIMIT:
        return findings
    return sorted(worst_first(findings)[:LIMIT], key=lambda finding: finding.sort_key)


def _invocation(result: Result, shown: int, places: _Places) -> dict[str, Any]:
    """How the run ended; the exit code is the one without ``--exit-zero``."""
    told = [
        {"level": "error", "message": _message(explained(finding)), "locations": [places.location(finding)]}
        for finding in result.findings
        if finding.code == INTERNAL_ERROR.code
    ]
    if shown < len(result.findings):
        left = len(result.findings) - shown
        text = f"{left} of {len(result.findings)} findings, the mildest, were left out: GitHub takes {LIMIT} in one run"
        told.append({"level": "warning", "message": {"text": text}})
    invocation: dict[str, Any] = {"executionSuccessful": result.status != 2, "exitCode": result.status}
    if told:
        invocation["toolExecutionNotifications"] = told
    if result.empty:
        invocation["toolConfigurationNotifications"] = [
            {"level": "warning", "message": _message(escaped(f"{folder}: 0 files were found in this folder"))}
            for folder in result.empty
        ]
    return invocation


def _properties(result: Result, repository: Repository) -> dict[str, Any]:
    targets = [
        asdict(project) | {"root": escaped(repository.shown(project.root)), "reason": escaped(project.reason)}
        for project in result.projects
    ]
    shown: dict[str, Any] = {"files": result.files, "targets": targets}
    if result.runtime is not None:
        shown["runtime"] = {verdict.value: number for verdict, number in result.runtime.verdicts.items()}
        shown["runs"] = [_run(run) for run in result.runs]
    return shown


def _run(run: WorkerRun) -> dict[str, Any]:
    facts = asdict(run)
    return {name: facts[name] for name in ("target", "device", "tensorflow", "keras", "python", "cause")}


def _result(finding: Finding, number: int | None, digest: str, places: _Places) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "severity": finding.severity.value,
        "consequence": finding.consequence.value,
        "origin": finding.origin,
    }
    if finding.cell is not None:
        properties |= {"cell": finding.cell, "line": finding.line, "column": finding.column}
    if finding.verdict is not None:
        properties["verdict"] = finding.verdict.value
        properties["evidence"] = [asdict(one) | {"detail": escaped(one.detail)} for one in finding.evidence]
    where = "" if finding.cell is None else f"{place(finding)}: "
    shown: dict[str, Any] = {
        "ruleId": finding.code,
        "level": LEVELS[finding.severity],
        "message": _message(where + explained(finding)),
        "locations": [places.location(finding)],
        "partialFingerprints": {"primaryLocationLineHash": digest, "migrateLint/v1": digest},
        "properties": properties,
    }
    if number is not None:
        shown["ruleIndex"] = number
    if finding.fix is not None and finding.cell is None:
        shown["fixes"] = [_fix(finding.fix, places.artifact(finding.path))]
    return shown


def _message(text: str) -> dict[str, str]:
    """A message whose square brackets make no link."""
    return {"text": re.sub(r"[\[\]]", r"\\\g<0>", text) if "](" in text else text}


def _region(line: int, column: int, end_line: int, end_column: int) -> dict[str, int]:
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _root_uri(root: str) -> str:
    return Path(root).as_uri().rstrip("/") + "/"


def _fix(fix: Fix, artifact: dict[str, str]) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": _region(edit.line, edit.column, edit.end_line, edit.end_column),
            "insertedContent": {"text": edit.text},
        }
        for edit in fix.edits
    ]
    changes = [{"artifactLocation": artifact, "replacements": replacements}]
    return {"description": {"text": f"{fix.applicability.value} fix"}, "artifactChanges": changes}
