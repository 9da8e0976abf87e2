"""The ladder over recordings of a small program in numpy: what passes, what fails where, and what shows nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks import verifying
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.wording import verdict
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import RecordingError, read

from .programs import CLEAN, SHAPES, Program, batch, changing, compared, failing, record, statuses

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("policy", ["noise", "guide"])
@pytest.mark.parametrize("seed", range(5))
def test_sides_that_differ_in_rounding_alone_are_equal(tmp_path: Path, policy: str, seed: int) -> None:
    """Nothing is reported, whatever the initial values are."""
    report = compared(tmp_path, Program(seed=seed), replace(CLEAN, seed=seed, copied=seed), policy=policy)

    assert (0, [], None, ()) == (report.status, failing(report), report.first_divergence, report.causes)
    assert {"1", "2", "3", "3f", "4", "6", "7", "8"} <= {
        number for number, status in statuses(report).items() if status == "pass"
    }


@pytest.mark.parametrize(
    ("fault", "rungs", "kind", "name", "step"),
    [
        ({"epsilon": 1e-7}, ["6", "7"], "update", "hidden/kernel", 0),
        ({"decay": 0.99}, ["6", "7"], "update", "stats/moving_mean", 0),
        ({"swapped": True}, ["3f", "4", "6", "7"], "tap", "left", 0),
        ({"scale": 1.01}, ["3f", "4", "6", "7"], "tap", "hidden", 0),
        ({"l2": 0.0}, ["3", "3f", "4", "6", "7"], "regularization", "total", 0),
        ({"rate": lambda step: 0.01 / (2 + step)}, ["6", "7"], "learning_rate", "learning_rate", 0),
        ({"rate": lambda step: 0.01 if step < 2 else 0.005}, ["7"], "learning_rate", "learning_rate", 1),
    ],
    ids=["epsilon", "moving mean", "swapped kernels", "scaled layer", "no regularization", "rate", "late rate"],
)
def test_a_fault_is_seen_on_its_rung_where_it_happens(
    tmp_path: Path, fault: dict[str, Any], rungs: list[str], kind: str, name: str, step: int
) -> None:
    """The first divergence is the thing itself, not what follows from it."""
    report = compared(tmp_path, tf2=replace(CLEAN, **fault))
    first = report.first_divergence

    assert first is not None
    assert (1, rungs) == (report.status, failing(report))
    assert (kind, name, step) == (first.deviation.kind, first.deviation.tf1_name, first.deviation.step)
    assert rungs[0] == first.rung


def test_the_guide_lets_the_update_rule_pass_and_the_evaluation_does_not(tmp_path: Path) -> None:
    """A moving mean that is updated too slowly changes no training loss."""
    report = compared(tmp_path, tf2=replace(CLEAN, decay=0.99), policy="guide")

    assert {"variable", "evaluation"} == {check.kind for check in report.rung("6").failures}


def test_both_places_and_the_last_agreement_are_told(tmp_path: Path) -> None:
    """A reader goes to both lines, and knows where it was still right."""
    first = compared(tmp_path, tf2=replace(CLEAN, swapped=True)).first_divergence

    assert first is not None
    assert (("/user/tf1.py", 13), ("/user/tf2.py", 13)) == (first.deviation.tf1_place, first.deviation.tf2_place)
    assert first.before is not None
    assert "hidden" == first.before.tf1_name
    assert "tf1.py:13" in first.text


def test_the_tolerance_that_would_have_passed_passes(tmp_path: Path) -> None:
    """It is given for every failed record."""
    shifted = replace(CLEAN, change=changing("output", lambda value: value * np.float32(1.001), scenarios.FINGERPRINT))
    (failed,) = compared(tmp_path, tf2=shifted).rung("3f").failures
    needed = failed.needed_rtol * (1 + 1e-9)
    rule = f'[[rule]]\nkind = "output"\nscenario = "fingerprint"\nrtol = {needed!r}\natol = {failed.atol!r}\n'
    (tmp_path / "policy.toml").write_text(rule, "utf-8")

    assert "pass" == statuses(compared(tmp_path, tf2=shifted, policy=tmp_path / "policy.toml"))["3f"]


# Variables


def test_a_declared_transpose_turns_values_and_gradients(tmp_path: Path) -> None:
    """A kernel that lies the other way round is no difference where the pair says so."""

    def turn(scenario: str, found: dict[str, Any]) -> Any:
        named = found["name"].startswith("hidden/kernel") and found["kind"] in ("variable", "gradient", "slot")
        return {**found, "value": found["value"].T} if named else found

    turned = replace(CLEAN, change=turn)
    pair = {"transposes": {"hidden/kernel": [1, 0]}}
    one, other = record(Program(pair=pair), tmp_path / "one"), record(turned, tmp_path / "other")
    content = json.loads((other / "record.json").read_text("utf-8"))
    content["variables"][0]["shape"].reverse()
    (other / "record.json").write_text(json.dumps(content), "utf-8")

    assert 0 == compare(read(one), read(other)).status
    assert "fail" == statuses(compare(read(one), read(other), transposes={}))["2"]


# Later calls and checkpoints


# Randomness


def test_draws_are_shown_of_scenarios_that_both_sides_told_of(tmp_path: Path) -> None:
    """A run that only one side made to measure noise has nothing beside it."""
    draw = {"op": "RandomUniform", "seed": 0, "shape": [8, 6], "purpose": "step", "place": None}
    one, other = (
        record(Program(draws=(draw,)), tmp_path / "one"),
        record(replace(CLEAN, draws=(draw,)), tmp_path / "other"),
    )
    content = json.loads((one / "record.json").read_text("utf-8"))
    content["scenarios"][scenarios.STEPS_NUDGED]["random_ops"] = [draw]
    (one / "record.json").write_text(json.dumps(content), "utf-8")
    shown = compare(read(one), read(other)).random_ops

    assert (True, False) == (scenarios.ALIGNED in shown, scenarios.STEPS_NUDGED in shown)


# What shows nothing


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda value: value * 0, "all outputs are zero"),
        (lambda value: value * np.float32("nan"), "all outputs are NaN"),
        (lambda value: value * 0 + 3, "the same whatever the variables are filled with"),
    ],
    ids=["zeros", "NaN", "constant"],
)
def test_outputs_that_say_nothing_are_vacuous(tmp_path: Path, value: Callable[[Any], Any], words: str) -> None:
    """They never pass."""
    change = changing("output", value)
    report = compared(tmp_path, Program(change=change), replace(CLEAN, change=change), until="random")

    assert (3, {"vacuous"}) == (report.status, {statuses(report)[number] for number in ("3", "3f", "4")})
    assert words in report.rung("3f").detail


def test_the_same_object_on_both_sides_is_vacuous(tmp_path: Path) -> None:
    """It equals itself."""
    report = compared(tmp_path, Program(pair={"same": True}), replace(CLEAN, pair={"same": True}))

    assert (3, "vacuous") == (report.status, statuses(report)["7"])


def test_sides_without_variables_are_vacuous(tmp_path: Path) -> None:
    """There is nothing that could differ."""
    none = tuple(SHAPES)
    report = compared(tmp_path, Program(leave_out=none), replace(CLEAN, leave_out=none))

    assert (3, "vacuous", "vacuous") == (report.status, statuses(report)["2"], statuses(report)["3f"])


@pytest.mark.parametrize("policy", ["noise", "guide"])
def test_one_output_of_two_that_is_zero_wherever_it_was_recorded_is_vacuous(tmp_path: Path, policy: str) -> None:
    """The other output does not speak for it."""
    report = compared(tmp_path, Program(second=lambda _: 0.0), replace(CLEAN, second=lambda _: 0.0), policy=policy)

    assert (3, "vacuous", "vacuous") == (report.status, statuses(report)["3f"], statuses(report)["4"])
    assert "output second: no number but zeros on both sides, whatever was run" == report.rung("3f").detail


def test_an_output_that_is_zero_at_some_fills_alone_is_not_vacuous(tmp_path: Path) -> None:
    """It was compared where it is something."""

    def second(scenario: str) -> float:
        return float(scenario.startswith(scenarios.FINGERPRINT))

    assert 0 == compared(tmp_path, Program(second=second), replace(CLEAN, second=second)).status


def test_a_loss_that_is_no_number_is_told(tmp_path: Path) -> None:
    """A step that returns a text is no reason to end without a report."""
    words = changing("loss", lambda value: np.array("done"), scenarios.STEPS)
    report = compared(tmp_path, tf2=replace(CLEAN, change=words))

    assert (1, "texts differ") == (report.status, report.rung("6").failures[0].problem)


def test_inputs_that_are_all_zero_are_vacuous(tmp_path: Path) -> None:
    """No kernel that they are multiplied by shows."""
    zeros = changing("input", lambda value: value * 0)
    report = compared(tmp_path, Program(change=zeros), replace(CLEAN, change=zeros))

    assert (3, "vacuous", "all inputs are zero") == (
        report.status,
        statuses(report)["3f"],
        report.rung("3f").detail,
    )


def test_no_outputs_on_either_side_show_nothing(tmp_path: Path) -> None:
    """Regularization losses alone are no forward pass."""

    def silent(scenario: str, found: dict[str, Any]) -> Any:
        return None if found["kind"] in ("output", "evaluation") else found

    report = compared(tmp_path, Program(change=silent), replace(CLEAN, change=silent), until="fingerprint")

    assert (3, "not run", "neither side gives outputs") == (
        report.status,
        statuses(report)["3f"],
        report.rung("3f").detail,
    )


@pytest.mark.parametrize(
    ("fault", "kind", "name"),
    [
        ({"scale": 1.01}, "tap", "hidden"),
        ({"swapped": True}, "tap", "left"),
        ({"scale": 0.5, "decay": 0.5}, "tap", "hidden"),
        ({"l2": 2e-3, "scale": 0.9}, "tap", "hidden"),
        ({"epsilon": 1e-7, "swapped": True}, "tap", "left"),
    ],
    ids=["a layer", "two weights", "statistics too", "another factor", "an optimizer too"],
)
def test_what_one_side_has_no_losses_for_is_not_the_first_divergence(
    tmp_path: Path, fault: dict[str, Any], kind: str, name: str
) -> None:
    """TF1 may add what regularizes to its loss itself, which cannot be seen before outputs agree."""
    old = Program(change=changing("regularization", lambda value: value * 0))
    report = compared(tmp_path, old, replace(CLEAN, **fault))
    first = report.first_divergence

    assert first is not None
    assert (kind, name) == (first.deviation.kind, first.deviation.tf1_name)
    assert report.causes[0].kind != "regularization"
    assert any("which is seen once outputs agree" in text for cause in report.causes for text in cause.evidence)


def test_regularization_that_differs_fails_without_outputs_too(tmp_path: Path) -> None:
    """What can be compared is."""

    def silent(scenario: str, found: dict[str, Any]) -> Any:
        return None if found["kind"] == "output" else found

    report = compared(tmp_path, Program(change=silent), replace(CLEAN, change=silent, l2=0.0), until="fingerprint")

    assert (1, "fail") == (report.status, statuses(report)["3f"])


@pytest.mark.parametrize("rule", ['kind = "output"\nskip = true', 'kind = "output"\nrtol = 2.0'], ids=["skip", "rtol"])
def test_a_policy_under_which_no_output_can_fail_is_vacuous(tmp_path: Path, rule: str) -> None:
    """Zeros in place of the outputs would pass."""
    (tmp_path / "policy.toml").write_text(f"[[rule]]\n{rule}\n", "utf-8")
    report = compared(tmp_path, policy=tmp_path / "policy.toml")

    assert (3, "vacuous") == (report.status, statuses(report)["3f"])


# Sides that cannot be compared


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda value: value.astype(np.float64), "TF1 got float32, TF2 got float64"),
        (lambda value: value[:4], "TF1 got the shape [8, 4], TF2 got [4, 4]"),
        (lambda value: value[::-1], "the same examples come in another order"),
        (lambda value: value + 1, "other values, 100% of them"),
    ],
    ids=["dtype", "shape", "shuffled", "values"],
)
def test_other_inputs_are_not_compared(tmp_path: Path, change: Callable[[Any], Any], words: str) -> None:
    """Status 3 says that nothing is known."""
    report = compared(tmp_path, tf2=replace(CLEAN, change=changing("input", change)))

    assert (3, "not run") == (report.status, statuses(report)["3f"])
    assert words in report.problems[0]


def test_a_crash_is_the_cause_of_its_side(tmp_path: Path) -> None:
    """Whoever ran the side knows why it ended."""
    report = compared(tmp_path, crashes={"tf2": "killed by signal 11"})

    assert (4, "killed by signal 11") == (report.status, report.sides[1].cause)


# Modes, taps and the rest


def test_layers_that_nobody_declared_decide_nothing(tmp_path: Path) -> None:
    """They locate what outputs show."""
    report = compared(tmp_path, tf2=replace(CLEAN, change=changing("tap", lambda value: value + 1)))

    assert (0, None) == (report.status, report.first_divergence)
    assert any(check.kind == "tap" and not check.passed for check in report.rung("3f").checks)


@pytest.mark.parametrize(("part", "pairs"), [("1/c", 0), ("0", 1)])
def test_of_a_layer_with_several_outputs_those_in_one_place_are_compared(part: str, pairs: int, tmp_path: Path) -> None:
    """The state of a cell is as large as its output, and both are of its variables."""

    def of(part: str) -> Any:
        def change(scenario: str, found: dict[str, Any]) -> Any:
            its = (found["kind"], found["name"]) == ("tap", "left")
            return {**found, "part": part, "name": f"left/{part}"} if its else found

        return change

    report = compared(tmp_path, replace(Program(), change=of(part)), replace(CLEAN, change=of("0")))
    names = [check.tf1_name for check in report.rung("3f").checks if check.kind == "tap"]

    assert 0 == report.status
    assert (pairs, 1) == (names.count(f"left/{part}"), names.count("right"))


def test_a_layer_tapped_before_its_activation_does_not_mislead(tmp_path: Path) -> None:
    """The layers after it agree, so the fault is behind them."""

    def before(scenario: str, found: dict[str, Any]) -> Any:
        value = found["value"]
        if found["kind"] == "tap" and found["name"] == "hidden":
            return {**found, "value": np.where(value > 0, value, -1).astype(np.float32)}
        later = (found["kind"], found["name"]) in {("tap", "top"), ("output", "output")}
        return {**found, "value": value + np.float32(0.5)} if later else found

    first = compared(tmp_path, tf2=replace(CLEAN, change=before)).first_divergence

    assert first is not None
    assert ("tap", "top") == (first.deviation.kind, first.deviation.tf1_name)


def test_a_branch_that_differs_is_found_although_layers_of_another_branch_agree(tmp_path: Path) -> None:
    """Of two layers that own the same variables, nothing but a fault explains the difference."""

    def branch(scenario: str, found: dict[str, Any]) -> Any:
        shifted = (found["kind"], found["name"]) in {("tap", "left"), ("output", "output")}
        return {**found, "value": found["value"] + np.float32(0.5)} if shifted else found

    first = compared(tmp_path, tf2=replace(CLEAN, change=branch)).first_divergence

    assert first is not None
    assert ("tap", "left") == (first.deviation.kind, first.deviation.tf1_name)


def test_rungs_above_the_last_one_are_left_out(tmp_path: Path) -> None:
    """By its name or its number."""
    assert ["0", "1", "2", "3"] == [rung.number for rung in compared(tmp_path, until="constant").rungs]
    assert ["0", "1", "2", "3", "3f", "4"] == [rung.number for rung in compared(tmp_path, until="4").rungs]


def test_the_curves_of_training_are_in_the_report(tmp_path: Path) -> None:
    """Loss, regularization and learning rate of every step."""
    series = {one.kind: one for one in compared(tmp_path).series}

    assert {"loss", "regularization", "learning_rate"} == set(series)
    assert (0, 1, 2, 3) == series["loss"].steps
    assert series["learning_rate"].tf1 == pytest.approx([0.01, 0.005, 0.01 / 3, 0.0025])


# Damage


@pytest.mark.parametrize("ending", [".npz", ".part.json", "record.json"])
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b""], ids=["half", "empty"])
def test_a_damaged_file_is_named(tmp_path: Path, ending: str, damage: Callable[[bytes], bytes]) -> None:
    """The error says which; nothing else escapes."""
    one, other = record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    path = sorted(other.glob(f"*{ending}"))[0]
    path.write_bytes(damage(path.read_bytes()))

    with pytest.raises(RecordingError, match="tf2"):
        compare(read(one), read(other))


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.update(variables=[{"name": "hidden/kernel"}]),
        lambda content: content["scenarios"]["structure"].pop("outcome"),
        lambda content: content["scenarios"]["aligned"].update(random_ops=[{"op": 1, "place": [3]}]),
        lambda content: content.update(left_out={"records": 1}),
    ],
)
def test_content_that_makes_no_sense_is_an_error_of_the_recording(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object]
) -> None:
    """Whatever was written by another hand."""
    one, other = record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    content = json.loads((other / "record.json").read_text("utf-8"))
    damage(content)
    (other / "record.json").write_text(json.dumps(content), "utf-8")

    with pytest.raises(RecordingError):
        compare(read(one), read(other))


def test_an_unknown_rung_is_an_error(tmp_path: Path) -> None:
    """The text says which there are."""
    with pytest.raises(ValueError, match=r"there is no rung 'nine'; there are data \(0\)"):
        compared(tmp_path, until="nine")


def test_other_data_in_a_later_step_takes_nothing_from_what_was_found_before(tmp_path: Path) -> None:
    """A bug that was seen on equal data is one; the report says what could not be compared."""
    tf2 = replace(CLEAN, scale=1.01, batches=lambda step: batch(100 + step + 50 * (step == 2)))
    report = compared(tmp_path, tf2=tf2)

    assert (1, 1) == (report.status, len(report.problems))
    assert "not comparable: the sides got other data: input of step 2" in verdict(report)
    assert "inputs" != report.causes[0].kind


@pytest.mark.parametrize("asked", ["", '{"tried": true}', '{"tried": false}', '{"tried": 1}', "[]", "{"])
def test_that_what_was_tried_is_not_kept_is_said(tmp_path: Path, asked: str) -> None:
    """Of the folder of a run, and of its two recordings; of those that belong to no run nothing is known."""
    folders = [record(replace(CLEAN, side=side, epsilon=1e-4), tmp_path / side) for side in ("tf1", "tf2")]
    (tmp_path / "run.json").write_text(asked)
    found = [verifying.compare(*given).trial for given in ([tmp_path], folders)]
    kept = [trial is not None and trial.outcome == "not tried" and "--find-cause" in trial.left for trial in found]

    assert [asked == '{"tried": true}'] * 2 == kept
    assert [None, None] == found or all(kept)
