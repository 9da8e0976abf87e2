"""What the HTML report shows, as plain lists and dictionaries: findings with their lines, rules with their words.

Every text is made printable here, so that no control or direction mark of a linted file reaches the page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import quote

from ....finding import Applicability, Consequence, Effort, Evidence, Finding, Fix, Severity, Verdict
from ....result import LintedProject, Result, Runtime, Team, VerifyReport
from ....rule_api.rule import SECTIONS, documentation
from ....runtime_report import WorkerRun
from ....settings.link_template import address
from ... import nothing_found, only_at_runtime, printable
from ...ci import Repository, documented_rules

_AROUND = 3
"""Lines that are shown before and after a finding."""
_SPAN = 6
"""Lines of a finding that are shown after its first."""
_WIDTH = 240
"""Characters of a line that are shown."""
_LEAD = 60
"""Characters that are shown before the mark, of a line that is longer."""
UNOWNED = "unowned"
"""What stands for the owner of a file that has none."""
MENDS = ("safe", "unsafe", "person")
"""What mends a finding: ``--fix``, ``--unsafe-fixes`` with it, or a person."""
_SEVERITIES, _CONSEQUENCES, _EFFORTS, _VERDICTS = list(Severity), list(Consequence), list(Effort), list(Verdict)


class Row(NamedTuple):
    """A finding as the script takes it apart; ``file``, ``rule`` and words of a kind are places in a list.

    ``verdict`` is -1 without one; ``reports`` are the reports of verify that speak of it, with what they say.
    """

    file: int
    rule: int
    severity: int
    consequence: int
    verdict: int
    cell: int | None
    line: int
    column: int
    message: str
    runtime: bool
    excerpt: list[Any] | None
    evidence: list[tuple[str, str, str]]
    fix: list[Any] | None
    effort: int
    mends: int
    href: str | None
    reports: list[tuple[int, str]]


def page_data(result: Result, version: str) -> dict[str, Any]:
    """All that the page knows."""
    rules = _Rules()
    files: dict[str, _File] = {}
    team = result.team or Team()
    repository = Repository()
    rows = []
    for finding in result.findings:
        if finding.path not in files:
            files[finding.path] = _File(len(files), result, finding.path)
        rows.append(_row(finding, files[finding.path], rules.number(finding), team, repository))
    return {
        "tool": f"migrate-lint {version}",
        "title": _title(result.projects),
        "checked": result.files,
        "passed": nothing_found(result),
        "projects": [_project(project) for project in result.projects],
        "empty": [shown(folder) for folder in result.empty],
        "rules": rules.shown,
        "files": [_shown_file(path, file, team) for path, file in files.items()],
        "owners": None if team.owners is None else shown(team.owners_file),
        "findings": rows,
        "reports": [_report(report, team.folder) for report in team.reports],
        "runtime": None if result.runtime is None else _runtime(result.runtime, only_at_runtime(result.findings)),
    }


def _shown_file(path: str, file: _File, team: Team) -> dict[str, Any]:
    owners = None if team.owners is None else [shown(owner) for owner in team.owners.get(path, ())]
    return {"path": shown(path), "lines": file.lines, "owners": owners}


def _report(report: VerifyReport, folder: str | None) -> dict[str, Any]:
    """A report of verify, with its address from the folder of the page."""
    try:
        href = PurePath(report.file).as_uri() if folder is None else quote(os.path.relpath(report.file, folder))
    except ValueError:  # another drive
        href = PurePath(report.file).as_uri()
    return {
        "name": shown(f"{report.name} ({PurePath(report.file).name})"),
        "href": href,
        "status": report.status,
        "verdict": shown(report.verdict),
        "findings": len(report.concerns),
    }


def shown(text: str) -> str:
    """The text as it may be shown, its line ends and tabs kept."""
    return text if text.isprintable() else re.sub(r"[^\n\t]+", lambda part: printable(part[0]), text)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The Markdown of a rule's docstring as paragraphs ``p``, list items ``li`` and ``code``."""
    for number, part in enumerate(re.split(r"^```[^\n]*\n?", text, flags=re.M)):
        if number % 2:
            yield "code", shown(part.rstrip("\n"))
            continue
        for paragraph in re.split(r"\n\s*\n|\n(?=[-*] )", part.strip()):
            words = " ".join(paragraph.split())
            if words:
                yield ("li", shown(words[2:])) if words.startswith(("- ", "* ")) else ("p", shown(words))


