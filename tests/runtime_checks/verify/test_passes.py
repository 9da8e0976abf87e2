"""What of a loss depends on variables alone, however it is written; no TensorFlow is needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.passes import Pass, Share
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Chapter, Recording
from migrate_lint.runtime_checks.worker.recording.values.sketch import Sheet, sketch

W, V = np.float32([[1.0, -2.0], [0.5, 3.0]]), np.float32([2.0, -1.0])
X = np.float32([[1.0, 2.0], [3.0, -4.0]])
HALF = 0.5 * float((W * W).sum())


class Tape:
    """Operations one a line; inputs are operations by number, variables by name and constants as lists."""

    def __init__(self) -> None:
        self.sheet = Sheet()
        self.values: list[Any] = []

    def op(self, name: str, value: Any, *inputs: Any) -> int:
        number = len(self.values)
        kinds = {int: "row", str: "variable", list: "constant"}
        value = np.asarray(value, np.float32)
        told = [[kinds[type(one)], one] for one in inputs]
        self.sheet.row(number, name, ("/user/model.py", number), value.shape, sketch(value), told, {})
        self.values.append(value)
        return number

    def entropy(self) -> int:
        """What depends on data and weights."""
        product = self.op("MatMul", X @ W, self.op("Placeholder", X), "w")
        return self.op("Mean", (X @ W).mean(), product)

    def plus(self, *numbers: int, op: str = "AddV2") -> int:
        return self.op(op, sum(self.values[number] for number in numbers), *numbers)

    def times(self, number: int, factor: float) -> int:
        return self.op("Mul", factor * self.values[number], number, [factor])

    def decay(self, name: str = "w") -> int:
        value = {"w": W, "v": V}[name]
        return self.op("L2Loss", 0.5 * (value * value).sum(), name)


Write = Callable[[Tape], int]


def share(folder: Path, write: Write) -> Share | None:
    recording = Recording(str(folder), "tf1")
    with recording.scenario("steps") as chapter:
        tape = Tape()
        recorded(tape, write(tape), chapter)
    recording.save()
    (record,) = (one for one in read(folder).scenario("steps").records if one.kind == "operation")
    return Pass(record, np.asarray(record.value)).of_variables("loss", "loss")


def recorded(tape: Tape, number: int, chapter: Chapter) -> None:
    tape.sheet.result("loss", "loss", number)
    tape.sheet.record(chapter)


def divided(tape: Tape) -> int:
    whole = tape.plus(tape.entropy(), tape.times(tape.decay(), 0.1))
    return tape.op("RealDiv", tape.values[whole] / 4.0, whole, [4.0])


def subtracted(tape: Tape) -> int:
    one, other = tape.entropy(), tape.times(tape.decay(), -0.1)
    return tape.op("Sub", tape.values[one] - tape.values[other], one, other)


def negated(tape: Tape) -> int:
    gain = tape.plus(tape.entropy(), tape.times(tape.decay(), -0.1))
    return tape.op("Neg", -tape.values[gain], gain)


def by_hand(tape: Tape) -> int:
    squares = tape.op("Sum", (W * W).sum(), tape.op("Square", W * W, "w"), [0, 1])
    return tape.plus(tape.entropy(), tape.times(squares, 0.05))


def with_a_shape(tape: Tape) -> int:
    number = tape.plus(tape.entropy(), tape.times(tape.decay(), 0.1))
    return tape.op("Identity", tape.values[number], tape.op("Reshape", tape.values[number].reshape(1), number, [1]))


def side_by_side(tape: Tape, op: str, reduced: str) -> int:
    """The losses of a list, put into one array."""
    parts = [tape.entropy(), tape.times(tape.decay(), 0.1)]
    parts = [tape.op("Reshape", tape.values[part].reshape(1), part, [1]) for part in parts] if op != "Pack" else parts
    values = np.float32([tape.values[part].reshape(()) for part in parts])
    whole = tape.op(op, values, *parts, *([[0]] if op != "Pack" else []))
    return tape.op(reduced, values.sum() if reduced == "Sum" else values.mean(), whole, [0])


def of_a_number(tape: Tape) -> int:
    """Nothing is left to sum up."""
    number = tape.plus(tape.entropy(), tape.times(tape.decay(), 0.1))
    return tape.op("Sum", tape.values[number], number, [])


SUMS: dict[str, tuple[Write, float, int]] = {
    "scaled sum": (lambda tape: tape.plus(tape.entropy(), tape.times(tape.plus(tape.decay(), op="AddN"), 0.1)), 0.1, 3),
    "sum of scaled": (lambda tape: tape.plus(tape.entropy(), tape.times(tape.decay(), 0.1), op="AddN"), 0.1, 3),
    "before the data": (lambda tape: tape.plus(tape.times(tape.decay(), 0.1), tape.entropy()), 0.1, 0),
    "divided with the rest": (divided, 0.025, 3),
    "subtracted": (subtracted, 0.1, 3),
    "negated": (negated, 0.1, 3),
    "squares by hand": (by_hand, 0.1, 0),
    "another shape": (with_a_shape, 0.1, 3),
    "a list": (lambda tape: side_by_side(tape, "Pack", "Sum"), 0.1, 3),
    "mean of a list": (lambda tape: side_by_side(tape, "Pack", "Mean"), 0.05, 3),
    "one after the other": (lambda tape: side_by_side(tape, "ConcatV2", "Sum"), 0.1, 3),
    "sum of a number": (of_a_number, 0.1, 3),
}


@pytest.mark.parametrize("name", SUMS)
def test_what_weights_add(tmp_path: Path, name: str) -> None:
    """Its size, its variable and the line where it begins."""
    write, factor, line = SUMS[name]
    found = share(tmp_path, write)

    assert found is not None
    assert math.isclose(found.value, factor * HALF, rel_tol=1e-5)
    assert (("/user/model.py", line), {"w"}) == (found.place, found.variables)


def test_several_weights(tmp_path: Path) -> None:
    """All that are penalized are named."""
    found = share(tmp_path, lambda tape: tape.plus(tape.entropy(), tape.decay("v"), tape.decay(), op="AddN"))

    assert found is not None
    assert (HALF + 2.5, {"v", "w"}) == (found.value, found.variables)


def test_a_loss_of_data_has_no_such_part(tmp_path: Path) -> None:
    """Nor what multiplies data and weights."""
    assert share(tmp_path / "plain", Tape.entropy) == Share(0.0, None, frozenset())

    def product(tape: Tape) -> int:
        one, other = tape.entropy(), tape.decay()
        return tape.op("Mul", tape.values[one] * tape.values[other], one, other)

    assert share(tmp_path / "product", product) == Share(0.0, None, frozenset())


def test_a_loss_for_each_example_is_not_taken_apart(tmp_path: Path) -> None:
    """What is added to each is not what is minimized."""
    assert share(tmp_path, lambda tape: tape.op("Square", X, tape.op("Placeholder", X))) is None
