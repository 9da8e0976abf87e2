"""Later training steps: their data, their ends and what never moves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from ..programs import CLEAN, Change, Program, batch, changing, compared, initial, record, statuses, train


def test_batches_in_another_order_are_told_with_their_step(tmp_path: Path) -> None:
    """The report says whose batch it was."""
    report = compared(tmp_path, tf2=replace(CLEAN, batches=lambda step: batch(100 + {1: 2, 2: 1}.get(step, step))))

    assert 3 == report.status
    assert "TF2 got the batch that TF1 got in step 2; the batches come in another order" in report.problems[0]
    assert ("pass", "not run") == (statuses(report)["6"], statuses(report)["7"])


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


def test_a_variable_that_no_step_changes_is_noted(tmp_path: Path) -> None:
    """The other variables make the comparison one; of this one's updates nothing was seen."""

    def frozen(scenario: str, found: dict[str, Any]) -> Any:
        held = found["kind"] == "variable" and found["name"] == "top/bias"
        return {**found, "value": np.ones(3, np.float32)} if held else found

    report = compared(tmp_path, Program(change=frozen), replace(CLEAN, change=frozen))

    assert "no step changes top/bias, on either side, though trainable" in report.rung("7").notes
    assert "weights that no training step changes (top/bias)" in report.not_compared
    assert "weights that no training step changes" in str(report).splitlines()[-1].partition("; not compared: ")[2]


@pytest.mark.parametrize(("moves", "number"), [((1, 2), "7"), ((0, 1), "6"), ((1, 1), None)])
def test_a_row_without_a_gradient_that_one_side_moves_differs(
    tmp_path: Path, moves: tuple[int, int], number: str | None
) -> None:
    """No noise of a gradient explains it: such as the momentum of a row that the batch does not look up.

    It begins in the step after the first, or in the first. What both do is no difference.
    """

    def moving(until: int) -> Change:
        def change(scenario: str, found: dict[str, Any]) -> dict[str, Any]:
            if not scenario.startswith("steps") or found["name"] != "hidden/kernel":
                return found
            value = found["value"].copy()
            if found["kind"] == "gradient":
                value[0] = 0
            elif found["kind"] == "variable":
                value[0] = 0.001 * min(max(found["step"] + 1, 0), until)
            return {**found, "value": value}

        return change

    report = compared(tmp_path, Program(change=moving(moves[0])), replace(CLEAN, change=moving(moves[1])))
    first = report.first_divergence

    assert (None if number is None else ("update", "hidden/kernel", moves[0])) == (
        first and (first.deviation.kind, first.deviation.tf1_name, first.deviation.step)
    )
    assert number is None or "fail" == statuses(report)[number]


def test_nan_is_never_equal(tmp_path: Path) -> None:
    """Not to itself either, and the step is named."""
    change = changing("loss", lambda value: value * np.float32("nan"), scenarios.STEPS, 2)
    failed = compared(tmp_path, Program(change=change), replace(CLEAN, change=change)).rung("7").failures

    assert [("loss", 2, "NaN on both sides")] == [(check.kind, check.step, check.problem) for check in failed]


def test_losses_that_are_never_finite_are_vacuous(tmp_path: Path) -> None:
    """Both sides have NaN from the first step on: that is nothing in which they differ."""

    def lost(scenario: str, found: dict[str, Any]) -> Any:
        kinds = ("loss", "gradient", "variable", "slot", "evaluation", "output")
        if not scenario.startswith("steps") or found["kind"] not in kinds or found["step"] < 0:
            return found
        return {**found, "value": found["value"] * np.float32("nan")}

    report = compared(tmp_path, Program(change=lost), replace(CLEAN, change=lost))

    assert (3, {"vacuous"}) == (report.status, {statuses(report)[number] for number in ("6", "7", "8")})


def parting(
    folder: Path, step: int, kind: str = "loss", *, forced: Program | None = None, policy: str = "noise"
) -> Report:
    """What is said of two sides whose training parts in a step, while each step by itself is that of `forced`."""
    name = {"loss": "loss", "variable": "top/kernel", "gradient": "top/kernel"}[kind]

    def parted(scenario: str, found: dict[str, Any]) -> Any:
        here = scenario == scenarios.STEPS and (found["kind"], found["name"], found["step"]) == (kind, name, step)
        return {**found, "value": found["value"] + np.float32(0.01)} if here else found

    one, other = record(Program(), folder / "tf1"), record(replace(CLEAN, change=parted), folder / "tf2")
    if forced is not None:
        content: Any = dict(read(other).content)
        recording = Recording(str(other), "tf2", begun=content)
        with recording.scenario(scenarios.STEPS_FORCED) as chapter:
            train(forced, chapter, initial(forced.copied), taps=False)
        recording.save()
    return compare(read(one), read(other), policy=policy)


@pytest.mark.parametrize(
    ("step", "kind"), [(1, "loss"), (2, "loss"), (2, "variable"), (1, "gradient"), (2, "gradient")]
)
def test_rounding_that_training_amplifies_is_no_difference(tmp_path: Path, step: int, kind: str) -> None:
    """Each step agrees if it begins with TF1's weights; that is told."""
    report = parting(tmp_path, step, kind, forced=CLEAN)
    notes = [note for note in report.rung("7").notes if "training amplifies what is rounded" in note]

    assert (0, "pass") == (report.status, statuses(report)["7"]), report
    assert f"from step {step} on" in notes[0]


@pytest.mark.parametrize(
    "bug",
    [
        {"epsilon": 1e-3},
        {"decay": 0.8},
        {"rate": lambda step: 0.02},
        {"scale": 1.01},
        {"l2": 2e-3},
    ],
    ids=lambda bug: next(iter(bug)),
)
def test_a_step_that_differs_by_itself_is_a_difference(tmp_path: Path, bug: dict[str, Any]) -> None:
    """Whatever makes it differ."""
    assert "fail" == statuses(parting(tmp_path, 2, forced=replace(CLEAN, **bug)))["7"]


def test_only_later_steps_amplify(tmp_path: Path) -> None:
    """What differs in the first step does, and so does what nobody looked at step by step, or that a policy bounds."""
    assert "fail" == statuses(parting(tmp_path / "0", 0, forced=CLEAN))["6"]
    assert "fail" == statuses(parting(tmp_path / "1", 1))["7"]
    assert "fail" == statuses(parting(tmp_path / "2", 1, forced=CLEAN, policy="guide"))["7"]
