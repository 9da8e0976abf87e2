"""For GitHub Actions: workflow commands that annotate a pull request.

GitHub shows at most ten annotations of a kind for a step, so the worst come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..finding import Severity
from . import Paint, printable, said

if TYPE_CHECKING:
    from ..finding import Finding
    from ..run import Result

__all__ = ["report"]

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, without its summary."""
    worst_first = list(Severity)
    for finding in sorted(result.findings, key=lambda one: (worst_first.index(one.severity), one.sort_key)):
        yield _command(finding)


def _command(finding: Finding) -> str:
    properties = {"file": _raw(finding.path), "line": str(finding.line), "endLine": str(finding.end_line)}
    if finding.line == finding.end_line:
        # GitHub refuses columns for an annotation of several lines; its end column is inclusive.
        properties |= {"col": str(finding.column), "endColumn": str(max(finding.end_column - 1, finding.column))}
    properties["title"] = f"{finding.code} {finding.slug}"
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {written}::{_data(_raw(finding.message) + _verdict(finding))}"


def _verdict(finding: Finding) -> str:
    """The verdict and the first evidence for it, on a line of its own."""
    if finding.verdict is None:
        return ""
    words = (said(one, finding.message, Paint(False)) for one in finding.evidence if one.verdict is finding.verdict)
    return "\n" + next(words, finding.verdict.value)


def _raw(text: str) -> str:
    """Printable but for line ends, which the command's own escapes carry."""
    return "".join(character if character in "\r\n" else printable(character) for character in text)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
