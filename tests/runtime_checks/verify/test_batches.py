"""The batches of a pair."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.worker.recording.pairs import structures
from migrate_lint.runtime_checks.worker.recording.pairs.batches import Batches, PairError, arguments
from migrate_lint.runtime_checks.worker.recording.pairs.pair import Pair


def batches(inputs: Any, labels: Any = None) -> Batches:
    return Batches(Pair(tf1=None, tf2=None, inputs=inputs, labels=labels))


def test_an_array_is_the_batch_of_every_step():
    """Its dtype is kept."""
    found = batches(np.ones((2, 3)), np.array([1, 0]))

    assert found.at(0) is found.at(7)
    assert ("float64", "int64") == (found.at(0).inputs.dtype.name, found.at(0).labels.dtype.name)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", [[1.0, 2.0]]), ("int32", [1, 2]), ("int64", [2**40]), ("bool", [True]), ("float32", 0.5)],
)
def test_plain_numbers_get_the_dtypes_of_tensorflow(dtype: str, value: Any):
    """float32 and int32, as ``tf.constant`` has them."""
    assert dtype == batches(value).at(0).inputs.dtype.name


def test_structures_are_kept():
    """A list of arrays, a tuple and a dict."""
    found = batches({"a": [np.ones(1), np.ones(2)], "b": (np.ones(3), [1.0, 2.0])}).at(0).inputs

    assert ["a", "b"] == list(found)
    assert (list, tuple, (2,)) == (type(found["a"]), type(found["b"]), found["b"][1].shape)


def test_a_function_of_the_step_gives_a_batch_for_each():
    """It is called once a step, in whatever order the steps are asked for."""
    calls: list[int] = []

    def make(step: int) -> Any:
        calls.append(step)
        return np.full(2, step)

    found = batches(make, np.ones(2))

    assert (3, 0, 3) == tuple(int(found.at(step).inputs[0]) for step in (3, 0, 3))
    assert [3, 0] == calls


def test_a_function_without_parameters_is_called_once():
    """Its batch is that of all steps."""
    calls: list[int] = []

    def make() -> Any:
        calls.append(1)
        return np.ones(2)

    found = batches(make)
    found.at(0), found.at(1)

    assert [1] == calls


def test_a_function_that_draws_gives_both_sides_the_same():
    """Random numbers are seeded with the step while it runs, and are afterwards where they were."""
    np.random.seed(5)
    random.seed(5)
    expected = np.random.uniform(), random.random()
    np.random.seed(5)
    random.seed(5)

    def make(step: int) -> Any:
        return np.array([np.random.uniform(), random.random()])

    first, second = batches(make), batches(make)
    first.at(0)

    np.testing.assert_array_equal(first.at(1).inputs, second.at(1).inputs)
    assert not np.array_equal(first.at(0).inputs, first.at(1).inputs)
    assert expected == (np.random.uniform(), random.random())


def test_a_batch_is_a_copy():
    """A function may fill the same array again and again."""
    buffer = np.zeros(2)

    def make(step: int) -> Any:
        buffer[:] = step
        return buffer

    found = batches(make)
    first = found.at(1).inputs
    found.at(2)

    assert 1.0 == first[0]


def test_large_batches_are_made_again_instead_of_kept(monkeypatch: pytest.MonkeyPatch):
    """Beyond a limit; they are the same all the same."""
    monkeypatch.setattr("migrate_lint.runtime_checks.worker.recording.pairs.batches._KEPT", 64)
    calls: list[int] = []

    def make(step: int) -> Any:
        calls.append(step)
        return np.full(100, step)

    found = batches(make)

    assert (3, 3) == (int(found.at(3).inputs[0]), int(found.at(3).inputs[0]))
    assert [3, 3] == calls


def test_batches_vary_where_their_shapes_differ():
    """A smaller last batch does, other values and one array for all steps do not."""
    assert batches(lambda step: np.ones(2 if step == 3 else 4)).vary(4) is True
    assert batches(lambda step: np.ones(2 if step == 3 else 4)).vary(3) is False
    assert batches(lambda step: {"a": np.full(2, step)}, lambda step: [step]).vary(5) is False
    assert batches(np.ones(2)).vary(5) is False


def test_batches_that_end_early_vary_as_far_as_they_go():
    """The step that wants one more gets the error."""
    found = batches(lambda step: [np.ones(2), np.ones(2)][step])

    assert found.vary(5) is False
    with pytest.raises(IndexError):
        found.at(2)


@pytest.mark.parametrize(
    ("expected", "inputs"),
    [
        ("no inputs", None),
        ("empty", np.ones((0, 3))),
        ("generator", (value for value in [1])),
        ("cannot be made an array", [[1.0], [1.0, 2.0]]),
        ("2 parameters", lambda step, other: 1),
        ("inputs['a'] are a object", {"a": object()}),
    ],
)
def test_unusable_inputs_are_told(expected: str, inputs: Any):
    """As an error that says which part of the pair it is."""
    with pytest.raises(PairError) as caught:
        batches(inputs).at(0)

    assert expected in str(caught.value)


def test_tuples_and_lists_are_positional():
    """Everything else is one argument."""
    assert ((1, 2), {}) == arguments((1, 2))
    assert ((1, 2), {}) == arguments([1, 2])
    assert (({"a": 1},), {}) == arguments({"a": 1})


class Model:
    """A model as Keras calls it, with all its inputs in one argument."""

    def call(self, inputs: Any, training: bool = False, mask: Any = None) -> None: ...


class Pairwise:
    def call(self, one: Any, other: Any, training: bool = False) -> None: ...


class AnyNumber:
    def call(self, *inputs: Any, training: bool = False) -> None: ...


@pytest.mark.parametrize(
    ("callee", "spread"),
    [
        (Model(), False),
        (Pairwise(), True),
        (AnyNumber(), True),
        (partial(Pairwise().call, training=True), True),
        (partial(Model().call, training=True), False),
        (len, False),
        (max, True),
    ],
)
def test_a_callee_with_too_few_parameters_gets_all_inputs_in_one(callee: Any, spread: bool):
    """What it is told beside them, such as whether it trains, is none of them."""
    assert (((1, 2) if spread else ((1, 2),)), {}) == arguments((1, 2), callee)
    assert ((1,), {}) == arguments((1,), callee)


class Layer:
    """A callable whose parameters are those of ``call``, as of a Keras layer."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def call(self, image: Any, mask: Any = None) -> Any: ...


