"""The random operations of both sides: which one is too many, or missing."""

from __future__ import annotations

import pytest
from migrate_lint.runtime_checks.comparison.draws import drawn, mismatch, parting, same_seeds
from migrate_lint.runtime_checks.comparison.results import RandomOp
from migrate_lint.runtime_checks.worker.recording.format.reading import Scenario


def ops(*shapes: tuple[int | None, ...] | None, purpose: str = "step") -> list[RandomOp]:
    return [RandomOp("Uniform", seed, shape, purpose, ("m.py", 10 + seed)) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize(
    ("tf1", "tf2", "words"),
    [
        (ops((2,), (3,)), ops((2,), (3,)), ""),
        (ops((None, 3)), ops((8, 3)), ""),
        (ops(None), ops((8, 3)), ""),
        (ops(()), ops((8, 3)), "draw 0 differs: TF1 Uniform of shape [] at m.py:10, TF2 Uniform of shape [8, 3]"),
        (ops((2,), (3,)), ops((2,), (4,), (3,)), "TF2 draws more than TF1: Uniform of shape [4] at m.py:11"),
        (ops((2,), (4,), (3,)), ops((2,), (3,)), "TF2 does not draw: Uniform of shape [4] at m.py:11"),
        (ops((2,)), ops((2,), (9,)), "TF2 draws more than TF1: Uniform of shape [9] at m.py:11"),
        (ops((2,), (9,)), ops((2,)), "TF2 does not draw: Uniform of shape [9] at m.py:11"),
        (ops((2,)), ops((3,)), "draw 0 differs: TF1 Uniform of shape [2] at m.py:10, TF2 Uniform of shape [3]"),
        (ops((2, 3)), [], "TF2 does not draw: Uniform of shape [2, 3] at m.py:10; TF1 draws once, TF2 0 times"),
    ],
)
def test_the_first_operation_that_has_no_counterpart_is_named(
    tf1: list[RandomOp], tf2: list[RandomOp], words: str
) -> None:
    """The one without which the rest fits."""
    found = mismatch(tf1, tf2)

    assert words in found
    assert bool(words) == bool(found)


def test_initial_values_are_looked_at_apart() -> None:
    """Initializers of Keras draw where nobody sees it."""
    initial = ops((4, 4), purpose="initial value")

    assert "" == mismatch([*initial, *ops((2,))], ops((2,)))
    assert "TF2 does not draw" in mismatch(initial, [], "initial value")


def test_numbers_can_be_equal_only_from_known_and_equal_seeds() -> None:
    """A draw without a seed is aligned with nothing."""
    unknown = [RandomOp("Stateless", -1, (2,), "step", None)]

    assert [True, True, False, False] == [
        same_seeds([], []),
        same_seeds(ops((2,)), ops((2,))),
        same_seeds(ops((2,)), ops((2,))[:0]),
        same_seeds(unknown, unknown),
    ]


def test_what_a_recording_says_is_read() -> None:
    """Unknown seeds and sizes stay unknown."""
    said = {"random_ops": [{"op": "A", "seed": None, "shape": [None, 3], "purpose": "step", "place": None}, "odd"]}

    assert (RandomOp("A", -1, (None, 3), "step", None),) == drawn(Scenario("aligned", "ok", "", None, 0.0, said, ()))


def test_the_lines_where_the_draws_part_are_known() -> None:
    """Of the side that draws more, where it does."""
    assert (("m.py", 11), ("m.py", 11)) == parting(ops((2,), (3,)), ops((2,), (4,)))
    assert (("m.py", 10), None) == parting(ops((2, 3)), [])
