"""Rows that a batch looks up more than once, which the optimizers of Keras 3 square one by one, are named as that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.causes.ranking import rank
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.verifying import Request, run

from ...interpreters import Children
from .test_causes import Record, check, record, report  # noqa: F401  (a fixture)
from .test_guides import need
from .workers import in_children

PAIRS = Path(__file__).parent / "repeated_rows.py"
KIND = "repeated rows"


@pytest.mark.parametrize(
    ("once", "twice", "told"), [(0.0, 0.1, True), (0.1, 0.1, False), (0.1, 0.0, False), (0.0, 0.0, False)]
)
def test_where_slots_say_nothing_it_is_for_rows_to_say(once: float, twice: float, told: bool, record: Record) -> None:  # noqa: F811
    """Those that come twice have to change otherwise, and those that come once alike."""
    kernel, gradient, sums = np.ones((2, 5)), np.full((2, 5), 0.5), np.array([[0.25] * 5, [0.125] * 5])
    start = [("variable", "wide/kernel", -1, kernel), ("gradient", "wide/kernel", 0, gradient)]
    changed = kernel - [[0.5 + once], [0.5 + twice]]
    sides = record(
        "steps",
        [*start, ("variable", "wide/kernel", 0, kernel - 0.5)],
        [*start, ("squares", "wide/kernel", 0, sums), ("variable", "wide/kernel", 0, changed)],
    )
    causes = rank(report(("6", [check("update", "wide/kernel")])), *sides)

    assert told == (KIND == causes[0].kind)
    assert told == (KIND in {cause.kind for cause in causes})
    assert not told or "looks up 2 rows of wide/kernel, 1 of them more than once" in causes[0].evidence[0]


Verified = Callable[[str, str], Report]


@pytest.fixture(scope="module")
def verified(children: Children) -> Iterator[Verified]:
    """The first training step of a pair on a target, or two of one that differs later."""

    def get(name: str, target: str) -> Report:
        need(target)
        until, steps = ("steps", 2) if name == "later" else ("step", 1)
        until = "settings" if name.startswith("clipped") else until
        return run(Request(f"{PAIRS}:{name}", target=Target(target), until=until, steps=steps))

    with in_children(children):
        yield get


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "slot"),
    [
        ("of_adam", "adam.v"),
        ("of_rmsprop", "rmsprop.rms"),
        ("of_adagrad", "adagrad.accumulator"),
        ("of_a_compiled_model", "adam.v"),
        ("later", "adam.v"),
    ],
)
def test_rows_that_keras_3_squares_one_by_one_are_named(name: str, slot: str, verified: Verified) -> None:
    """With the slot that shows it, in the first step whose batch repeats a row."""
    cause = verified(name, "keras3").causes[0]

    assert KIND == cause.kind
    assert f"of step {int(name == 'later')} looks up" in cause.evidence[0]
    assert f"{slot} of TF2 is made of the sum of their squares, that of TF1 of the square" in cause.evidence[0]
    assert None not in (cause.tf1_place, cause.tf2_place)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("summed", "keras3"),
        ("summed_by_the_optimizer", "keras3"),
        ("squares_nothing", "keras3"),
        ("of_adam", "keras2"),
        ("of_rmsprop", "keras2"),
    ],
)
def test_what_is_to_be_done_makes_both_sides_equal(name: str, target: str, verified: Verified) -> None:
    """Gradients that are added up first, Keras 2; an optimizer that squares nothing is equal by itself."""
    found = verified(name, target)

    assert (0, ()) == (found.status, found.causes)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "target", "kinds"),
    [
        ("never_twice", "keras3", ("update rule",)),
        ("other_rate", "keras3", ("learning rate",)),
        ("other_epsilon", "keras2", ("update rule",)),
        ("other_loss", "keras3", ("loss",)),
    ],
)
def test_other_bugs_of_models_with_tables_are_no_matter_of_it(
    name: str, target: str, kinds: tuple[str, ...], verified: Verified
) -> None:
    """Whether a batch repeats rows or not."""
    assert kinds == tuple(cause.kind for cause in verified(name, target).causes)


@pytest.mark.tensorflow
def test_another_bug_comes_before_it_where_both_are_there(verified: Verified) -> None:
    """All updates differ then, and not those of the table alone."""
    kinds = [cause.kind for cause in verified("other_epsilon", "keras3").causes]

    assert ["update rule", KIND] == kinds


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", ["clipped_rows", "clipped_sums"])
def test_a_bound_that_no_step_reaches_is_not_the_same_for_rows_and_sums(
    name: str, target: str, verified: Verified
) -> None:
    """Rows that are clipped before those of one word are added have another norm than their sum."""
    report = verified(name, target)
    told = [words for words in report.not_compared if words.startswith("clipping of gradients (of table")]

    assert not [rung for rung in report.rungs if rung.number == "6" and rung.failures]
    assert (name == "clipped_sums") == bool(told)
    assert not told or "TF1 clips rows before those of one number are added, TF2 their sum" in told[0]