@pytest.mark.parametrize("callee", [lambda image, mask: None, Layer(), Layer().call])
def test_a_dict_gives_keyword_arguments_where_there_are_such_parameters(callee: Any):
    """All of its names, or it is one argument."""
    assert ((), {"image": 1, "mask": 2}) == arguments({"image": 1, "mask": 2}, callee)
    assert (({"image": 1, "text": 2},), {}) == arguments({"image": 1, "text": 2}, callee)


VALUES = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
"""What one side computed; the other side computes it with another numpy."""


def shared(own: Any, theirs: Any) -> tuple[Any, list[str]]:
    """The batch of a side beside another one, and what it says of it."""
    told: list[str] = []
    others = dict(batches(theirs).at(0)._asdict())
    flat = {("input", name): leaf for name, leaf in structures.flat(others["inputs"], "input")}
    pair = Pair(tf1=None, tf2=None, inputs=own)
    found = Batches(pair, lambda kind, name, step: flat.get((kind, name)), told.append).at(0).inputs
    return found, told


@pytest.mark.parametrize(
    "theirs",
    [
        np.nextafter(VALUES, np.float32(9)),
        VALUES * np.float32(1 + 2e-7),
        (VALUES - VALUES.mean()) + VALUES.mean(),
        VALUES + np.float32(1e-7),
        np.where(VALUES > 1, np.nextafter(VALUES, np.float32(-9)), VALUES),
    ],
)
def test_one_side_takes_the_other_ones_batch_where_they_differ_by_rounding(theirs: Any):
    """And says so, once."""
    (first, second), told = shared((VALUES, VALUES), (theirs, theirs))

    np.testing.assert_array_equal(theirs, first)
    np.testing.assert_array_equal(theirs, second)
    assert 1 == len(told) and "input 0 of step 0 differs" in told[0]


@pytest.mark.parametrize(
    "theirs",
    [
        VALUES,
        VALUES * np.float32(1.0001),
        VALUES[::-1],
        VALUES.astype(np.float64),
        VALUES[:2],
        np.where(VALUES > 1, np.nan, VALUES).astype(np.float32),
    ],
)
def test_a_batch_that_is_equal_or_another_one_stays(theirs: Any):
    """The comparison tells of one that is another."""
    found, told = shared(VALUES, theirs)

    assert found.tobytes() == VALUES.tobytes()
    assert [] == told


def test_numbers_that_are_no_floats_are_never_rounded():
    """A label or a pixel is what it is."""
    found, told = shared(np.array([1, 2, 255]), np.array([1, 2, 254]))

    assert ([1, 2, 255], []) == (found.tolist(), told)