class _File:
    """A file with findings, and those of its lines that are shown."""

    def __init__(self, number: int, result: Result, path: str) -> None:
        self.number = number
        self.lines: dict[str, str] = {}
        """By number; before that of a notebook stand its cell's and a colon."""
        source = result.source(path)
        self.texts: Mapping[int | None, Sequence[str]] = {} if source is None else source.texts

    def excerpt(self, finding: Finding) -> list[Any] | None:
        """The first and the last line to show, where the mark starts and ends, and the first line if it was cut."""
        lines = self.texts.get(finding.cell, ())
        if not 0 < finding.line <= len(lines):
            return None
        last_marked = max(min(finding.end_line, finding.line + _SPAN, len(lines)), finding.line)
        last = last_marked if last_marked < finding.end_line else min(last_marked + _AROUND, len(lines))
        first = max(finding.line - _AROUND, 1)
        for number in range(first, last + 1):
            self.lines[_key(finding.cell, number)] = _cut(lines[number - 1])
        line = lines[finding.line - 1]
        start = min(finding.column, len(line) + 1) - 1
        if finding.end_line > finding.line:
            end_line = lines[last_marked - 1]
            end = finding.end_column - 1 if last_marked == finding.end_line else len(end_line)
            return [first, last, _units(line[:start]), last_marked, _units(end_line[: min(end, _WIDTH)])]
        end = max(finding.end_column - 1, start + 1)
        if len(line) <= _WIDTH:
            return [first, last, _units(line[:start]), last_marked, _units(line[:end])]
        window = max(start - _LEAD, 0)
        before = "\u2026" if window else ""
        part = before + line[window : window + _WIDTH] + ("\u2026" if window + _WIDTH < len(line) else "")
        ends = (_units(part[: place - window + len(before)]) for place in (start, min(end, window + _WIDTH)))
        return [first, last, next(ends), last_marked, next(ends), shown(part)]


def _key(cell: int | None, line: int) -> str:
    return str(line) if cell is None else f"{cell}:{line}"


def _cut(line: str) -> str:
    return shown(line) if len(line) <= _WIDTH else shown(line[:_WIDTH]) + "\u2026"


def _units(text: str) -> int:
    """The length of a text as it is shown, as JavaScript counts it."""
    return len(shown(text).encode("utf-16-le")) // 2


class _Rules:
    """The rules that found something, in the order in which they first did."""

    def __init__(self) -> None:
        self.classes = {rule.code: rule for rule in documented_rules()}
        self.numbers: dict[tuple[str, str], int] = {}
        self.shown: list[dict[str, Any]] = []

    def number(self, finding: Finding) -> int:
        """The place of a finding's rule among those shown."""
        key = finding.code, finding.slug
        if key not in self.numbers:
            self.numbers[key] = len(self.shown)
            self.shown.append(self._rule(finding))
        return self.numbers[key]

    def _rule(self, finding: Finding) -> dict[str, Any]:
        rule = {"code": shown(finding.code), "slug": shown(finding.slug), "family": "other", "summary": "", "words": []}
        cls = self.classes.get(finding.code)
        if cls is None:
            return rule
        module = cls.__module__.split(".")
        try:
            words = documentation(cls)
        except ValueError:  # a rule of somebody else need not be documented as ours are
            words = {}
        return rule | {
            "family": "tool" if module[-1] == "tool_rules" else shown(module[-2]) if len(module) > 1 else "other",
            "severity": cls.severity.value,
            "consequence": cls.consequence.value,
            "summary": " ".join(shown(words.get("Summary", "")).split()),
            "words": [[title, list(blocks(words[title]))] for title in SECTIONS if title in words],
        }


