"""The ladder over recordings of a small program in numpy: what passes, what fails where, and what shows nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report, Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import RecordingError, read

from .programs import CLEAN, SHAPES, Program, batch, compared, record

pytestmark = pytest.mark.slow

Change = Callable[[str, dict[str, Any]], Any]


def statuses(report: Report) -> dict[str, str]:
    return {rung.number: rung.status.value for rung in report.rungs}


def failing(report: Report) -> list[str]:
    return [rung.number for rung in report.rungs if rung.status is Status.FAIL]


def changing(kind: str, change: Callable[[Any], Any], scenario: str = "", step: int | None = None) -> Change:
    """Change the values of a kind, in one scenario and step or in all."""

    def changed(name: str, found: dict[str, Any]) -> Any:
        if found["kind"] == kind and scenario in ("", name) and step in (None, found["step"]):
            return {**found, "value": change(np.asarray(found["value"]))}
        return found

    return changed


@pytest.mark.parametrize("policy", ["noise", "guide"])
@pytest.mark.parametrize("seed", range(5))
def test_sides_that_differ_in_rounding_alone_are_equal(tmp_path: Path, policy: str, seed: int) -> None:
    """Nothing is reported, whatever the initial values are."""
    report = compared(tmp_path, Program(seed=seed), replace(CLEAN, seed=seed, copied=seed), policy=policy)

    assert (0, [], None, ()) == (report.status, failing(report), report.first_divergence, report.causes)
    assert {"1", "2", "3", "3f", "4", "6", "7", "8"} == {
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


def test_what_one_side_lacks_and_what_it_has_too_many_is_listed(tmp_path: Path) -> None:
    """Every variable has a row, with its problem."""
    report = compared(tmp_path, tf2=replace(CLEAN, leave_out=("top/bias",), dtypes={"hidden/bias": "float16"}))

    assert "fail" == statuses(report)["2"]
    assert {"top/bias": "only in TF1", "hidden/bias": "the dtypes are float32 and float16"} == {
        str(row.tf1["name"]): row.problem for row in report.variables if row.tf1 and row.problem
    }


def test_names_that_differ_are_suggested_and_never_pass(tmp_path: Path) -> None:
    """Later rungs use the suggestion, and say so."""
    renamed = replace(CLEAN, names={"top/kernel": "head/w"})
    report = compared(tmp_path, tf2=renamed)
    (row,) = [row for row in report.variables if row.problem]

    assert ("suggestion", "top/kernel", "head/w") == (row.how, (row.tf1 or {})["name"], (row.tf2 or {})["name"])
    assert ["2"] == failing(report)
    assert "renames={'top/kernel': 'head/w'}" in " ".join(report.rung("2").notes)
    assert any("nobody said that they are the same" in note for note in report.rung("6").notes)


def test_renames_of_the_pair_pass(tmp_path: Path) -> None:
    """What the user declares is no difference."""
    renamed = replace(CLEAN, names={"top/kernel": "head/w"})

    assert 0 == compared(tmp_path, Program(pair={"renames": {"top/kernel": "head/w"}}), renamed).status


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


def test_slots_that_are_made_of_rounding_are_no_difference(tmp_path: Path) -> None:
    """The gradient of a bias before a batch normalization is zero but for rounding, and its slot as well."""

    def rounding(factor: float) -> Change:
        def changed(scenario: str, found: dict[str, Any]) -> Any:
            noisy = found["kind"] == "slot" and found["name"].startswith("hidden/bias")
            return {**found, "value": found["value"] * np.float32(factor)} if noisy else found

        return changed

    report = compared(tmp_path, Program(change=rounding(1e-8)), replace(CLEAN, change=rounding(-3e-8)))

    assert [] == failing(report)


# Later calls and checkpoints


def described(folder: Path, side: str, scenario: str, **said: Any) -> None:
    """Change what a recording says of a scenario."""
    path = folder / side / "record.json"
    content = json.loads(path.read_text("utf-8"))
    content["scenarios"][scenario] = {"outcome": "ok", "detail": "", "parts": [], **said}
    path.write_text(json.dumps(content), "utf-8")


def test_variables_that_later_calls_create_are_told_with_their_line(tmp_path: Path) -> None:
    """And calls that did not end well."""
    record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    created = [{"call": "second call", "name": "w", "shape": [2], "place": ["/user/m.py", 8]}]
    calls = [{"name": "first call", "ended": "ok"}, {"name": "second call", "ended": "ValueError: no"}]
    described(tmp_path, "tf2", scenarios.ONCE, created=created, calls=calls)
    rung = compare(read(tmp_path / "tf1"), read(tmp_path / "tf2"), until="once").rung("1")

    assert (Status.FAIL, ("second call: ValueError: no",)) == (rung.status, rung.notes)
    assert "later calls create a variable: w [2] at /user/m.py:8 in second call" == rung.detail


def test_a_checkpoint_that_lacks_a_variable_fails_its_rung(tmp_path: Path) -> None:
    """Whatever the outputs are."""
    one, other = record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    parts = [path.name[: -len(".part.json")] for path in sorted(one.glob("*-fingerprint.part.json"))]
    others = [path.name[: -len(".part.json")] for path in sorted(other.glob("*-fingerprint.part.json"))]
    described(
        tmp_path, "tf1", scenarios.CHECKPOINT, matched=["a", "b"], missing=[], unused=["global_step"], parts=parts
    )
    described(tmp_path, "tf2", scenarios.CHECKPOINT, matched=["a"], missing=["b"], unused=[], parts=others)
    rung = compare(read(one), read(other)).rung("checkpoint")

    assert (Status.FAIL, "TF2 found no value for b") == (rung.status, rung.detail)
    assert "TF1: 2 matched, 0 missing, 1 unused" in rung.notes
    assert ["output", "regularization"] == [check.kind for check in rung.checks if check.counts]


# Randomness


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


def test_outputs_below_the_tolerance_are_vacuous(tmp_path: Path) -> None:
    """A comparison that could not have failed is none."""
    change = changing("output", lambda value: value * np.float32(1e-9))
    report = compared(tmp_path, Program(change=change), replace(CLEAN, change=change), until="fingerprint")

    assert ("vacuous", 3) == (statuses(report)["3f"], report.status)


def test_zeros_at_a_constant_fill_do_not_spoil_what_the_fingerprint_shows(tmp_path: Path) -> None:
    """A network without biases may well give zeros there."""
    change = changing("output", lambda value: value * 0, scenarios.CONSTANT)
    report = compared(tmp_path, Program(change=change), replace(CLEAN, change=change))

    assert ("not run", "pass", 0) == (statuses(report)["3"], statuses(report)["3f"], report.status)


def test_the_same_object_on_both_sides_is_vacuous(tmp_path: Path) -> None:
    """It equals itself."""
    report = compared(tmp_path, Program(pair={"same": True}), replace(CLEAN, pair={"same": True}))

    assert (3, "vacuous") == (report.status, statuses(report)["7"])


def test_sides_without_variables_are_vacuous(tmp_path: Path) -> None:
    """There is nothing that could differ."""
    none = tuple(SHAPES)
    report = compared(tmp_path, Program(leave_out=none), replace(CLEAN, leave_out=none))

    assert (3, "vacuous", "vacuous") == (report.status, statuses(report)["2"], statuses(report)["3f"])


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


def test_a_variable_that_no_step_changes_is_noted(tmp_path: Path) -> None:
    """The other variables make the comparison one; of this one's updates nothing was seen."""

    def frozen(scenario: str, found: dict[str, Any]) -> Any:
        held = found["kind"] == "variable" and found["name"] == "top/bias"
        return {**found, "value": np.ones(3, np.float32)} if held else found

    report = compared(tmp_path, Program(change=frozen), replace(CLEAN, change=frozen))

    assert "no step changes top/bias, on either side, though trainable" in report.rung("7").notes


