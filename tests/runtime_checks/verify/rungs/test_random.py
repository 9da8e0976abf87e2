"""Initial values and random operations, aligned or not."""

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

from ..programs import CLEAN, Change, Program, changing, compared, record, statuses


def test_initial_values_of_another_generator_are_compared_as_distributions(tmp_path: Path) -> None:
    """They are copied for what follows, and the report says so."""

    def bulk(name: str, value: Any) -> Any:
        return value if "moving" in name else np.random.default_rng(9).normal(0, 0.4, value.shape).astype(np.float32)

    report = compared(tmp_path, tf2=replace(CLEAN, initial=bulk))

    assert 0 == report.status
    assert any("copied" in note for note in report.rung("4").notes)
    assert {scenarios.INFERENCE, scenarios.INFERENCE_COPIED, scenarios.ALIGNED} == {
        check.scenario for check in report.rung("4").checks
    }


def test_another_initializer_fails_by_its_samples(tmp_path: Path) -> None:
    """A wider distribution is seen in what the initializer draws."""

    def sampled(scale: float, seed: int) -> Change:
        def changed(scenario: str, found: dict[str, Any]) -> Any:
            if found["kind"] == "label" and scenario == scenarios.INFERENCE:
                values = np.random.default_rng(seed).normal(0, scale, 4096).astype(np.float32)
                return {**found, "kind": "sample", "name": "left/kernel", "value": values}
            return found

        return changed

    other = replace(CLEAN, initial=lambda name, value: value + np.float32(0.001 * (name == "left/kernel")))
    alike = compared(tmp_path / "alike", Program(change=sampled(0.4, 1)), replace(other, change=sampled(0.4, 2))).rung(
        "4"
    )
    wider = compared(tmp_path / "wider", Program(change=sampled(0.4, 1)), replace(other, change=sampled(0.5, 2))).rung(
        "4"
    )

    assert (Status.PASS, Status.FAIL) == (alike.status, wider.status)
    assert [("variable", "left/kernel")] == [(check.kind, check.tf1_name) for check in wider.failures]


@pytest.mark.parametrize(
    ("drawn", "status"), [(True, Status.PASS), (False, Status.FAIL)], ids=["by generators", "by nobody"]
)
def test_numbers_that_both_sides_drew_may_lie_where_the_pair_turns_them(
    tmp_path: Path, drawn: bool, status: Status
) -> None:
    """Generators give a kernel the same numbers however it is used; values that nobody drew are another matter."""

    def sampled(scenario: str, found: dict[str, Any]) -> Any:
        if scenario == scenarios.INFERENCE and found["kind"] == "label" and drawn:
            values = np.random.default_rng(7).normal(0, 0.4, 4096).astype(np.float32)
            return {**found, "kind": "sample", "name": "left/kernel", "value": values}
        return found

    turned = {"transposes": {"left/kernel": [1, 0]}}
    report = compared(tmp_path, Program(change=sampled, pair=turned), replace(CLEAN, change=sampled, pair=turned))
    begun = [check for check in report.rung("4").checks if check.kind == "variable"]

    assert (status is Status.PASS) is all(check.passed for check in begun), begun


def test_random_numbers_are_not_aligned_where_training_fails(tmp_path: Path) -> None:
    """That inference agrees is only half of the rung."""
    one, other = record(Program(), tmp_path / "one"), record(CLEAN, tmp_path / "other")
    content = json.loads((other / "record.json").read_text("utf-8"))
    content["scenarios"][scenarios.TRAINING] = {"outcome": "failed", "detail": "ValueError: no", "parts": []}
    (other / "record.json").write_text(json.dumps(content), "utf-8")
    report = compare(read(one), read(other))

    assert (4, Status.NOT_RUN) == (report.status, report.rung("4").status)
    assert "training: TF2 failed: ValueError: no" == report.rung("4").detail


def test_a_random_operation_too_many_is_named_with_its_line(tmp_path: Path) -> None:
    """An order that differs is explained, not guessed."""
    one = {"op": "RandomUniform", "seed": 0, "shape": [8, 6], "purpose": "step", "place": ["/user/tf1.py", 20]}
    two = {**one, "seed": 1, "place": ["/user/tf2.py", 33]}
    noisy = replace(CLEAN, draws=(one, two), change=changing("output", lambda value: value + 1, scenarios.ALIGNED))
    report = compared(tmp_path, Program(draws=(one,)), noisy)

    assert "TF2 draws more than TF1: RandomUniform of shape [8, 6] at /user/tf2.py:33" in report.rung("4").detail
    assert (1, 2) == tuple(len(draws) for draws in report.random_ops[scenarios.ALIGNED])


def test_zeros_at_initial_values_do_not_spoil_what_the_fingerprint_shows(tmp_path: Path) -> None:
    """The last layer of many networks begins with zeros."""

    def begun(scenario: str, found: dict[str, Any]) -> Any:
        early = scenario in (scenarios.INFERENCE, scenarios.INFERENCE_COPIED, scenarios.TRAINING, scenarios.ALIGNED)
        early = early or scenario == scenarios.TRAINING_CONSTANT
        return {**found, "value": found["value"] * 0} if early and found["kind"] == "output" else found

    report = compared(tmp_path, Program(change=begun), replace(CLEAN, change=begun))

    assert ("not run", "pass", 0) == (statuses(report)["4"], statuses(report)["3f"], report.status)


def draws(*shapes: int) -> tuple[dict[str, Any], ...]:
    """What is drawn in a step, in order."""
    told = {"op": "Uniform", "purpose": "step", "place": None}
    return tuple({**told, "seed": seed, "shape": [size]} for seed, size in enumerate(shapes))


@pytest.mark.parametrize(
    ("tf1", "tf2", "trained", "told"),
    [
        pytest.param(draws(6, 9), draws(6), (draws(6, 9), draws(6, 9)), False, id="a loss that draws"),
        pytest.param(draws(9), (), (draws(9), draws(9)), False, id="a loss that draws alone"),
        pytest.param((), draws(9), (draws(9), draws(9)), False, id="a layer that TF1 trains alone"),
        pytest.param(draws(6, 9), draws(6), (draws(6, 9), draws(6)), True, id="never on TF2"),
        pytest.param(draws(6, 9), draws(6), (draws(6, 9), draws(6, 8)), True, id="another thing on TF2"),
        pytest.param(draws(6, 9), draws(6), ((), ()), True, id="a training that tells nothing"),
    ],
)
def test_what_a_training_step_draws_need_not_be_drawn_by_the_model(
    tmp_path: Path, tf1: Any, tf2: Any, trained: Any, told: bool
) -> None:
    """The graph of TF1 has its loss within, the model of TF2 has not."""
    wrong = changing("output", lambda value: value + 1, scenarios.ALIGNED)
    one = Program(draws=tf1, step_draws=trained[0])
    report = compared(tmp_path, one, replace(CLEAN, draws=tf2, step_draws=trained[1], change=wrong))
    named = [check for check in report.rung("4").failures if check.kind == "random"]

    assert told == bool(named)
    words = "random numbers of training that are not aligned"
    assert told == any(one.startswith(words) for one in report.not_compared)
    assert told == any("Random draws" in text for cause in report.causes for text in cause.evidence)
