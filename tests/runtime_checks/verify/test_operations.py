"""The operation with which two passes part, told from what both sides recorded; no TensorFlow is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.reporters import json as json_report
from migrate_lint.runtime_checks.comparison.results import OperationPair
from migrate_lint.runtime_checks.comparison.wording import verdict
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import RecordingError, read
from migrate_lint.runtime_checks.worker.recording.format.store import Chapter, Recording
from migrate_lint.runtime_checks.worker.recording.values.sketch import SAMPLE, Sheet, packed, sketch, unpacked

X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32)


class Tape:
    """A pass in numpy that notes its operations, one a line."""

    def __init__(self, side: str, chapter: Chapter) -> None:
        self.side = side
        self.values: list[Any] = []
        self._chapter = chapter
        self._sheet = Sheet()

    def op(self, name: str, value: Any, *inputs: Any, **attributes: Any) -> int:
        """An operation; inputs are operations by number, variables by name and constants as lists."""
        number = len(self.values)
        kinds = {int: "row", str: "variable", list: "constant"}
        told = [[kinds[type(one)], one] for one in inputs]
        place = (f"/user/{self.side}.py", number)
        value = np.asarray(value, np.float32)
        self._sheet.row(number, name, place, value.shape, sketch(value), told, attributes)
        self.values.append(value)
        return number

    def layer(self, name: str, given: int, made: int) -> None:
        """A layer whose input and output are those of operations."""
        self._chapter.add("tap", name, self.values[made], auto=True, call=0, owned=[], inputs=[given])
        self._sheet.result("tap", name, made)

    def output(self, number: int) -> None:
        self._chapter.add("output", "output", self.values[number])
        self._sheet.result("output", "output", number)
        self._sheet.record(self._chapter)


Program = Callable[[Tape], int]


def compared(folder: Path, old: Program, new: Program) -> Report:
    """Both sides recorded and compared; a program gives back its output."""
    for side, program in (("tf1", old), ("tf2", new)):
        recording = Recording(str(folder / side), side)
        with recording.scenario(scenarios.FINGERPRINT) as chapter:
            chapter.add("input", "input", X)
            tape = Tape(side, chapter)
            tape.output(program(tape))
        recording.save()
    return compare(read(folder / "tf1"), read(folder / "tf2"), until="fingerprint")


def found(folder: Path, old: Program, new: Program) -> OperationPair:
    first = compared(folder, old, new).first_divergence
    assert first is not None
    assert first.operation is not None
    return first.operation


def lines(pair: OperationPair) -> list[int | None]:
    return [None if side is None or side.place is None else side.place[1] for side in (pair.tf1, pair.tf2)]


def relu(value: Any) -> Any:
    return np.maximum(value, 0)


def plain(tape: Tape) -> int:
    """A product, an activation, a product."""
    x = tape.op("Placeholder", X)
    hidden = tape.op("MatMul", X @ W, x, "w")
    active = tape.op("Relu", relu(X @ W), hidden)
    return tape.op("MatMul", relu(X @ W) @ W, active, "w", transpose_b=False)


def test_nothing_is_named_where_all_agrees(tmp_path: Path) -> None:
    """Also where one side takes a computation apart that the other has as one operation."""

    def apart(tape: Tape) -> int:
        x = tape.op("input", X)
        half = tape.op("Mul", X * 0.5, x, [0.5])
        product = tape.op("MatMul", X * 0.5 @ W, half, "w")
        hidden = tape.op("Mul", X @ W, product, [2.0])
        active = tape.op("Relu", relu(X @ W), hidden)
        return tape.op("MatMul", relu(X @ W) @ W, active, "w", transpose_b=False)

    report = compared(tmp_path, plain, apart)

    assert (0, None) == (report.status, report.first_divergence)


def test_a_part_that_comes_together_again_is_passed_by(tmp_path: Path) -> None:
    """The difference lies behind it."""

    def apart(tape: Tape) -> int:
        x = tape.op("input", X)
        half = tape.op("Mul", X * 0.5, x, [0.5])
        product = tape.op("MatMul", X * 0.5 @ W, half, "w")
        hidden = tape.op("Mul", X @ W, product, [2.0])
        active = tape.op("Relu", relu(X @ W), hidden)
        return tape.op("MatMul", relu(X @ W) @ W.T, active, "w", transpose_b=True)

    pair = found(tmp_path, plain, apart)

    assert [3, 5] == lines(pair)
    assert ("transpose_b False on TF1, True on TF2",) == pair.differences
    assert ("Relu of line 2", "variable w") == pair.agree


def lacking(side: str, what: str) -> str:
    """That a side has nothing for an operation of the other, which stands at line 2."""
    return f"{side} computes nothing that corresponds to {what} at line 2"


def test_what_one_side_lacks_is_told(tmp_path: Path) -> None:
    """In both directions."""

    def without(tape: Tape) -> int:
        x = tape.op("Placeholder", X)
        hidden = tape.op("MatMul", X @ W, x, "w")
        return tape.op("MatMul", X @ W @ W, hidden, "w", transpose_b=False)

    missing, extra = found(tmp_path / "1", plain, without), found(tmp_path / "2", without, plain)

    assert [[2, 2], (lacking("TF2", "TF1's Relu"),)] == [lines(missing), missing.differences]
    assert [[2, 2], (lacking("TF1", "TF2's Relu"),)] == [lines(extra), extra.differences]


def test_what_only_labels_make_is_no_counterpart_of_what_takes_outputs(tmp_path: Path) -> None:
    """However many of its inputs are labels: such as a loss of sparse ones, which TF2 makes dense before."""
    outputs, sums = X @ W, np.sum(X @ W, 1)

    def one(tape: Tape) -> int:
        parts = [tape.op("Placeholder", X + part) for part in range(3)]
        return tape.op("Loss", sums, tape.op("MatMul", outputs, parts[0], "w"), *parts)

    def apart(tape: Tape) -> int:
        parts = [tape.op("input", X + part) for part in range(3)]
        product = tape.op("MatMul", outputs, parts[0], "w")
        dense = tape.op("ToDense", 7 * X, *parts)
        scaled = tape.op("Softmax", np.exp(outputs), product)
        return tape.op("Sum", 2 * sums, scaled, dense)

    assert [4, 5] == lines(found(tmp_path, one, apart))


def test_an_output_that_is_an_earlier_value_has_no_counterpart(tmp_path: Path) -> None:
    """Scores on one side, what a softmax makes of them on the other."""

    def early(tape: Tape) -> int:
        x = tape.op("Placeholder", X)
        return tape.op("MatMul", X @ W, x, "w")

    def late(tape: Tape) -> int:
        return tape.op("Sigmoid", 1 / (1 + np.exp(-(X @ W))), early(tape))

    one, other = found(tmp_path / "1", late, early), found(tmp_path / "2", early, late)

    assert [[2, None], (lacking("TF2", "TF1's Sigmoid"),)] == [lines(one), one.differences]
    assert [[None, 2], (lacking("TF1", "TF2's Sigmoid"),)] == [lines(other), other.differences]


def test_a_mask_hides_nothing(tmp_path: Path) -> None:
    """A value of a thousand millions is no measure of those beside it."""

    def masked(factor: float) -> Program:
        def program(tape: Tape) -> int:
            x = tape.op("Placeholder", X)
            scaled = tape.op("Mul", X * factor, x, [factor])
            mask = np.array([0, 0, 0, -1e9], np.float32)
            logits = tape.op("AddV2", X * np.float32(factor) + mask, scaled, [0.0, 0.0, 0.0, -1e9])
            powers = np.exp(tape.values[logits] - tape.values[logits].max(-1, keepdims=True))
            return tape.op("Softmax", powers / powers.sum(-1, keepdims=True), logits)

        return program

    pair = found(tmp_path, masked(1.0), masked(1.001))

    assert [1, 1] == lines(pair)


def softmax(value: Any) -> Any:
    powers = np.exp(value - value.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


ENDS: dict[str, Callable[[Any], Any]] = {
    "Softmax": softmax,
    "Relu": relu,
    "Tanh": np.tanh,
    "Sigmoid": lambda value: 1 / (1 + np.exp(-np.maximum(value, -80.0))),
    "Maximum": lambda value: np.maximum(value, -7.5),
    "Elu": lambda value: np.where(value > 0, value, np.exp(np.minimum(value, 0.0)) - 1),
}
"""What makes the same of one large negative number and of another."""


def masked_twice(end: str, least: float, factor: float, within: bool = False, again: bool = False) -> Program:
    """A mask is added twice before what ends its size, with a product between.

    `within`: and to the output; `again`: and computed for each time that it is added.
    """
    mask = np.tile(np.float32([0.0, 1.0, 0.0, 0.0]), (len(X), 1))

    def program(tape: Tape) -> int:
        x, given = tape.op("Placeholder", X), tape.op("Placeholder", mask)
        added = tape.op("Mul", mask * np.float32(least), given, [least])
        value, made = X, x
        for times in (1.0, factor):
            if times != 1.0:
                added = tape.op("Mul", mask * np.float32(least), given, [least]) if again else added
                value, made = value * np.float32(times), tape.op("Mul", value * np.float32(times), made, [times])
            value = value + mask * np.float32(least)
            value, made = ENDS[end](value), tape.op(end, ENDS[end](value), tape.op("AddV2", value, made, added))
        return tape.op("AddV2", value + mask * np.float32(least), made, added) if within else made

    return program


@pytest.mark.parametrize("end", ENDS)
def test_a_difference_that_comes_to_nothing_is_passed_by(tmp_path: Path, end: str) -> None:
    """Another large number for a mask changes nothing; the factor behind it does."""
    for again in (False, True):
        programs = masked_twice(end, -1e4, 0.5, again=again), masked_twice(end, -1e9, 0.7, again=again)
        pair = found(tmp_path / str(again), *programs)

        assert ([5 + again] * 2, ("0.5 on TF1, 0.7 on TF2",)) == (lines(pair), pair.differences)


@pytest.mark.parametrize("end", ENDS)
def test_a_difference_that_comes_to_nothing_on_one_way_is_told_where_it_is_alone(tmp_path: Path, end: str) -> None:
    """It reaches the output on another way."""
    pair = found(tmp_path, masked_twice(end, -1e4, 0.5, within=True), masked_twice(end, -1e9, 0.5, within=True))

    assert ([2, 2], ("-10,000 on TF1, -1e9 on TF2",)) == (lines(pair), pair.differences)


def test_a_value_that_is_computed_elsewhere_by_chance_hides_nothing(tmp_path: Path) -> None:
    """Half of the input is there on both sides, and what TF2 subtracts from is another thing."""

    def program(factor: float) -> Program:
        def made(tape: Tape) -> int:
            x = tape.op("Placeholder", X)
            grown = tape.op("Exp", np.exp(0.5 * X), tape.op("Mul", 0.5 * X, x, [0.5]))
            mean = tape.op("Mean", X.mean(0), x, [0])
            other = tape.op("Mul", factor * X, x, [factor])
            centred = tape.op("Sub", factor * X - X.mean(0), other, mean)
            return tape.op("AddV2", factor * X - X.mean(0) + np.exp(0.5 * X), centred, grown)

        return made

    pair = found(tmp_path, program(0.5), program(0.9))

    assert ([4, 4], ("0.5 on TF1, 0.9 on TF2",)) == (lines(pair), pair.differences)


def test_axes_in_another_order_are_the_same(tmp_path: Path) -> None:
    """What differs behind them is named, and not the operations that turn them."""
    image = np.random.default_rng(2).normal(size=(2, 3, 5, 7)).astype(np.float32)
    turned = image.transpose(0, 3, 1, 2)

    def last(tape: Tape) -> int:
        x = tape.op("Placeholder", image)
        active = tape.op("Relu", relu(image), x)
        return tape.op("Mean", relu(image).mean((1, 2)), active, [1, 2])

    def first(tape: Tape) -> int:
        x = tape.op("input", image)
        active = tape.op("Relu", relu(turned), tape.op("Transpose", turned, x, [0, 3, 1, 2]))
        again = tape.op("Transpose", relu(image), active, [0, 2, 3, 1])
        return tape.op("Max", relu(image).max((1, 2)), again, [1, 2])

    pair = found(tmp_path, last, first)

    assert [2, 4] == lines(pair)
    assert ("Mean on TF1, Max on TF2",) == pair.differences


def test_what_is_the_same_number_throughout_is_a_setting(tmp_path: Path) -> None:
    """A rate that one side is fed and the other has as a number, or zeros to pad with: no difference begins there."""
    zeros, both = np.zeros_like(X), np.concatenate([np.zeros_like(X), X])

    def old(tape: Tape) -> int:
        x, keep, pad = tape.op("Placeholder", X), tape.op("Placeholder", 0.8), tape.op("Placeholder", zeros)
        rate = tape.op("Sub", 0.2, [1.0], keep)
        padded = tape.op("ConcatV2", both, tape.op("Neg", -zeros, pad), x, [0])
        return tape.op("Mul", both @ W * 0.2, tape.op("MatMul", both @ W, padded, "w"), rate)

    def new(tape: Tape) -> int:
        x = tape.op("input", X)
        padded = tape.op("Pad", both[::-1], x, [6, 0, 0, 0])
        return tape.op("Mul", both[::-1] @ W * 0.2, tape.op("MatMul", both[::-1] @ W, padded, "w"), [0.2])

    operation = found(tmp_path, old, new)

    assert [5, 1] == lines(operation)
    assert (("an input",), ("ConcatV2 on TF1, Pad on TF2",)) == (operation.agree, operation.differences)


def test_a_branch_that_was_not_taken_is_no_difference(tmp_path: Path) -> None:
    """A merge has the value of one of its inputs; what was computed for the other one is of no matter."""
    variance = np.linspace(0.5, 1.5, 4)

    def normalized(tape: Tape, x: int, moving: int | str, epsilon: float) -> int:
        scale = 1.0 / np.sqrt(variance + epsilon)
        safe = tape.op("AddV2", variance + epsilon, moving, [epsilon])
        return tape.op("Mul", X * scale, x, tape.op("Rsqrt", scale, safe))

    def old(tape: Tape) -> int:
        x = tape.op("Placeholder", X)
        of_batch = tape.op("Mean", X.var(0), tape.op("Square", X * X, x), [0])
        return normalized(tape, x, tape.op("Merge", variance, of_batch, "moving_variance"), 0.1)

    def new(tape: Tape) -> int:
        return normalized(tape, tape.op("input", X), "moving_variance", 0.2)

    operation = found(tmp_path, old, new)

    assert [4, 1] == lines(operation)
    assert ("0.1 on TF1, 0.2 on TF2",) == operation.differences


def test_a_layer_whose_input_differs_is_not_where_it_begins(tmp_path: Path) -> None:
    """What is behind raw operations differs because of them."""

    def program(factor: float) -> Program:
        def build(tape: Tape) -> int:
            x = tape.op("Placeholder", X)
            first = tape.op("MatMul", X @ W, x, "w")
            tape.layer("first", x, first)
            scaled = tape.op("Mul", X @ W * factor, first, [factor])
            second = tape.op("MatMul", X @ W * factor @ W, scaled, "w")
            tape.layer("second", scaled, second)
            return tape.op("Tanh", np.tanh(X @ W * factor @ W), second)

        return build

    report = compared(tmp_path, program(1.0), program(1.5))
    first = report.first_divergence
    layers = {check.tf1_name: check.inputs for check in report.rung("fingerprint").checks if check.kind == "tap"}

    assert {"first": "", "second": "differ"} == layers
    assert first is not None
    assert first.operation is not None
    assert ["output", [2, 2]] == [first.deviation.tf1_name, lines(first.operation)]
    assert verdict(report).startswith("Differs from Mul (TF1 tf1.py:2, TF2 tf2.py:2) on")


def test_a_layer_whose_input_agrees_is_where_it_begins(tmp_path: Path) -> None:
    """It is marked as that."""

    def program(turned: bool) -> Program:
        def build(tape: Tape) -> int:
            x = tape.op("Placeholder", X)
            made = tape.op("MatMul", X @ (W.T if turned else W), x, "w", transpose_b=turned)
            tape.layer("first", x, made)
            return tape.op("Tanh", np.tanh(tape.values[made]), made)

        return build

    report = compared(tmp_path, program(False), program(True))
    first = report.first_divergence

    assert first is not None
    assert ["first", "agree"] == [first.deviation.tf1_name, first.deviation.inputs]


def test_without_operations_none_is_named(tmp_path: Path) -> None:
    """As in recordings of sides that run themselves."""
    for side, factor in (("tf1", 1.0), ("tf2", 2.0)):
        recording = Recording(str(tmp_path / side), side)
        with recording.scenario(scenarios.FINGERPRINT) as chapter:
            chapter.add("output", "output", X * factor)
        recording.save()
    report = compare(read(tmp_path / "tf1"), read(tmp_path / "tf2"), until="fingerprint")

    assert report.first_divergence is not None
    assert report.first_divergence.operation is None


def test_inputs_that_are_told_alike_are_counted(tmp_path: Path) -> None:
    """A sum of many losses of one line is short."""

    def program(factor: float) -> Program:
        def made(tape: Tape) -> int:
            x = tape.op("Placeholder", X)
            twice = tape.op("Mul", X * X, x, x)
            return tape.op("AddN", X * X * factor, twice, twice, twice, twice, [factor])

        return made

    pair = found(tmp_path, program(4.0), program(5.0))

    assert pair.tf1 is not None
    assert ("Mul of line 1 (4 times)", "4") == pair.tf1.inputs


def test_the_report_is_read_back(tmp_path: Path) -> None:
    """With the operations of both sides."""
    pair = found(tmp_path, plain, lambda tape: tape.op("Mul", X * 2.0, tape.op("input", X), [2.0]))
    report = compare(read(tmp_path / "tf1"), read(tmp_path / "tf2"), until="fingerprint")
    again = json_report.read(Report, json_report.to_json(report))

    assert again.first_divergence is not None
    assert again.first_divergence.operation is not None
    assert (pair.differences, lines(pair)) == (
        again.first_divergence.operation.differences,
        lines(again.first_divergence.operation),
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("inputs", [["row"]]), ("inputs", [["other", 1]]), ("at", -1), ("place", ["file"]), ("attributes", []), ("op", 3)],
)
def test_operations_that_make_no_sense_are_refused(tmp_path: Path, key: str, value: Any) -> None:
    """Before anything is made of them."""
    recording = Recording(str(tmp_path / "tf1"), "tf1")
    row = {"id": 0, "op": "Mul", "place": None, "shape": [], "inputs": [], "attributes": {}, "at": 0, key: value}
    with recording.scenario(scenarios.FINGERPRINT) as chapter:
        chapter.add("operation", "all", np.zeros(5, np.float32), operations=[row], results=[])
    recording.save()

    with pytest.raises(RecordingError, match="damaged"):
        read(tmp_path / "tf1")


@pytest.mark.parametrize("shape", [(), (1,), (2048,), (3, 50, 64), (0, 4)])
def test_a_sketch_is_small_and_knows_the_shape(shape: tuple[int, ...]) -> None:
    """Its sample is all of a small array, and no more than so many of the elements of a large one."""
    value = np.random.default_rng(0).normal(size=shape)
    told, brief = unpacked(packed(value))

    assert list(shape) == told
    np.testing.assert_array_equal(sketch(value), brief)
    assert 4 + min(value.size, SAMPLE) >= brief.size
    if value.size:
        np.testing.assert_allclose(
            [value.mean(), np.sqrt((value**2).mean()), value.min(), value.max()], brief[:4], rtol=1e-5
        )


def test_a_sample_meets_all_channels() -> None:
    """Whatever power of two they are."""
    value = np.tile(np.arange(64), 1024)

    assert set(range(64)) == set(sketch(value)[4:].astype(int))