@pytest.mark.parametrize("policy", ["noise", "guide"])
def test_one_output_of_two_that_is_zero_wherever_it_was_recorded_is_vacuous(tmp_path: Path, policy: str) -> None:
    """The other output does not speak for it."""
    report = compared(tmp_path, Program(second=lambda _: 0.0), replace(CLEAN, second=lambda _: 0.0), policy=policy)

    assert (3, "vacuous", "vacuous") == (report.status, statuses(report)["3f"], statuses(report)["4"])
    assert "output second: no number but zeros on both sides, whatever was run" == report.rung("3f").detail


def test_an_output_that_is_zero_at_some_fills_alone_is_not_vacuous(tmp_path: Path) -> None:
    """It was compared where it is something."""

    def second(scenario: str) -> float:
        return float(scenario == scenarios.FINGERPRINT)

    assert 0 == compared(tmp_path, Program(second=second), replace(CLEAN, second=second)).status


def test_an_output_that_no_variable_changes_is_noted(tmp_path: Path) -> None:
    """It was compared, but shows nothing of the weights."""
    report = compared(tmp_path, Program(second=lambda _: 3.0), replace(CLEAN, second=lambda _: 3.0))
    (note,) = report.rung("3f").notes

    assert 0 == report.status
    assert note.endswith("shows nothing of them: output second")


