"""Sides that differ from themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ..programs import CLEAN, Program, changing, compared, failing, record, said


def test_a_side_that_computes_something_else_in_its_other_mode_fails_and_is_no_noise(tmp_path: Path) -> None:
    """What tf.function changes for good does not widen the tolerance of the other rungs."""
    change = changing("output", lambda value: value + np.float32(0.1), scenarios.FINGERPRINT_AGAIN)
    report = compared(tmp_path, tf2=replace(CLEAN, change=change))
    (failed,) = report.rung("8").failures
    (output,) = [check for check in report.rung("3f").checks if check.kind == "output"]

    assert ["8"] == failing(report)
    assert "fingerprint: TF2 eager against tf.function" == failed.scenario
    assert output.floor is not None
    assert output.floor < 1e-4


@pytest.mark.parametrize(("step", "status"), [(0, Status.FAIL), (2, Status.PASS)])
def test_what_only_tf2_has_is_not_held_to_the_bare_tolerance_in_later_steps(
    tmp_path: Path, step: int, status: Status
) -> None:
    """Its noise is not known there, as it is TF1's that is measured; the verdict says what was not compared."""

    def without(scenario: str, found: dict[str, Any]) -> Any:
        return None if found["kind"] == "loss" else found

    def moved(scenario: str, found: dict[str, Any]) -> Any:
        other = (scenario, found["kind"], found["step"]) == (scenarios.STEPS_OTHER, "loss", step)
        return {**found, "value": found["value"] + np.float32(0.001)} if other else found

    report = compared(tmp_path, Program(change=without), replace(CLEAN, change=moved))

    assert status is report.rung("8").status
    assert (status is Status.PASS) == any("of what TF1 does not have" in text for text in report.not_compared)


@pytest.mark.parametrize("side", ["tf1", "tf2"])
@pytest.mark.parametrize("scenario", [scenarios.FINGERPRINT_AGAIN, scenarios.STEPS_OTHER, scenarios.STEPS_AGAIN])
def test_a_rung_in_which_a_side_raised_does_not_pass(scenario: str, side: str, tmp_path: Path) -> None:
    """Though all other values agree."""
    sides = {"tf1": Program(), "tf2": CLEAN}
    folders = {name: record(program, tmp_path / name) for name, program in sides.items()}
    said(tmp_path, side, scenario, outcome="failed", detail="ValueError: no")
    rung = compare(read(folders["tf1"]), read(folders["tf2"])).rung("8")

    assert Status.NOT_RUN is rung.status
    assert "failed: ValueError: no" in rung.detail


@pytest.mark.parametrize("side", ["tf1", "tf2"])
def test_a_rung_of_one_side_alone_does_not_pass(side: str, tmp_path: Path) -> None:
    """The other ended before it recorded anything; what this one gives in its modes says nothing of the migration."""
    folders = {name: record(one, tmp_path / name) for name, one in {"tf1": Program(), "tf2": CLEAN}.items()}
    content = json.loads((folders[side] / "record.json").read_text("utf-8"))
    content.update(scenarios={})
    (folders[side] / "record.json").write_text(json.dumps(content), "utf-8")
    rung = compare(read(folders["tf1"]), read(folders["tf2"])).rung("8")

    assert Status.NOT_RUN is rung.status
    assert rung.detail.startswith(f"{side.upper()}: it was not recorded; of TF{3 - int(side[-1])} alone; ")


def test_a_mode_that_cannot_be_run_is_told_as_not_compared(tmp_path: Path) -> None:
    """A step that runs only eagerly: the rest of the rung passes, and the verdict says what it does not speak of."""
    one, other = record(Program(), tmp_path / "one"), record(CLEAN, tmp_path / "other")
    content = json.loads((other / "record.json").read_text("utf-8"))
    before = {"outcome": "not run", "detail": "the training step runs only eagerly: no", "parts": []}
    content["scenarios"][scenarios.STEPS_OTHER] = before
    (other / "record.json").write_text(json.dumps(content), "utf-8")
    report = compare(read(one), read(other))

    assert (0, Status.PASS) == (report.status, report.rung("8").status)
    assert f"training of TF2 in a tf.function ({before['detail']})" in report.not_compared
    assert not any("tf.function" in one for one in compare(read(one), read(record(CLEAN, tmp_path))).not_compared)
