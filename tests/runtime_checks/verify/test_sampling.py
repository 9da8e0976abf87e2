"""Of a large model a part of the elements is recorded, the same on both sides, whatever became of their layout."""

from __future__ import annotations

import contextlib
import importlib
import itertools
from pathlib import Path

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.planning import plan
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.values.conversions import Conversion, derived
from migrate_lint.runtime_checks.worker.recording.values.sampling import Places, following, of_group, places

from ...interpreters import Children

HERE = Path(__file__).parent
ROW = 22
"""Of the embedding, that has no gradient in ``a row``."""
BUGS = {"a row": "gradient", "rate": "learning_rate", "beta": "slot", "epsilon": "update"}
"""With the kind of what differs first."""
CELLS = ("basic lstm", "gru", "both ways", "bert", "by function")


@pytest.mark.parametrize("count", [1 << 17, 30522 * 768, 3 << 20])
def test_every_row_of_a_matrix_is_met(count: int) -> None:
    """No column is met by all, and no more elements are kept than are wanted."""
    found = places(count, None)
    columns = np.unique(found.at % 768)

    assert 20_000 < found.at.size <= 1 << 15
    assert (np.diff(found.at) > 0).all() and found.at[-1] < count
    assert columns.size == 768


@pytest.mark.parametrize("rows", [1, 30, 5_000])
def test_rows_that_a_gradient_touches_are_kept(rows: int) -> None:
    """Of few all elements, of many a part of each; where all are touched none is added."""
    gradient = np.zeros((50_000, 16), np.float32)
    gradient[np.random.RandomState(0).permutation(50_000)[:rows]] = 1.0
    found = places(gradient.size, gradient)
    touched = np.flatnonzero(gradient)

    assert np.intersect1d(found.at, touched).size >= min(touched.size, 10_000)
    assert set(touched // 16) == set(np.intersect1d(found.at, touched) // 16)
    assert places(gradient.size, gradient + 1).at.size < found.at.size


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_elements_are_followed_into_another_order_of_axes(axes: tuple[int, ...]) -> None:
    """The same values stand at the places of both sides, in one order."""
    value = np.random.RandomState(0).rand(5, 6, 7)
    kept = Places(value.size, np.arange(0, value.size, 11))
    order = np.arange(value.size).reshape(value.shape).transpose(axes)

    there = following(order, kept)

    assert np.array_equal(value.transpose(axes).reshape(-1)[there.at], value.reshape(-1)[kept.at])


@pytest.mark.parametrize("part", [0, 1, 2])
def test_elements_are_followed_into_a_group(part: int) -> None:
    """A cell's kernel becomes two, with gates in another order; a small bias is kept as a whole."""
    group = Conversion("lstm", ("k", "b"), ("x", "h", "c"), ((7, 16), (16,)), ((3, 16), (4, 16), (16,)),
                       {"gates": "ifco", "forget_bias": 1.0})  # fmt: skip
    old = [np.random.RandomState(0).rand(7, 16), np.arange(16.0)]
    kept = {"k": Places(7 * 16, np.arange(0, 7 * 16, 5))}
    compact = [old[0].reshape(-1)[kept["k"].at], old[1]]

    found, sources = of_group(derived([group])[part], kept)
    values = [compact[number][at] for number, at in sources.T]

    assert found.at.size == (16 if part == 2 else sources.shape[1]) > 0
    assert np.array_equal(group.values(old, change=True)[part].reshape(-1)[found.at], values)


def record(side: str, module: str, name: str, folder: str, tf1: str) -> None:
    """In a child: record one side of a pair as if its variables were large."""

    import tensorflow as tf
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.patching import replaced
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording
    from migrate_lint.runtime_checks.worker.recording.loading import Loaded
    from migrate_lint.runtime_checks.worker.recording.sides import record_side
    from migrate_lint.runtime_checks.worker.recording.values import sampling

    tf.keras.backend.clear_session()
    pair = importlib.import_module(f".{module}", __package__).PAIRS[name]
    wanted = plan("evaluation", noise=True, steps=3, seed=42, brief=True)
    other = read(tf1) if tf1 else None
    with contextlib.ExitStack() as stack:
        for constant, value in (("MODEL", 0), ("_VARIABLE", 20), ("_EVEN", 16), ("_TOUCHED", 60)):
            stack.enter_context(replaced(sampling, constant, value))
        loaded, code = Loaded(pair, False, str(HERE)), UserCode([str(HERE)])
        record_side(loaded, side, wanted, Recording(folder, side), code, other)


def compared(children: Children, folder: Path, module: str, name: str, target: str) -> Report:
    one, other = folder / "tf1", folder / "tf2"
    children.call("keras2", record, "tf1", module, name, str(one), "")
    children.call(target, record, "tf2", module, name, str(other), str(one))
    return compare(read(one), read(other), until="evaluation")


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_a_part_of_both_sides_agrees(children: Children, tmp_path: Path, target: str) -> None:
    """Turned, in another shape, not trained, or rows of which few are touched; evaluation has all of the weights."""
    report = compared(children, tmp_path, "large", "", target)
    said = next(words for words in report.not_compared if "large variables" in words)
    sizes = {check.tf1_name: check.shape for check in report.rung("steps").checks if check.kind == "slot"}
    passed = {rung.number for rung in report.rungs if rung.status is Status.PASS}

    assert (0, ()) == (report.status, report.causes)
    assert passed >= {"2", "3f", "4", "6", "7", "7e"}
    assert said.startswith("2,728 of the 2,844 elements of 5 large variables")
    assert sizes["table/adam.m"] == (400, 6)


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", BUGS)
def test_what_differs_in_a_part_is_found(children: Children, tmp_path: Path, name: str, target: str) -> None:
    """Also in one row of an embedding; positions are those of the whole variable."""
    report = compared(children, tmp_path, "large", name, target)
    failed = [check for rung in report.rungs for check in rung.checks if check.counts and not check.passed]

    assert 1 == report.status
    assert BUGS[name] in {check.kind for check in failed if check.step == 0}
    for check in failed:
        if check.kind in ("gradient", "slot", "update") and check.at:
            assert len(check.at) == len(check.shape)
    if name == "a row":
        assert {check.at[0] for check in failed if check.kind == "gradient" and not check.step} == {ROW}


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_a_variable_that_cannot_be_followed_is_named(children: Children, tmp_path: Path, target: str) -> None:
    """Of another shape on the other side: its values in training are not compared, which the report says."""
    report = compared(children, tmp_path, "large", "a longer table", target)
    notes = [note for rung in report.rungs for note in rung.notes if note.startswith("not compared: ")]

    assert 1 == report.status
    assert any("1 large variable (table: " in words for words in report.not_compared), report.not_compared
    assert any(note.startswith("not compared: table, of which") for note in notes), notes
    assert "variable table, own initial values: the shapes differ: [400, 6] and [401, 6]" in str(report)
    assert not any("--tap-limit" in note for rung in report.rungs for note in rung.notes)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", CELLS)
def test_a_part_of_a_group_agrees(children: Children, tmp_path: Path, name: str) -> None:
    """Kernels that became two, gates in another order, heads, and what a user's own function moves."""
    report = compared(children, tmp_path, "recurrent", name, "keras2")

    assert (0, ()) == (report.status, report.causes)
    assert any("large variable" in words for words in report.not_compared)
    assert {"gradient", "slot", "update"} <= {check.kind for check in report.rung("steps").checks}