def test_an_output_of_another_dtype_is_noted(tmp_path: Path) -> None:
    """Its values agree, but whoever reads them gets something else."""
    change = changing("output", lambda value: value.astype(np.float64))

    assert (
        "output: float32 on TF1, float64 on TF2"
        in compared(tmp_path, tf2=replace(CLEAN, change=change)).rung("3f").notes
    )


def test_a_loss_that_is_no_number_is_told(tmp_path: Path) -> None:
    """A step that returns a text is no reason to end without a report."""
    words = changing("loss", lambda value: np.array("done"), scenarios.STEPS)
    report = compared(tmp_path, tf2=replace(CLEAN, change=words))

    assert (1, "texts differ") == (report.status, report.rung("6").failures[0].problem)


def test_an_output_that_only_tf2_has_is_named_as_the_place(tmp_path: Path) -> None:
    """No figure is given for a difference that is none of numbers."""
    report = compared(tmp_path, tf2=replace(CLEAN, second=lambda _: 3.0))

    assert "forward pass differs. It begins at second" in report.causes[0].evidence[0]


def test_zeros_at_initial_values_do_not_spoil_what_the_fingerprint_shows(tmp_path: Path) -> None:
    """The last layer of many networks begins with zeros."""

    def begun(scenario: str, found: dict[str, Any]) -> Any:
        early = scenario in (scenarios.INFERENCE, scenarios.INFERENCE_COPIED, scenarios.TRAINING, scenarios.ALIGNED)
        early = early or scenario == scenarios.TRAINING_CONSTANT
        return {**found, "value": found["value"] * 0} if early and found["kind"] == "output" else found

    report = compared(tmp_path, Program(change=begun), replace(CLEAN, change=begun))

    assert ("not run", "pass", 0) == (statuses(report)["4"], statuses(report)["3f"], report.status)


def test_inputs_that_are_all_zero_are_vacuous(tmp_path: Path) -> None:
    """No kernel that they are multiplied by shows."""
    zeros = changing("input", lambda value: value * 0)
    report = compared(tmp_path, Program(change=zeros), replace(CLEAN, change=zeros))

    assert (3, "vacuous", "all inputs are zero") == (
        report.status,
        statuses(report)["3f"],
        report.rung("3f").detail,
    )


