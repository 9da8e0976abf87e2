"""The first training step: gradients, updates, slots and regularization."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ..programs import CLEAN, SHAPES, Change, Program, compared, failing, statuses


def test_slots_that_are_made_of_rounding_are_no_difference(tmp_path: Path) -> None:
    """The gradient of a bias before a batch normalization is zero but for rounding, and its slot as well."""

    def rounding(factor: float) -> Change:
        def changed(scenario: str, found: dict[str, Any]) -> Any:
            noisy = found["kind"] == "slot" and found["name"].startswith("hidden/bias")
            return {**found, "value": found["value"] * np.float32(factor)} if noisy else found

        return changed

    report = compared(tmp_path, Program(change=rounding(1e-8)), replace(CLEAN, change=rounding(-3e-8)))

    assert [] == failing(report)


def test_a_gradient_that_one_side_lacks_is_told_with_the_lines_of_both_variables(tmp_path: Path) -> None:
    """Something stops it on the way back; that is no matter of numbers."""

    def stopped(scenario: str, found: dict[str, Any]) -> Any:
        return None if (found["kind"], found["name"]) == ("gradient", "hidden/kernel") else found

    report = compared(tmp_path, tf2=replace(CLEAN, change=stopped))
    first = report.rung("6").failures[0]

    assert (("/user/tf1.py", 11), ("/user/tf2.py", 11)) == (first.tf1_place, first.tf2_place)
    assert "forward" == report.causes[0].kind
    assert "none reaches hidden/kernel on TF2" in report.causes[0].evidence[0]


def test_no_gradient_does_not_explain_an_update(tmp_path: Path) -> None:
    """TF1 has gradients of zero and stays where it is; TF2, of whose gradients nothing is known, moves."""
    start = {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()}

    def still(scenario: str, found: dict[str, Any]) -> Any:
        if found["kind"] == "gradient":
            return {**found, "value": found["value"] * 0}
        return {**found, "value": start[found["name"]]} if found["kind"] == "variable" else found

    def moving(scenario: str, found: dict[str, Any]) -> Any:
        if found["kind"] in ("gradient", "slot", "learning_rate"):
            return None
        if found["kind"] == "variable":
            return {**found, "value": start[found["name"]] + np.float32(0.01) * (found["step"] + 1)}
        return found

    report = compared(tmp_path, Program(change=still), replace(CLEAN, change=moving))

    assert ("fail", "update") == (statuses(report)["6"], report.rung("6").failures[0].kind)


def _without(*kinds: str) -> Change:
    return lambda scenario, found: None if found["kind"] in kinds else found


def test_what_only_one_side_gives_of_a_step_is_noted(tmp_path: Path) -> None:
    """A rung that passes says what it did not see."""
    report = compared(tmp_path, tf2=replace(CLEAN, change=_without("gradient", "slot", "learning_rate")))

    assert ("pass", 0) == (statuses(report)["6"], report.status)
    assert {
        "gradients: seen on the TF1 side only, so nothing was compared",
        "optimizer slots: seen on the TF1 side only, so nothing was compared",
        "learning rate: seen on the TF1 side only, so nothing was compared",
    } <= set(report.rung("6").notes)


def _within_the_loss(scenario: str, record: dict[str, Any]) -> Any:
    """A side that has no regularization losses of its own."""
    if record["kind"] != "regularization":
        return record
    return {**record, "value": np.float32(0)} if record["name"] == "total" else None


SILENT = [(), ("gradient",), ("gradient", "slot"), ("gradient", "slot", "learning_rate"), ("slot",)]


@pytest.mark.parametrize("silent", SILENT, ids=" ".join)
def test_what_regularizes_may_be_in_the_loss_of_one_side(tmp_path: Path, silent: tuple[str, ...]) -> None:
    """Where loss and gradients agree, or weights in a loop of one's own, that is no difference."""
    report = compared(tmp_path, Program(change=_within_the_loss), replace(CLEAN, change=_without(*silent)))
    notes = [note for rung in report.rungs for note in rung.notes if "regularizes" in note]

    assert (0, []) == (report.status, failing(report))
    assert "TF1 adds what regularizes to its loss itself, TF2 has it as regularization losses" in notes[0]


@pytest.mark.parametrize("silent", SILENT, ids=" ".join)
def test_what_regularizes_in_no_loss_is_a_difference(tmp_path: Path, silent: tuple[str, ...]) -> None:
    """TF2 has twice the factor of TF1, or none."""
    for at, factor in enumerate((2e-3, 0.0)):
        other = replace(CLEAN, change=_without(*silent), l2=factor)
        report = compared(tmp_path / str(at), Program(change=_within_the_loss), other)

        assert {"6", "7"} <= set(failing(report))


def test_updates_are_judged_by_tf1_where_tf2_tells_no_gradients(tmp_path: Path) -> None:
    """What a gradient's rounding makes of an update is tolerated; another epsilon of Adam is not."""

    def silent(scenario: str, record: dict[str, Any]) -> Any:
        return None if record["kind"] in ("gradient", "slot", "learning_rate") else record

    sound = compared(tmp_path / "sound", tf2=replace(CLEAN, change=silent))
    other = compared(tmp_path / "other", tf2=replace(CLEAN, change=silent, epsilon=1e-7))

    assert (0, []) == (sound.status, failing(sound))
    assert ["6", "7"] == failing(other)


def test_a_loss_that_depends_on_no_weight_is_vacuous(tmp_path: Path) -> None:
    """No gradient, no change, no proof."""

    def frozen(side: str) -> Change:
        start = {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()}

        def changed(scenario: str, found: dict[str, Any]) -> Any:
            if found["kind"] == "gradient":
                return {**found, "value": found["value"] * 0}
            return {**found, "value": start[found["name"]]} if found["kind"] == "variable" else found

        return changed

    report = compared(tmp_path, Program(change=frozen("tf1")), replace(CLEAN, change=frozen("tf2")))

    assert ("vacuous", "vacuous", 3) == (statuses(report)["6"], statuses(report)["7"], report.status)


def test_training_that_moves_no_weight_is_vacuous_though_there_are_gradients(tmp_path: Path) -> None:
    """A learning rate of 0 shows nothing of the update rule."""
    start = {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()}

    def frozen(scenario: str, found: dict[str, Any]) -> Any:
        return {**found, "value": start[found["name"]]} if found["kind"] == "variable" else found

    report = compared(tmp_path, Program(change=frozen), replace(CLEAN, change=frozen))

    assert ("vacuous", "vacuous", 3) == (statuses(report)["6"], statuses(report)["7"], report.status)
    assert "no trainable variable changes on either side" in report.rung("7").detail
