"""Later calls that create variables."""

from __future__ import annotations

from pathlib import Path

from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ..programs import CLEAN, Program, record, said


def test_variables_that_later_calls_create_are_told_with_their_line(tmp_path: Path) -> None:
    """And calls that did not end well."""
    record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    created = [{"call": "second call", "name": "w", "shape": [2], "place": ["/user/m.py", 8]}]
    calls = [{"name": "first call", "ended": "ok"}, {"name": "second call", "ended": "ValueError: no"}]
    said(tmp_path, "tf2", scenarios.ONCE, created=created, calls=calls)
    rung = compare(read(tmp_path / "tf1"), read(tmp_path / "tf2"), until="once").rung("1")

    assert (Status.FAIL, ("second call: ValueError: no",)) == (rung.status, rung.notes)
    assert "later calls create a variable: w [2] at /user/m.py:8 in second call" == rung.detail


def test_a_call_that_raised_shows_nothing(tmp_path: Path) -> None:
    """What raises before it makes a variable is no proof that none is made."""
    record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    calls = [{"name": "first call", "ended": "ok"}, {"name": "second call", "ended": "ValueError: no"}]
    said(tmp_path, "tf2", scenarios.ONCE, created=[], calls=calls)
    rung = compare(read(tmp_path / "tf1"), read(tmp_path / "tf2"), until="once").rung("1")

    assert Status.NOT_RUN is rung.status
    assert rung.detail.startswith("a call raised, first second call: ValueError: no")