def test_losses_that_are_never_finite_are_vacuous(tmp_path: Path) -> None:
    """Both sides have NaN from the first step on: that is nothing in which they differ."""

    def lost(scenario: str, found: dict[str, Any]) -> Any:
        kinds = ("loss", "gradient", "variable", "slot", "evaluation", "output")
        if not scenario.startswith("steps") or found["kind"] not in kinds or found["step"] < 0:
            return found
        return {**found, "value": found["value"] * np.float32("nan")}

    report = compared(tmp_path, Program(change=lost), replace(CLEAN, change=lost))

    assert (3, {"vacuous"}) == (report.status, {statuses(report)[number] for number in ("6", "7", "8")})


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


def test_regularization_that_differs_fails_without_outputs_too(tmp_path: Path) -> None:
    """What can be compared is."""

    def silent(scenario: str, found: dict[str, Any]) -> Any:
        return None if found["kind"] == "output" else found

    report = compared(tmp_path, Program(change=silent), replace(CLEAN, change=silent, l2=0.0), until="fingerprint")

    assert (1, "fail") == (report.status, statuses(report)["3f"])


def test_a_pair_that_ignores_every_variable_is_vacuous(tmp_path: Path) -> None:
    """A rung that compares no variable does not pass."""
    pair = {"ignore": ["*"]}
    report = compared(tmp_path, Program(pair=pair), replace(CLEAN, pair=pair))

    assert (3, "vacuous", "the pair ignores every variable of both sides") == (
        report.status,
        statuses(report)["2"],
        report.rung("2").detail,
    )


@pytest.mark.parametrize("rule", ['kind = "output"\nskip = true', 'kind = "output"\nrtol = 2.0'], ids=["skip", "rtol"])
def test_a_policy_under_which_no_output_can_fail_is_vacuous(tmp_path: Path, rule: str) -> None:
    """Zeros in place of the outputs would pass."""
    (tmp_path / "policy.toml").write_text(f"[[rule]]\n{rule}\n", "utf-8")
    report = compared(tmp_path, policy=tmp_path / "policy.toml")

    assert (3, "vacuous") == (report.status, statuses(report)["3f"])


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


def test_what_only_one_side_gives_of_a_step_is_noted(tmp_path: Path) -> None:
    """A rung that passes says what it did not see."""
    report = compared(tmp_path, tf2=replace(CLEAN, change=_without("gradient", "slot", "learning_rate")))

    assert ("pass", 0) == (statuses(report)["6"], report.status)
    assert {
        "gradients: seen on the TF1 side only, so nothing was compared",
        "optimizer slots: seen on the TF1 side only, so nothing was compared",
        "learning rate: seen on the TF1 side only, so nothing was compared",
    } <= set(report.rung("6").notes)


def _without(*kinds: str) -> Change:
    return lambda scenario, found: None if found["kind"] in kinds else found


# Sides that cannot be compared


def test_batches_in_another_order_are_told_with_their_step(tmp_path: Path) -> None:
    """The report says whose batch it was."""
    report = compared(tmp_path, tf2=replace(CLEAN, batches=lambda step: batch(100 + {1: 2, 2: 1}.get(step, step))))

    assert 3 == report.status
    assert "TF2 got the batch that TF1 got in step 2; the batches come in another order" in report.problems[0]
    assert ("pass", "not run") == (statuses(report)["6"], statuses(report)["7"])


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


def test_a_side_that_failed_in_a_step_is_compared_up_to_it(tmp_path: Path) -> None:
    """The rung says in the side's words why it was not run to its end."""
    one, other = record(Program(), tmp_path / "tf1"), record(replace(CLEAN, steps=2), tmp_path / "tf2")
    content = json.loads((other / "record.json").read_text("utf-8"))
    content["scenarios"]["steps"].update(outcome="failed", detail="ValueError: no", place=["/user/tf2.py", 7])
    (other / "record.json").write_text(json.dumps(content), "utf-8")
    report = compare(read(one), read(other))

    assert (4, "pass", "not run") == (report.status, statuses(report)["6"], statuses(report)["7"])
    assert "TF2 failed: ValueError: no (/user/tf2.py:7)" in report.rung("7").detail
    assert "steps: ValueError: no (/user/tf2.py:7)" == report.sides[1].cause