def _row(finding: Finding, file: _File, rule: int, team: Team, repository: Repository) -> Row:
    key = finding.path, finding.line, finding.column, finding.code
    reports = [] if finding.cell is not None else [
        (number, shown(report.concerns[key])) for number, report in enumerate(team.reports) if key in report.concerns
    ]  # fmt: skip
    return Row(
        file.number,
        rule,
        _SEVERITIES.index(finding.severity),
        _CONSEQUENCES.index(finding.consequence),
        -1 if finding.verdict is None else _VERDICTS.index(finding.verdict),
        finding.cell,
        finding.line,
        finding.column,
        shown(finding.message),
        finding.origin == "runtime",
        file.excerpt(finding),
        list(dict.fromkeys(_evidence(one, finding.message) for one in finding.evidence)),
        None if finding.fix is None else _fix(finding.fix),
        _EFFORTS.index(finding.effort),
        MENDS.index(_mended_by(finding, team)),
        _address(finding, team, repository),
        reports,
    )


def _mended_by(finding: Finding, team: Team) -> str:
    if finding.fix is None or (finding.path, finding.code) in team.left_to_hand:
        return "person"
    return {Applicability.SAFE: "safe", Applicability.UNSAFE: "unsafe"}.get(finding.fix.applicability, "person")


def _address(finding: Finding, team: Team, repository: Repository) -> str | None:
    """Where it is opened; of a notebook the file as a whole, since its lines are those of a cell."""
    if not team.template:
        return None
    line, column = (finding.line, finding.column) if finding.cell is None else (1, 1)
    path, absolute = repository.relative(finding.path), repository.absolute(finding.path)
    return address(team.template, path, absolute, line, column)


def _evidence(evidence: Evidence, message: str) -> tuple[str, str, str]:
    place = ", ".join(filter(None, (evidence.target.value, evidence.device, evidence.phase)))
    return evidence.verdict.value, shown(place), "" if message.startswith(evidence.detail) else shown(evidence.detail)


def _fix(fix: Fix) -> list[Any]:
    edits = [[edit.line, edit.column, edit.end_line, edit.end_column, shown(edit.text)] for edit in fix.edits]
    return [fix.applicability.value, edits]


def _title(projects: Iterable[LintedProject]) -> str:
    return ", ".join(dict.fromkeys(shown(PurePath(project.root).name or project.root) for project in projects))


def _project(project: LintedProject) -> dict[str, Any]:
    return {
        "name": shown(PurePath(project.root).name or project.root),
        "target": project.target.value,
        "reason": shown(project.reason),
        "files": project.files,
    }


def _runtime(runtime: Runtime, added: int) -> dict[str, Any]:
    return {
        "verdicts": {verdict.value: runtime.verdicts[verdict] for verdict in Verdict},
        "added": added,
        "trusted": runtime.trusted,
        "runs": [_run(run) for run in runtime.runs],
    }


def _run(run: WorkerRun) -> dict[str, Any]:
    return {
        "target": run.target.value,
        "device": shown(run.device),
        "versions": [["TensorFlow", shown(run.tensorflow)], ["Keras", shown(run.keras)], ["Python", shown(run.python)]],
        "phases": [[shown(one.name), shown(one.outcome), one.seconds, shown(one.detail)] for one in run.phases],
        "scopes": [[shown(name), shown(words)] for name, words in run.scopes],
        "notes": [shown(note) for note in run.notes],
        "cause": None if run.cause is None else shown(run.cause),
        "seconds": run.seconds,
        "memory": run.peak_memory,
    }
