"""Both sides in float64: what hides in the rounding of float32, and what is nothing but that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Rung, Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ..programs import CLEAN, Program, changing, record, said

OLD = Program(wide=True)
NEW = replace(CLEAN, wide=True)
GUIDE = "guide"


def verified(folder: Path, tf1: Program = OLD, tf2: Program = NEW, policy: str = GUIDE) -> Report:
    return compare(read(record(tf1, folder / "tf1")), read(record(tf2, folder / "tf2")), policy=policy)


def rung(folder: Path, tf1: Program = OLD, tf2: Program = NEW) -> Rung:
    return verified(folder, tf1, tf2).rung("4x")


def told(one: Rung) -> str:
    return " ".join([one.detail, *one.notes])


def of_step(kind: str, name: str, change: Callable[[Any], Any]) -> Program:
    """A TF2 side with another value of the first step in float64."""

    def changed(scenario: str, found: dict[str, Any]) -> Any:
        if (scenario, found["kind"], found["name"]) == (scenarios.FLOAT64_STEP, kind, name):
            return {**found, "value": change(np.asarray(found["value"]))}
        return found

    return replace(NEW, change=changed)


def test_what_only_adds_up_in_another_order_is_equal(tmp_path: Path) -> None:
    """Of inference, of the training pass and of the first step, with what float32 makes of each."""
    report = verified(tmp_path)
    found = report.rung("4x")

    assert (0, Status.PASS) == (report.status, found.status)
    assert {*scenarios.FLOAT64} == {check.scenario for check in found.checks}
    assert {"output", "regularization", "loss", "gradient"} == {check.kind for check in found.checks}
    assert all(check.error < 1e-14 and check.rounding is not None for check in found.checks)
    assert max(check.rounding.most for check in found.checks if check.rounding) > 1e-8
    assert "in float64 by" in told(found)


@pytest.mark.parametrize(
    ("other", "kinds"),
    [
        (replace(NEW, scale=1 + 1e-8), {"output", "loss", "gradient"}),
        (replace(NEW, l2=1e-3 * (1 + 1e-7)), {"regularization", "loss", "gradient"}),
        (of_step("gradient", "left/kernel", lambda value: value * (1 + 1e-8)), {"gradient"}),
        (of_step("gradient", "top/bias", lambda value: value + 1e-9), {"gradient"}),
        (of_step("loss", "loss", lambda value: value - 1e-8), {"loss"}),
    ],
    ids=["a factor", "a penalty", "a gradient", "a bias", "a loss"],
)
def test_what_float32_does_not_show_fails(tmp_path: Path, other: Program, kinds: set[str]) -> None:
    """All other rungs agree; the note has the difference in units of what is rounded."""
    report = verified(tmp_path, tf2=other)
    found = report.rung("4x")

    assert ["4x"] == [one.number for one in report.rungs if one.status is Status.FAIL]
    assert kinds == {check.kind for check in found.failures}
    assert "x what float32 rounds" in told(found)
    assert 1 == report.status


@pytest.mark.parametrize(
    ("kind", "scenario", "number"),
    [
        ("output", scenarios.ALIGNED, "4"),
        ("output", scenarios.INFERENCE, "4"),
        ("loss", scenarios.STEPS, "6"),
        ("gradient", scenarios.STEPS, "6"),
        ("regularization", scenarios.ALIGNED, "4"),
    ],
)
def test_what_float32_alone_shows_is_rounding(tmp_path: Path, kind: str, scenario: str, number: str) -> None:
    """The rung that fails under the bounds of the guide says so; to the policy of the noise it is noise."""

    def rounded(name: str, found: dict[str, Any]) -> Any:
        if name in (scenario, f"{scenario}-copied"):
            return changing(kind, lambda value: value * np.float32(1.01), step=0)(name, found)
        return found

    rough = replace(NEW, change=rounded)
    guide, noise = (verified(tmp_path / policy, tf2=rough, policy=policy) for policy in (GUIDE, "noise"))
    failed = [check for check in guide.rung(number).failures if (check.kind, check.scenario) == (kind, scenario)]

    assert (Status.FAIL, Status.PASS) == (guide.rung(number).status, guide.rung("4x").status)
    assert failed
    assert any("so what differs here is rounding of float32" in note for note in guide.rung(number).notes)
    assert not [check for check in noise.rung(number).failures if (check.kind, check.scenario) == (kind, scenario)]


@pytest.mark.parametrize("wide", [True, False])
def test_what_is_made_of_gradients_that_are_rounded_is_rounding_too(tmp_path: Path, wide: bool) -> None:
    """Slots of the optimizer, and the same gradients in later steps; where nothing is proven, they differ."""

    def rounded(name: str, found: dict[str, Any]) -> Any:
        if name == scenarios.STEPS and found["kind"] in ("gradient", "slot"):
            return {**found, "value": np.asarray(found["value"]) * np.float32(1.005)}
        return found

    old, new = replace(OLD, wide=wide), replace(NEW, wide=wide, change=rounded)
    report = verified(tmp_path, old, new, policy="noise")
    failed = {(rung, check.kind) for rung in ("6", "7") for check in report.rung(rung).failures}
    made_of_gradients = {(rung, kind) for rung in ("6", "7") for kind in ("gradient", "slot")}

    assert (set() if wide else made_of_gradients) == failed & made_of_gradients


@pytest.mark.parametrize(("factor", "mostly"), [(1 + 1e-7, True), (1 + 1e-3, False)])
def test_what_is_nearly_all_rounding_is_said(tmp_path: Path, factor: float, mostly: bool) -> None:
    """Float64 shows a difference as well, and how small a part of what float32 shows; it fails all the same."""

    def changed(scenario: str, found: dict[str, Any]) -> Any:
        if found["kind"] != "output" or scenario not in (scenarios.ALIGNED, scenarios.FLOAT64_TRAINING):
            return found
        value = np.asarray(found["value"])
        return {**found, "value": value * np.asarray(factor if value.dtype == np.float64 else 1.01, value.dtype)}

    report = verified(tmp_path, tf2=replace(NEW, change=changed))
    notes = " ".join(report.rung("4").notes)

    assert [Status.FAIL, Status.FAIL] == [report.rung(number).status for number in ("4", "4x")]
    assert mostly == ("apart, so nearly all of what differs here is rounding of float32" in notes)


@pytest.mark.parametrize("side", ["TF1", "TF2"])
def test_the_side_that_rounds_more_is_named(tmp_path: Path, side: str) -> None:
    """Each value of it is farther from float64."""
    change = changing("output", lambda value: value * np.float32(1 + 3e-5), scenarios.ALIGNED)
    one, other = (replace(own, change=change) if name == side else own for own, name in ((OLD, "TF1"), (NEW, "TF2")))

    assert f"output: float32 is far less exact on the {side} side" in told(rung(tmp_path, one, other))


@pytest.mark.parametrize(
    ("moved", "status", "said_so"), [(0.0, "fail", False), (1e-9, "fail", True), (1e-6, "pass", True)]
)
def test_what_constants_that_are_rounded_otherwise_make_is_tolerated(
    tmp_path: Path, moved: float, status: str, said_so: bool
) -> None:
    """As far as it was seen to move a value, and it is told."""
    found = rung(tmp_path, replace(OLD, moved=moved), replace(NEW, scale=1 + 1e-8, moved=moved))

    assert status == found.status
    assert said_so == ("no more apart than constants that are rounded otherwise make it" in told(found))


def test_a_gradient_that_is_nothing_but_rounding_is_equal(tmp_path: Path) -> None:
    """It is held against the largest of its kind, as it is none of its own size."""
    tiny = of_step("gradient", "hidden/bias", lambda value: value * 0 + 2e-14)

    def small(scenario: str, found: dict[str, Any]) -> Any:
        of_bias = (found["kind"], found["name"]) == ("gradient", "hidden/bias")
        return {**found, "value": found["value"] * 0 + 1e-14} if of_bias else found

    assert Status.PASS is rung(tmp_path, replace(OLD, change=small), tiny).status


def test_other_names_are_followed(tmp_path: Path) -> None:
    """Gradients are compared with those of the variables that became them."""
    names = {"top/kernel": "head/kernel", "top/bias": "head/bias"}
    renamed = replace(NEW, names=names, pair={"renames": names})
    found = rung(tmp_path, tf2=renamed)

    assert Status.PASS is found.status
    assert ("top/kernel", "head/kernel") in {(check.tf1_name, check.tf2_name) for check in found.checks}


@pytest.mark.parametrize(
    "skipped", [(scenarios.ALIGNED,), (scenarios.INFERENCE_COPIED, scenarios.INFERENCE), (scenarios.STEPS,)]
)
def test_without_the_program_s_own_values_nothing_is_said_of_rounding(tmp_path: Path, skipped: Any) -> None:
    """What is compared in float64 is compared all the same."""
    found = rung(tmp_path, tf2=replace(NEW, skip=skipped))
    without = {check.scenario for check in found.checks if check.rounding is None}

    assert {*scenarios.FLOAT64} == {check.scenario for check in found.checks}
    assert 1 == len(without)
    assert all(check.passed for check in found.checks)


def test_values_of_another_shape_fail(tmp_path: Path) -> None:
    """Nothing of their rounding is known."""
    found = rung(tmp_path, tf2=of_step("gradient", "top/kernel", np.transpose))
    (check,) = found.failures

    assert (Status.FAIL, None) == (found.status, check.rounding)
    assert "shape" in check.problem


@pytest.mark.parametrize("side", ["tf1", "tf2"])
@pytest.mark.parametrize("scale", [1.0, 1 + 1e-8])
def test_what_a_side_could_not_compute_is_told(tmp_path: Path, side: str, scale: float) -> None:
    """The rung does not pass by the rest; it fails by it."""
    other = replace(NEW, scale=scale)
    record(OLD, tmp_path / "tf1"), record(other, tmp_path / "tf2")
    words = {"outcome": "failed", "detail": "no kernel for float64", "place": ["/user/model.py", 3]}
    said(tmp_path, side, scenarios.FLOAT64_STEP, **words)
    found = compare(read(tmp_path / "tf1"), read(tmp_path / "tf2"), policy=GUIDE).rung("4x")

    assert (Status.FAIL if scale > 1 else Status.NOT_RUN) is found.status
    assert f"step in float64: {side.upper()} failed: no kernel for float64 (/user/model.py:3)" in told(found)
    assert (scale == 1) == ("values besides agree" in found.detail)


def test_a_pair_that_does_not_train_has_no_training_to_compare(tmp_path: Path) -> None:
    """That is no reason against inference."""
    record(OLD, tmp_path / "tf1"), record(NEW, tmp_path / "tf2")
    for side in ("tf1", "tf2"):
        for name in (scenarios.ALIGNED, scenarios.STEPS, scenarios.FLOAT64_TRAINING, scenarios.FLOAT64_STEP):
            said(tmp_path, side, name, outcome="not run", detail="the pair has no training")
    found = compare(read(tmp_path / "tf1"), read(tmp_path / "tf2")).rung("4x")

    assert (Status.PASS, {scenarios.FLOAT64_INFERENCE}) == (found.status, {check.scenario for check in found.checks})


@pytest.mark.parametrize("wide", [(False, False), (True, False), (False, True)])
def test_without_float64_the_rung_is_not_run(tmp_path: Path, wide: tuple[bool, bool]) -> None:
    """It is there where a side has it, or where it is asked for."""
    one, other = (record(replace(own, wide=w), tmp_path / own.side) for own, w in zip((OLD, NEW), wide, strict=True))
    whole = compare(read(one), read(other))
    asked = compare(read(one), read(other), until="float64").rung("4x")

    assert any(wide) == ("4x" in {found.number for found in whole.rungs})
    assert Status.NOT_RUN is asked.status
    assert asked.detail


def test_outputs_that_are_zero_show_nothing(tmp_path: Path) -> None:
    """Rung 3f does, where it has others."""
    zero = changing("output", lambda value: value * 0)

    def silent(scenario: str, found: dict[str, Any]) -> Any:
        return zero(scenario, found) if scenario in scenarios.FLOAT64 else found

    found = rung(tmp_path, replace(OLD, change=silent), replace(NEW, change=silent))

    assert Status.NOT_RUN is found.status
    assert "all outputs are zero on both sides: nothing to compare, rung 3f does" in found.detail


def test_other_data_is_no_difference(tmp_path: Path) -> None:
    """The pair is not comparable, and the rung is not run."""

    def shifted(step: int) -> tuple[Any, Any]:
        inputs, labels = OLD.batches(step)
        return inputs + np.float32(1), labels

    report = verified(tmp_path, tf2=replace(NEW, batches=shifted))

    assert any("the sides got other data" in problem for problem in report.problems)
    assert Status.PASS is not report.rung("4x").status