def test_a_crash_is_the_cause_of_its_side(tmp_path: Path) -> None:
    """Whoever ran the side knows why it ended."""
    report = compared(tmp_path, crashes={"tf2": "killed by signal 11"})

    assert (4, "killed by signal 11") == (report.status, report.sides[1].cause)


def test_nan_is_never_equal(tmp_path: Path) -> None:
    """Not to itself either, and the step is named."""
    change = changing("loss", lambda value: value * np.float32("nan"), scenarios.STEPS, 2)
    failed = compared(tmp_path, Program(change=change), replace(CLEAN, change=change)).rung("7").failures

    assert [("loss", 2, "NaN on both sides")] == [(check.kind, check.step, check.problem) for check in failed]


# Modes, taps and the rest


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


def test_layers_that_nobody_declared_decide_nothing(tmp_path: Path) -> None:
    """They locate what outputs show."""
    report = compared(tmp_path, tf2=replace(CLEAN, change=changing("tap", lambda value: value + 1)))

    assert (0, None) == (report.status, report.first_divergence)
    assert any(check.kind == "tap" and not check.passed for check in report.rung("3f").checks)


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
    assert ["1", "2", "3"] == [rung.number for rung in compared(tmp_path, until="constant").rungs]
    assert ["1", "2", "3", "3f", "4"] == [rung.number for rung in compared(tmp_path, until="4").rungs]


def test_the_curves_of_training_are_in_the_report(tmp_path: Path) -> None:
    """Loss, regularization and learning rate of every step."""
    series = {one.kind: one for one in compared(tmp_path).series}

    assert {"loss", "regularization", "learning_rate"} == set(series)
    assert (0, 1, 2, 3) == series["loss"].steps
    assert series["learning_rate"].tf1 == pytest.approx([0.01, 0.005, 0.01 / 3, 0.0025])


def test_taps_beyond_the_limit_are_no_difference(tmp_path: Path) -> None:
    """The side says how many were left out."""
    one = record(Program(), tmp_path / "tf1")
    report = compare(read(one), read(record(CLEAN, tmp_path / "tf2", limit=500)))

    assert 0 == report.status
    assert "layer outputs" in report.sides[1].notes[-1]


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
    with pytest.raises(ValueError, match=r"there is no rung 'nine'; there are once \(1\)"):
        compared(tmp_path, until="nine")


def test_what_regularizes_may_be_in_the_loss_of_one_side(tmp_path: Path) -> None:
    """TF1 has no regularization losses of its own, but loss and gradients agree: that is no difference."""

    def without(scenario: str, record: dict[str, Any]) -> Any:
        if record["kind"] != "regularization":
            return record
        return {**record, "value": np.float32(0)} if record["name"] == "total" else None

    report = compared(tmp_path, Program(change=without))
    notes = [note for rung in report.rungs for note in rung.notes if "regularizes" in note]

    assert (0, []) == (report.status, failing(report))
    assert "TF1 adds what regularizes to its loss itself, TF2 has it as regularization losses" in notes[0]


def test_updates_are_judged_by_tf1_where_tf2_tells_no_gradients(tmp_path: Path) -> None:
    """What a gradient's rounding makes of an update is tolerated; another epsilon of Adam is not."""

    def silent(scenario: str, record: dict[str, Any]) -> Any:
        return None if record["kind"] in ("gradient", "slot", "learning_rate") else record

    sound = compared(tmp_path / "sound", tf2=replace(CLEAN, change=silent))
    other = compared(tmp_path / "other", tf2=replace(CLEAN, change=silent, epsilon=1e-7))

    assert (0, []) == (sound.status, failing(sound))
    assert ["6", "7"] == failing(other)
