"""The TF2 side on another device, held against itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks import verifying
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios

from ..programs import CLEAN, Program, changing, failing, record, said

DIFFERENT: dict[str, Program] = {
    "a layer": replace(CLEAN, scale=1.001),
    "two kernels": replace(CLEAN, swapped=True),
    "statistics": replace(CLEAN, decay=0.91),
    "the optimizer": replace(CLEAN, epsilon=1e-3),
    "regularization": replace(CLEAN, l2=2e-3),
    "the rate of a later step": replace(CLEAN, rate=lambda step: 0.01 / (1 + step) * (1.1 if step == 3 else 1)),
    "a gradient": replace(CLEAN, change=changing("gradient", lambda value: value * np.float32(1.01))),
    "NaN": replace(CLEAN, change=changing("loss", lambda value: value * np.float32("nan"), step=1)),
    "the batches": replace(CLEAN, batches=lambda step: CLEAN.batches(step + 1)),
}


def setting(folder: Path, program: Program, device: str = "CPU:1", **more: Any) -> None:
    """Record the program as the TF2 side on another device of a run."""
    place = folder / "variants" / f"device-{device.replace(':', '-')}"
    record(replace(program, variant={"kind": "device", "value": device, "ordinary": "CPU:0"}), place)
    content = json.loads((place / "record.json").read_text("utf-8"))
    (place / "record.json").write_text(json.dumps({**content, **more}), "utf-8")


def run(folder: Path, programs: Mapping[str, Program], **options: Any) -> Report:
    """The report of a run whose sides differ in rounding alone, with the TF2 side on further devices."""
    record(Program(), folder / "tf1")
    record(CLEAN, folder / "tf2")
    for device, program in programs.items():
        setting(folder, program, device)
    return verifying.compare(folder, **options)


@pytest.mark.parametrize("policy", ["noise", "guide"])
def test_what_rounds_otherwise_is_the_same(tmp_path: Path, policy: str) -> None:
    """Other devices are no longer among what was never compared."""
    report = run(tmp_path, {"CPU:1": replace(CLEAN, rounding=0)}, policy=policy)
    rung = report.rung("9a")

    assert (0, Status.PASS) == (report.status, rung.status), rung
    assert rung.detail.startswith("TF2 CPU:1 against CPU:0: ")
    assert {"fingerprint", "aligned", "steps"} == {check.scenario.partition(":")[0] for check in rung.checks}
    assert "other devices" not in report.not_compared[-1] and "mixed precision" in report.not_compared[-1]


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_another_device_does_otherwise_is_told(tmp_path: Path, name: str) -> None:
    """The exit status counts it; the pair itself is equal, and has no cause and no first divergence."""
    report = run(tmp_path, {"CPU:1": DIFFERENT[name]})

    assert (1, Status.FAIL) == (report.status, report.rung("device").status)
    assert ([], (), None) == (failing(report), report.causes, report.first_divergence)
    assert "rung 9a, TF2 on another device: TF2 CPU:1 against CPU:0: " in str(report).splitlines()[-1]


def test_each_device_has_its_own_verdict(tmp_path: Path) -> None:
    """One that differs does not hide the others."""
    report = run(tmp_path, {"CPU:1": CLEAN, "GPU:0": DIFFERENT["a layer"]})
    rung = report.rung("9a")

    assert Status.FAIL is rung.status and "GPU:0" in rung.detail and "CPU:1" not in rung.detail
    assert "CPU:1: pass, TF2 CPU:1 against CPU:0: " in rung.notes[0]
    assert any(note.startswith("GPU:0: the first layer ") for note in rung.notes)


def test_the_noise_is_that_of_the_device(tmp_path: Path) -> None:
    """What moved weights change there is tolerated three times, and no more."""

    def scaled(moved: float) -> Program:
        other = changing("output", lambda value: value * np.float32(1.01), scenarios.FINGERPRINT)
        rough = changing("output", lambda value: value * np.float32(moved), scenarios.FINGERPRINT_NUDGED)
        return replace(CLEAN, change=lambda scenario, found: rough(scenario, other(scenario, found)))

    found = [run(tmp_path / str(moved), {"CPU:1": scaled(moved)}).rung("9a").status for moved in (1.01, 1.012, 1.015)]

    assert [Status.FAIL, Status.FAIL, Status.PASS] == found


@pytest.mark.parametrize("scenario", [scenarios.FINGERPRINT, scenarios.ALIGNED, scenarios.STEPS])
def test_what_raises_there_alone_is_a_difference(tmp_path: Path, scenario: str) -> None:
    """It was computed on the first device."""
    run(tmp_path, {"CPU:1": CLEAN})
    said(tmp_path / "variants", "device-CPU-1", scenario, outcome="failed", detail="ValueError: no kernel")
    report = verifying.compare(tmp_path)

    assert (1, Status.FAIL) == (report.status, report.rung("9a").status)
    assert "raised: ValueError: no kernel" in report.rung("9a").detail


def test_a_process_that_ended_is_a_difference(tmp_path: Path) -> None:
    """Whatever it had recorded."""
    run(tmp_path, {})
    setting(tmp_path, CLEAN, crash={"cause": "it was ended after 300 s", "place": None})
    report = verifying.compare(tmp_path)

    assert (1, Status.FAIL) == (report.status, report.rung("9a").status)
    assert "it ended early: it was ended after 300 s" in report.rung("9a").detail


def test_what_was_computed_elsewhere_does_not_pass(tmp_path: Path) -> None:
    """A program may say where its operations run."""
    run(tmp_path, {})
    setting(tmp_path, CLEAN, elsewhere="CPU:0")
    rung = verifying.compare(tmp_path).rung("9a")

    assert Status.NOT_RUN is rung.status
    assert "outputs were computed on CPU:0" in rung.detail


def test_who_asks_for_no_device_hears_nothing(tmp_path: Path) -> None:
    """Unless it is the last rung that was asked for."""
    report, asked = (run(tmp_path / str(until), {}, until=until) for until in (None, "device"))

    assert "9a" not in [rung.number for rung in report.rungs]
    assert Status.NOT_RUN is asked.rung("9a").status
    assert "--device asks for it" in asked.rung("9a").detail


def test_it_is_climbed_wherever_the_ladder_ends(tmp_path: Path) -> None:
    """As far as something was recorded that can be compared."""
    report = run(tmp_path, {"CPU:1": DIFFERENT["a layer"]}, until="variables")

    assert ["0", "1", "2", "9a"] == [rung.number for rung in report.rungs]
    assert 1 == report.status
