"""A TF1 checkpoint that does not fit."""

from __future__ import annotations

from pathlib import Path

from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ..programs import CLEAN, Program, record, said


def test_a_checkpoint_that_lacks_a_variable_fails_its_rung(tmp_path: Path) -> None:
    """Whatever the outputs are."""
    one, other = record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    parts = [path.name[: -len(".part.json")] for path in sorted(one.glob("*-fingerprint.part.json"))]
    others = [path.name[: -len(".part.json")] for path in sorted(other.glob("*-fingerprint.part.json"))]
    said(tmp_path, "tf1", scenarios.CHECKPOINT, matched=["a", "b"], missing=[], unused=["global_step"], parts=parts)
    said(tmp_path, "tf2", scenarios.CHECKPOINT, matched=["a"], missing=["b"], unused=[], parts=others)
    rung = compare(read(one), read(other)).rung("checkpoint")

    assert (Status.FAIL, "TF2 found no value for b") == (rung.status, rung.detail)
    assert "TF1: 2 matched, 0 missing, 1 unused" in rung.notes
    assert ["output", "regularization"] == [check.kind for check in rung.checks if check.counts]
