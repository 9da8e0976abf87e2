"""Which findings come before others: a module that cannot be imported, a value that cannot be made."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import groupby
from typing import NamedTuple

from ..finding import Consequence, Finding, Severity
from ..result import Result
from ..source.parsing import parse_source
from ..source.reading import read_bytes
from . import printable

__all__ = ["Links", "Stop", "links", "place_of"]

_KEPT = 4
"""Names of files that cannot be imported with another."""

_LATER = (
    ast.Lambda, ast.IfExp, ast.BoolOp, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp,
)  # fmt: skip
"""What holds code that may not run where it stands."""
_NAME = re.compile(r"\w++")


class Stop(NamedTuple):
    """Where the import of a file raises, how many others cannot be imported with it, and the first few of these."""

    finding: Finding
    others: int
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Links:
    """How the findings of a run hang together."""

    stopped: Mapping[str, Stop] = field(default_factory=dict)
    """The files that cannot be imported, by their displayed paths."""
    causes: Mapping[Finding, tuple[Finding, ...]] = field(default_factory=dict)
    """What a finding follows from; of several it may be any."""

    def rank(self, path: str) -> int:
        """Where a file stands in a report: the more files fail with it, the earlier."""
        return -self.stopped[path].others if path in self.stopped else 0

    def stops(self, finding: Finding) -> bool:
        """Whether nothing after a finding is reached when its file is imported."""
        return finding.path in self.stopped and self.stopped[finding.path].finding is finding


_last: list[tuple[Result, Links]] = []
"""What was asked for last: several parts of a report ask for the same."""


def links(result: Result) -> Links:
    """Find out how the findings of a run hang together; a file is read again only where it may fail at import."""
    if not _last or _last[0][0] is not result:
        _last[:] = [(result, _links(result))]
    return _last[0][1]


def _links(result: Result) -> Links:
    missing = [one for one in result.findings if _is_of_missing_name(one, result)]
    found: dict[Finding, tuple[Finding, ...]] = {}
    by_subject: dict[str, list[Finding]] = {}
    for one in missing:
        by_subject.setdefault(one.subject or "", []).append(one)
    for finding in result.findings:
        made_by, is_value, _ = (finding.subject or "").partition("()")
        if is_value and made_by in by_subject:
            found[finding] = _likeliest(finding, by_subject[made_by])
    stops: dict[str, Finding] = {}
    by_path = {path: list(of_file) for path, of_file in groupby(result.findings, key=lambda one: one.path)}
    loaded = [one for one in missing if one.function is None and one.cell is None]
    for path, of_file in groupby(loaded, key=lambda one: one.path):
        source = result.source(path)
        tree = parse_source(source) if source is not None and source.notebook is None else None
        if source is None or not isinstance(tree, ast.Module):
            continue
        lines, statements = source.lines, dict(_run_at_import(tree))
        for one in of_file:
            statement = statements.get(one.line)
            if statement is not None and _reads(statement, one, lines[one.line - 1]):
                stops.setdefault(path, one)
                if isinstance(statement, ast.Import | ast.ImportFrom):
                    found |= dict.fromkeys(_uses(one, statement, lines, by_path[path]), (one,))
    return Links(_with_importers(stops, result), found)


def _is_of_missing_name(finding: Finding, result: Result) -> bool:
    """Whether a finding says that a public name raises where it is read, since no target of the run has it."""
    if finding.severity is not Severity.ERROR or finding.consequence is not Consequence.BREAKS:
        return False
    if finding.subject is None or "(" in finding.subject or not result.projects:
        return False
    from ..analysis.public_names import has

    return all(has(finding.subject, project.target) is False for project in result.projects)


def _likeliest(finding: Finding, causes: Sequence[Finding]) -> tuple[Finding, ...]:
    """Of some findings of one name the last before another one in its file, or else all."""
    here = [one for one in causes if (one.path, one.cell) == (finding.path, finding.cell)]
    before = [one for one in here if one.line <= finding.line]
    return (before[-1],) if before else tuple(causes)


def _run_at_import(tree: ast.Module | ast.ClassDef | ast.With) -> Iterator[tuple[int, ast.stmt]]:
    """Lines with the simple statements on them that every import of the module comes to."""
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef | ast.With):
            yield from _run_at_import(statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom) or (
            isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign)
            and not any(isinstance(node, _LATER) for node in ast.walk(statement))
        ):
            yield from ((line, statement) for line in range(statement.lineno, (statement.end_lineno or 0) + 1))


def _reads(statement: ast.stmt, finding: Finding, line: str) -> bool:
    """Whether a statement reads the very name that a finding is about: some are about all that follows it."""
    name = finding.subject or ""
    if isinstance(statement, ast.Import):
        return name in [alias.name for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        return name in [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
    return name.rpartition(".")[2] in line


def _uses(
    cause: Finding, statement: ast.Import | ast.ImportFrom, lines: Sequence[str], findings: Sequence[Finding]
) -> Iterator[Finding]:
    """The findings of a file that are about what an import would have bound."""
    names = [alias.asname or alias.name for alias in statement.names]
    for finding in findings:
        if (statement.end_lineno or statement.lineno) < finding.line <= len(lines):
            if f"{finding.subject}.".startswith(f"{cause.subject}."):
                name = _NAME.match(lines[finding.line - 1], finding.column - 1)
                if name is not None and name[0] in names:
                    yield finding


def _with_importers(stops: Mapping[str, Finding], result: Result) -> dict[str, Stop]:
    """Files that cannot be imported, with those of the run that import them, through each other."""
    from ..run.imports import Importers

    found: dict[str, Stop] = {}
    roots = sorted({project.root for project in result.projects}, key=len, reverse=True)
    folders = {root: os.path.join(os.path.abspath(root), "") for root in roots}
    left = {display: path for display, (path, _) in result.sources.items() if display.endswith(".py")} if stops else {}
    for folder in folders.values():
        own = {display: str(path) for display, path in left.items() if os.path.abspath(path).startswith(folder)}
        left = {display: path for display, path in left.items() if display not in own}
        if not stops.keys() & own.keys():
            continue
        shown: dict[str, str] = {}
        texts: dict[str, bytes] = {}
        for display, path in own.items():
            key = os.path.abspath(path)[len(folder) :].replace(os.sep, "/")
            shown[key] = display
            texts[key] = _bytes(path, result.sources[display][1])
        importers = Importers(texts)
        for key, display in shown.items():
            if display in stops:
                others = importers.of(key)
                first = tuple(shown[one] for one in nsmallest(_KEPT, others))
                found[display] = Stop(stops[display], len(others), first)
    return found


def _bytes(path: str, unsaved: bytes | None) -> bytes:
    try:
        return read_bytes(path) if unsaved is None else unsaved
    except OSError:
        return b""


def place_of(finding: Finding) -> str:
    """``path:line``, with the cell of a notebook between."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{printable(finding.path)}:{cell}{finding.line}"
