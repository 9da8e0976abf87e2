"""What a constant fill shows, and what it leaves to the fingerprint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from migrate_lint.runtime_checks.worker.recording.format import scenarios

from ..programs import CLEAN, Program, changing, compared, statuses


def test_zeros_at_a_constant_fill_do_not_spoil_what_the_fingerprint_shows(tmp_path: Path) -> None:
    """A network without biases may well give zeros there."""
    change = changing("output", lambda value: value * 0, scenarios.CONSTANT)
    report = compared(tmp_path, Program(change=change), replace(CLEAN, change=change))

    assert ("not run", "pass", 0) == (statuses(report)["3"], statuses(report)["3f"], report.status)
