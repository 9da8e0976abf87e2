"""The TF2 side in mixed precision, held against itself in float32."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks import verifying
from migrate_lint.runtime_checks.comparison.judging.values import Values
from migrate_lint.runtime_checks.comparison.precision import unreached
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from ..programs import CLEAN, Change, Program, changing, failing, record

SETTING = {"kind": "precision", "value": "mixed_float16", "ordinary": "float32"}
COMPUTED = ("output", "tap", "loss", "gradient", "evaluation")


def short(then: Change = lambda scenario, found: found) -> Change:
    """Records as they are where all is computed in 16 bits: near those of float32, and others in each run."""

    def change(scenario: str, found: dict[str, Any]) -> Any:
        found = then(scenario, found)
        if found is None or found["kind"] not in COMPUTED:
            return found
        value = np.asarray(found["value"])
        source = np.random.default_rng([len(scenario), found["step"] + 1, value.size])
        unit = 2.0**-11 * float(np.max(np.abs(value[np.isfinite(value)]), initial=0.0))
        value = (value + unit * source.uniform(-1, 1, value.shape)).astype(np.float32)
        return {**found, "value": value if found["kind"] in ("loss", "gradient") else value.astype(np.float16)}

    return change


SHORT = replace(CLEAN, change=short(), variant=SETTING)
DIFFERENT: dict[str, Program] = {
    "a layer": replace(SHORT, scale=1.05),
    "two kernels": replace(SHORT, swapped=True),
    "statistics": replace(SHORT, decay=0.5),
    "regularization": replace(SHORT, l2=2e-2),
    "a loss that overflows": replace(SHORT, change=short(changing("loss", lambda value: value * np.float32("inf")))),
    "gradients that are too small": replace(SHORT, change=short(changing("gradient", lambda value: value * 0))),
}


def run(folder: Path, program: Program, policy: str = "noise", **more: Any) -> Report:
    """The report of a run whose TF2 side was run under a policy, too; `more` is said in that recording."""
    record(Program(), folder / "tf1")
    record(CLEAN, folder / "tf2")
    place = record(program, folder / "variants" / "precision-mixed_float16")
    content = json.loads((place / "record.json").read_text("utf-8"))
    (place / "record.json").write_text(json.dumps({**content, **more}), "utf-8")
    return verifying.compare(folder, policy=policy)


@pytest.mark.parametrize("policy", ["noise", "guide"])
def test_what_16_bits_round_is_the_same(tmp_path: Path, policy: str) -> None:
    """What float32 computed of them, too; the guides, who say nothing of 16 bits, do not matter."""
    report = run(tmp_path, SHORT, policy, scales_loss=True)
    rung = report.rung("9c")

    assert (0, Status.PASS) == (report.status, rung.status), rung
    assert rung.detail.startswith("TF2 mixed_float16 against float32: ")
    assert ("output, evaluation output: float32 against float16",) == rung.notes
    assert "mixed precision" not in report.not_compared[-1] and "other devices" in report.not_compared[-1]


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_more_than_rounding_is_told(tmp_path: Path, name: str) -> None:
    """The pair itself is equal."""
    report = run(tmp_path, DIFFERENT[name])

    assert (1, Status.FAIL, []) == (report.status, report.rung("precision").status, failing(report))


def test_what_16_bits_lose_is_counted(tmp_path: Path) -> None:
    """Steps that are not finite, gradients that are zero, and that nobody scales the loss."""
    overflow, small = (
        run(tmp_path / name, DIFFERENT[name]).rung("9c").notes
        for name in ("a loss that overflows", "gradients that are too small")
    )

    assert "4 of 4 training steps are not finite in float16, first step 0 (loss)" in overflow
    assert any("of 121 elements of gradients" in note and " 121 are zero in float16, step 0" in note for note in small)
    assert "no optimizer was seen to scale the loss: what of a gradient is below 6e-8 is lost" in small


def test_a_step_that_loss_scaling_passes_over_ends_the_comparison(tmp_path: Path) -> None:
    """What comes before is compared; a scale that is sought is no difference."""

    def passed_over(scenario: str, found: dict[str, Any]) -> Any:
        if found["kind"] == "gradient" and found["step"] == 1:
            return None
        late = found["kind"] in ("variable", "slot") and found["step"] >= 1
        return {**found, "value": np.asarray(found["value"]) * 2} if late else found

    skipping = replace(SHORT, change=short(passed_over))
    sought = run(tmp_path / "sought", skipping, scales_loss=True).rung("9c")
    lost = run(tmp_path / "lost", skipping).rung("9c")

    assert Status.NOT_RUN is sought.status
    assert "step 1 made no update, so what comes after was not compared" in sought.detail
    assert any("1 of 4 training steps made no update, first step 1: loss scaling" in note for note in sought.notes)
    assert Status.FAIL is lost.status


def test_float32_does_not_pass_for_16_bits(tmp_path: Path) -> None:
    """Though it agrees."""
    report = run(tmp_path, replace(CLEAN, variant=SETTING))
    rung = report.rung("9c")

    assert Status.NOT_RUN is rung.status
    assert "computed in float32 all the same: no output of the model or of a layer is float16" in rung.detail
    assert "rung 9c, TF2 in mixed precision" in str(report).splitlines()[-1]


def test_outputs_that_are_rounded_last_do_not_pass(tmp_path: Path) -> None:
    """All before them is float32."""
    last = changing("output", lambda value: value.astype(np.float16))
    rung = run(tmp_path, replace(CLEAN, variant=SETTING, change=last)).rung("9c")

    assert Status.NOT_RUN is rung.status
    assert "the outputs are those of float32, rounded to float16" in rung.detail
    assert any(note.startswith("4 of 4 layers give no float16: hidden, left") for note in rung.notes)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rounding_is_that_of_the_dtype(tmp_path: Path, dtype: str) -> None:
    """To the nearest number, and to the even one of two; one unit more is no rounding."""
    digits = {"float16": 10, "bfloat16": 7}[dtype]
    value = np.random.default_rng(0).normal(size=500).astype(np.float32)
    unit = np.exp2(np.floor(np.log2(np.abs(value))) - digits)
    value = np.append(value, np.float32([1 + 2.0 ** -(digits + 1), 1 + 3 * 2.0 ** -(digits + 1)]))
    unit = np.append(unit, np.full(2, 2.0**-digits))
    exact = (np.rint(value / unit) * unit).astype(np.float32)
    found = []
    for number, output in enumerate((exact, exact + np.where(np.arange(502) == 7, unit, 0).astype(np.float32))):
        folders = [tmp_path / f"{number}-{name}" for name in ("ordinary", "variant")]
        for folder, array in zip(folders, (value, output), strict=True):
            with Recording(str(folder), "tf2").scenario(scenarios.FINGERPRINT) as chapter:
                chapter.add("output", "output", array)
                chapter.add("tap", "layer", array)
        for path in folders[1].glob("*.part.json"):
            path.write_text(path.read_text().replace('"dtype": "float32"', f'"dtype": "{dtype}"'))
        with Values() as values:
            found.append(unreached(*map(read, folders), dtype, values))

    assert ["rounded to " + dtype, ""] == [words.partition(", ")[2] for words in found]
