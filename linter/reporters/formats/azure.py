"""Azure Pipelines: logging commands, which become issues of the run, the worst first.

Commands: https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...finding import Finding, Severity
from ...result import Result
from .. import Paint, printable
from ..ci import Repository, explained, place, worst_first
from ..raw_lines import RawLines

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = True


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report; Azure knows errors and warnings, so that infos are lines of the log."""
    repository, lines = Repository(), RawLines(result)
    for finding in worst_first(result.findings):
        yield _command(finding, repository, lines(finding)[0])


def _command(finding: Finding, repository: Repository, line: int) -> str:
    path = repository.shown(finding.path)
    where = "" if finding.cell is None else f"{place(finding)}: "
    said = _value(f"{where}{explained(finding)}")
    if finding.severity is Severity.INFO:
        return f"{_value(path)}:{line}: {finding.code} {said}"
    properties = {"type": finding.severity.value, "sourcepath": path, "linenumber": str(line)}
    if finding.cell is None:
        properties["columnnumber"] = str(finding.column)
    properties["code"] = f"{finding.code} {finding.slug}"
    written = "".join(f"{name}={_property(value)};" for name, value in properties.items())
    return f"##vso[task.logissue {written}]{said}"


def _value(text: str) -> str:
    return "%0D%0A".join(map(printable, re.split(r"\r\n?|\n", text.replace("%", "%AZP25"))))


def _property(text: str) -> str:
    return _value(text).replace(";", "%3B").replace("]", "%5D")
