"""GitHub Actions: annotations of a pull request, the worst first.

GitHub shows ten errors, ten warnings and ten notices of a step and drops the rest without a word.
So the worst of each kind come first, and where there are more, the first notice says how many; all stand in the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...finding import Finding, Severity
from ...result import Result
from .. import Paint, counts
from ..ci import Repository, escaped, explained, place, worst_first
from ..raw_lines import RawLines

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = True

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_SHOWN = 10
"""Annotations of a kind that GitHub shows of a step."""


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, without its summary."""
    repository, lines = Repository(), RawLines(result)
    findings = worst_first(result.findings)
    for severity in Severity:
        if severity is Severity.INFO:
            yield from _left_out(findings)
        for finding in findings:
            if finding.severity is severity:
                yield _command(finding, repository, lines(finding))


def _left_out(findings: Sequence[Finding]) -> Iterator[str]:
    found = counts(findings)
    if all(number <= _SHOWN for number in found.values()):
        return
    # The notice itself takes the place of one.
    numbers = {name: number - (_SHOWN if name != Severity.INFO else _SHOWN - 1) for name, number in found.items()}
    words = [f"{number} more {name}{'' if number == 1 else 's'}" for name, number in numbers.items() if number > 0]
    title = _property(f"migrate-lint: {len(findings)} findings")
    yield f"::notice title={title}::GitHub shows the worst ones only: {', '.join(words)} stand in the log of this step"


def _command(finding: Finding, repository: Repository, lines: tuple[int, int]) -> str:
    path = escaped(repository.shown(finding.path))
    properties = {"file": path, "line": str(lines[0]), "endLine": str(lines[1])}
    if lines[0] == lines[1] and finding.cell is None:
        # GitHub refuses columns for an annotation of several lines; its end column is inclusive.
        properties |= {"col": str(finding.column), "endColumn": str(max(finding.end_column - 1, finding.column))}
    properties["title"] = f"{finding.code} {finding.slug}"
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    where = "" if finding.cell is None else f"{place(finding)}: "
    return f"::{_COMMANDS[finding.severity]} {written}::{_data(where + explained(finding))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
