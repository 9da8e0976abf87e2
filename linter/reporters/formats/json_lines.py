"""Programs that read while it runs: one JSON object a finding, each on a line of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...result import Result
from .. import Paint
from .json import finding_of

__all__ = ["FOR_PROGRAMS", "SHOWS_FIXES", "report"]

FOR_PROGRAMS = True
SHOWS_FIXES = True


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, in ASCII; a finding is the object that the format ``json`` has for it."""
    for finding in result.findings:
        yield json.dumps(finding_of(finding, result.runtime is not None))
