"""Outputs and layers with variables that are filled by their names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ..programs import CLEAN, Program, changing, compared, record, statuses


def test_outputs_below_the_tolerance_are_vacuous(tmp_path: Path) -> None:
    """A comparison that could not have failed is none."""
    change = changing("output", lambda value: value * np.float32(1e-9))
    report = compared(tmp_path, Program(change=change), replace(CLEAN, change=change), until="fingerprint")

    assert ("vacuous", 3) == (statuses(report)["3f"], report.status)


def test_an_output_of_another_dtype_is_noted(tmp_path: Path) -> None:
    """Its values agree, but whoever reads them gets something else."""
    change = changing("output", lambda value: value.astype(np.float64))

    assert (
        "output: float32 on TF1, float64 on TF2"
        in compared(tmp_path, tf2=replace(CLEAN, change=change)).rung("3f").notes
    )


def test_an_output_that_no_variable_changes_is_noted(tmp_path: Path) -> None:
    """It was compared, but shows nothing of the weights."""
    report = compared(tmp_path, Program(second=lambda _: 3.0), replace(CLEAN, second=lambda _: 3.0))
    (note,) = report.rung("3f").notes

    assert 0 == report.status
    assert note.endswith("shows nothing of them: output second")


def test_an_output_that_only_tf2_has_is_named_as_the_place(tmp_path: Path) -> None:
    """No figure is given for a difference that is none of numbers."""
    report = compared(tmp_path, tf2=replace(CLEAN, second=lambda _: 3.0))

    assert "TF1 gives output [8, 3], and TF2 gives output [8, 3], second [3]" in report.causes[0].evidence[0]


def test_taps_beyond_the_limit_are_no_difference(tmp_path: Path) -> None:
    """The side says how many were left out."""
    one = record(Program(), tmp_path / "tf1")
    report = compare(read(one), read(record(CLEAN, tmp_path / "tf2", limit=500)))

    assert 0 == report.status
    assert "layer outputs" in report.sides[1].notes[-1]
