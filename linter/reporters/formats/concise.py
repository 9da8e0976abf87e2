"""People and `grep`: one line a finding."""

from __future__ import annotations

from collections.abc import Iterator

from ...result import Result
from .. import Paint, header

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = False


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, without its summary."""
    for finding in result.findings:
        verdict = "" if finding.verdict is None else f" [{paint(finding.verdict.value, finding.verdict.value)}]"
        yield header(finding, paint) + verdict
