"""Differences that no step that is run shows: clipping, averages of weights, rates of later steps, evaluation.

Each pair is recorded on both targets, in child interpreters, and those that are the same program pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children, load

pytestmark = pytest.mark.tensorflow

PAIRS = Path(__file__).parent / "later.py"
WANTED = [scenarios.STRUCTURE, scenarios.STEPS]
EVALUATED = [*WANTED, scenarios.EVALUATED]
Verified = Callable[[str, str, str], Report]
EITHER = pytest.mark.parametrize("target", ["keras2", "keras3"])


def record(job: dict[str, Any]) -> None:
    """In a child: record one side."""
    load(PAIRS).record(job)


def names(table: str) -> Any:
    """The names in a table, which are its keys in the source: the module needs TensorFlow."""
    text = PAIRS.read_text("utf-8")
    body = text[text.index(f"\n{table} = {{") :].partition("\n}\n")[0]
    found = [line.split('"')[1] for line in body.splitlines() if line.startswith('    "')]
    assert found
    return pytest.mark.parametrize("name", found)


@pytest.fixture(scope="module")
def verified(children: Children, tmp_path_factory: pytest.TempPathFactory) -> Verified:
    folder = tmp_path_factory.mktemp("later")

    @cache
    def compared(target: str, table: str, name: str) -> Report:
        one, other = folder / f"{table} {name}", folder / f"{table} {name} {target}"
        wanted = EVALUATED if table.startswith("EVALUATED") else WANTED
        job = {"table": table, "name": name, "tf1": str(one), "scenarios": wanted}
        if not one.exists():
            children.call("keras2", record, {**job, "side": "tf1", "folder": str(one)})
        children.call(target, record, {**job, "side": "tf2", "folder": str(other)})
        return compare(read(one), read(other), name=name)

    return compared


def failed(report: Report) -> list[str]:
    assert not [side.cause for side in report.sides if side.cause], report
    return [rung.name for rung in report.rungs if rung.status is Status.FAIL]


def passed(report: Report, *rungs: str) -> None:
    assert ([], 0) == (failed(report), report.status), report
    assert {Status.PASS} == {report.rung(name).status for name in rungs}, report


@EITHER
@names("CLIPPED_OTHERWISE")
def test_a_clipping_that_never_acts_is_a_difference(verified: Verified, target: str, name: str) -> None:
    """In whatever form it is written, and on whichever side."""
    report = verified(target, "CLIPPED_OTHERWISE", name)

    assert ["settings"] == failed(report), report
    assert "Gradients are clipped by" in report.rung("settings").detail
    assert "update rule" == report.causes[0].kind


@EITHER
@names("CLIPPED_ALIKE")
def test_the_same_clipping_passes(verified: Verified, target: str, name: str) -> None:
    """Also where one side writes it out, and where gradients are changed otherwise."""
    passed(verified(target, "CLIPPED_ALIKE", name), "settings", "step", "steps", "schedule")


@EITHER
@names("HELD_OTHERWISE")
def test_a_constraint_that_never_acts_is_compared(verified: Verified, target: str, name: str) -> None:
    """By what it does to large values."""
    report = verified(target, "HELD_OTHERWISE", name)

    assert ["settings"] == failed(report), report
    assert "The constraint of scores/kernel makes of -100 to 100" in report.rung("settings").detail


@EITHER
@names("HELD_ALIKE")
def test_a_constraint_that_does_the_same_passes(verified: Verified, target: str, name: str) -> None:
    """However it is written; of one that one side alone has it is told, since the other may do it by hand."""
    report = verified(target, "HELD_ALIKE", name)

    passed(report, "step", "steps")
    alone = [words for words in report.not_compared if "constraints that" in words]
    assert (name in ("dropped", "added")) == bool(alone), report.not_compared


@EITHER
@names("AVERAGED_OTHERWISE")
def test_an_average_of_weights_that_one_side_keeps_is_a_difference(verified: Verified, target: str, name: str) -> None:
    """Though no step depends on it."""
    report = verified(target, "AVERAGED_OTHERWISE", name)

    assert "settings" in failed(report), report
    assert "moving average" in report.rung("settings").detail


@EITHER
@names("AVERAGED_ALIKE")
def test_averages_of_weights_are_paired_and_compared(verified: Verified, target: str, name: str) -> None:
    """Those of something else, and those that no step updates, are told."""
    report = verified(target, "AVERAGED_ALIKE", name)
    slots = [check for check in report.rung("steps").checks if check.kind == "slot"]

    passed(report, "settings", "step", "steps")
    if name in ("in a step", "another name", "begun with the model"):
        assert {"ema.average"} == {check.tf1_name.rpartition("/")[2] for check in slots}
    else:
        assert any("moving average" in words for words in report.not_compared)
        assert "moving average" in str(report).splitlines()[-1]


@EITHER
@names("RATES_OTHERWISE")
def test_a_rate_that_differs_in_a_later_step_is_a_difference(verified: Verified, target: str, name: str) -> None:
    """The step is named, whether it is a power of ten or lies between two."""
    report = verified(target, "RATES_OTHERWISE", name)
    steps = [check.step for check in report.rung("schedule").failures]
    first = {"another boundary": 7001, "half as often": 1000, "one piece less": 20001}
    first |= {"kept": 1001, "behind updates": 1001}

    assert ["schedule"] == failed(report), report
    assert first.get(name, steps[0]) == steps[0]
    assert f"at step {steps[0]}" in str(report).splitlines()[-1].replace("from", "at")
    assert "learning rate" == report.causes[0].kind


@EITHER
@names("RATES_ALIKE")
def test_the_same_schedule_passes(verified: Verified, target: str, name: str) -> None:
    """Whoever computes it."""
    passed(verified(target, "RATES_ALIKE", name), "schedule", "settings")


@EITHER
@names("RATES_BETWEEN")
def test_a_rate_that_the_program_sets_between_steps_is_not_compared(
    verified: Verified, target: str, name: str
) -> None:
    """It is the same in all steps that are run, and that says nothing of what an annealing loop makes of it."""
    report = verified(target, "RATES_BETWEEN", name)

    assert (["variables"] if name == "a variable" else []) == failed(report)
    told = "what the program of TF1 sets its learning rate to between steps (it is read of rate)"
    assert told in report.not_compared
    assert any("TF1 reads its rate of rate, which no step" in note for note in report.rung("schedule").notes)
    problems = [row.problem for row in report.variables if row.problem]
    assert (name == "a variable") == ("only in TF1: its optimizer reads the learning rate of it" in str(problems))


@EITHER
@names("RATES_UNKNOWN")
def test_a_rate_that_no_step_tells_is_not_compared(verified: Verified, target: str, name: str) -> None:
    """And that is said."""
    report = verified(target, "RATES_UNKNOWN", name)

    passed(report, "steps")
    assert Status.NOT_RUN is report.rung("schedule").status
    assert any("the program sets it" in words for words in report.not_compared)


@EITHER
@names("EVALUATED_OTHERWISE")
def test_what_evaluation_makes_of_the_same_outputs_is_compared(verified: Verified, target: str, name: str) -> None:
    """Losses and metrics, with the weights that TF1 begins with and those that it ends with."""
    report = verified(target, "EVALUATED_OTHERWISE", name)

    assert ["evaluation"] == failed(report), report
    assert {"evaluated"} == {check.scenario for check in report.rung("evaluation").checks}
    assert (name == "the last batch") == ("that of the last one" in report.causes[0].evidence[0])


@EITHER
@names("EVALUATED_BY_NOTHING")
def test_a_model_without_a_loss_evaluates_none(verified: Verified, target: str, name: str) -> None:
    """A training step of its own needs none; what layers add is nothing to hold against the loss of TF1."""
    report = verified(target, "EVALUATED_BY_NOTHING", name)
    rung = report.rung("evaluation")

    assert [] == failed(report), report
    assert (Status.NOT_RUN if name == "a step of its own" else Status.PASS) is rung.status
    assert (rung.status is Status.NOT_RUN) == ("compiled without a loss" in rung.detail)


@EITHER
@names("EVALUATED_ALIKE")
def test_metrics_are_paired_by_name_and_by_what_they_measure(verified: Verified, target: str, name: str) -> None:
    """What only one side has is told."""
    report = verified(target, "EVALUATED_ALIKE", name)
    told = " ".join(report.not_compared)
    metrics = [check for check in report.rung("evaluation").checks if check.kind == "metric"]

    passed(report, "evaluation")
    assert {"several": 4, "the loss alone": 0, "smoothed": 0}.get(name, 2) == len(metrics)
    assert ("metric error of evaluation (only on TF1)" in told) == (name == "one side alone")


@EITHER
@names("COUNTED")
def test_what_counts_the_steps_may_be_a_variable_of_the_model(verified: Verified, target: str, name: str) -> None:
    """On TF1 it belongs to the optimizer; that it is not compared is told."""
    report = verified(target, "COUNTED", name)

    passed(report, "variables", "steps")
    assert any(words.startswith("what counts the steps (") for words in report.not_compared), report.not_compared


@EITHER
@names("COUNTED_OTHERWISE")
def test_what_counts_something_else_has_no_counterpart(verified: Verified, target: str, name: str) -> None:
    """Only one of them can be TF1's counter, and the other is not taken for it."""
    rung = verified(target, "COUNTED_OTHERWISE", name).rung("variables")

    assert Status.FAIL is rung.status
    assert rung.detail.endswith(f"{'steps' if name == 'two' else 'epochs'}: only in TF2")
