"""What the policies tolerate, what a policy file may say, and how differences are measured."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.judging.measuring import measure
from migrate_lint.runtime_checks.comparison.judging.tolerances import (
    GUIDE,
    NOISE,
    PolicyError,
    Subject,
    Tolerance,
    coarser,
    load,
    named,
    table,
)
from migrate_lint.runtime_checks.worker.recording.format import scenarios

OUTPUT = Subject(scenarios.INFERENCE, "output", ("output", "output"), "float32")
LOSS = Subject(scenarios.STEPS, "loss", ("loss", "loss"), "float32")


def written(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (OUTPUT, (1e-6, 1e-5)),
        (LOSS, (1e-7, 1e-5)),
        (LOSS._replace(step=9), (1e-7, 1e-5)),
        (LOSS._replace(step=10), (0.05, 0.0)),
        (LOSS._replace(kind="learning_rate", step=50), (1e-7, 0.0)),
        (LOSS._replace(kind="tap", step=2), (1e-7, 0.0)),
        (LOSS._replace(kind="tap", step=2, declared=False), (1e-6, 1e-5)),
        (LOSS._replace(kind="evaluation", step=99, always=True), (1e-3, 1e-4)),
        (LOSS._replace(kind="variable", step=99), (0.05, 1e-5)),
    ],
)
def test_the_guide_holds_values_to_what_its_tests_write(subject: Subject, expected: tuple[float, float]) -> None:
    """The loss of the first ten steps, then five percent; forward passes, layers and rates."""
    assert expected == GUIDE.tolerance(subject)[:2]


def test_the_guide_judges_no_updates() -> None:
    """They are derived, and the guides know nothing of them."""
    assert not GUIDE.tolerance(LOSS._replace(kind="update")).judged


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float16", (1e-3, 1e-5)),
        ("bfloat16", (1.6e-2, 1e-5)),
        ("float32", (1.3e-6, 1e-5)),
        ("float64", (1e-7, 1e-7)),
        ("int64", (0.0, 0.0)),
        ("bool", (0.0, 0.0)),
    ],
)
def test_noise_never_asks_for_more_than_the_table(dtype: str, expected: tuple[float, float]) -> None:
    """Which is that of torch.testing.assert_close."""
    assert expected == NOISE.tolerance(OUTPUT._replace(dtype=dtype))[:2] == table(dtype)


def test_noise_tolerates_three_times_the_floor() -> None:
    """Where that is more than the table."""
    assert Tolerance(1.3e-6, 3e-3) == NOISE.tolerance(OUTPUT._replace(floor=1e-3))


def test_small_rates_and_gradients_are_held_to_their_own_scale() -> None:
    """1e-5 would hide a learning rate that is off by a tenth."""
    rate = LOSS._replace(kind="learning_rate", scale=1e-4)

    assert 1e-9 == pytest.approx(NOISE.tolerance(rate).atol)
    assert 1e-5 == pytest.approx(NOISE.tolerance(rate._replace(kind="output")).atol)


def test_updates_are_allowed_the_rounding_of_the_constants_of_the_optimizer() -> None:
    """1 - 0.999 in float32 is off by 1.3e-5 of itself."""
    off = abs(float(np.float32(1) - np.float32(0.999)) / 0.001 - 1)
    update = LOSS._replace(kind="slot", gain=1000.0)

    assert 1e-5 < off < NOISE.tolerance(update).rtol < 1e-4


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("float32", "float16", "float16"),
        ("float64", "float32", "float32"),
        ("bfloat16", "float16", "bfloat16"),
        ("int32", "float32", "float32"),
        ("float32", "int32", "float32"),
        ("int32", "int64", "int32"),
        ("float8_e4m3fn", "float32", "float8_e4m3fn"),
    ],
)
def test_the_coarser_dtype_decides(one: str, other: str, expected: str) -> None:
    """Whichever side it is on."""
    assert expected == coarser(one, other)


# Files


def test_the_first_rule_that_fits_counts(tmp_path: Path) -> None:
    """By kind, name, dtype, scenario and step."""
    policy = load(
        written(
            tmp_path,
            """
base = "guide"
[[rule]]
kind = ["loss", "metric"]
steps = [5]
rtol = 0.01
[[rule]]
name = "dense*"
dtype = "float16"
scenario = "steps"
rtol = 0.5
atol = 0.25
[[rule]]
kind = "slot"
skip = true
""",
        )
    )
    dense = LOSS._replace(kind="variable", names=("a", "dense/kernel"), dtype="float16")

    assert Tolerance(0.01, 1e-5) == policy.tolerance(LOSS._replace(step=5))
    assert Tolerance(1e-7, 1e-5) == policy.tolerance(LOSS._replace(step=4))
    assert Tolerance(0.5, 0.25) == policy.tolerance(dense)
    assert Tolerance(1e-6, 1e-5) == policy.tolerance(dense._replace(dtype="float32"))
    assert not policy.tolerance(LOSS._replace(kind="slot")).judged
    assert policy.tolerance(LOSS._replace(kind="slot", always=True)).judged


def test_steps_have_an_end(tmp_path: Path) -> None:
    """Both ends belong to it."""
    policy = load(written(tmp_path, '[[rule]]\nkind = "loss"\nsteps = [2, 3]\natol = 1\n'))

    assert [False, True, True, False] == [policy.tolerance(LOSS._replace(step=step)).atol == 1 for step in range(1, 5)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("factor = ", "Invalid value"),
        ('base = "strict"', 'base: "guide" or "noise" is expected'),
        ("factor = -1", "factor: a number from 0 on"),
        ("factor = nan", "factor: a number from 0 on"),
        ("tolerance = 1", "tolerance: there is no such key"),
        ("rule = 3", r"rule: tables \[\[rule\]\]"),
        ("[[rule]]\nrtol = true", "rule 1: rtol: a number"),
        ("[[rule]]\nrtoll = 1", "rule 1: rtoll: there is no such key"),
        ('[[rule]]\nrtol = 1\n[[rule]]\nkind = "losses"\natol = 1', "rule 2: kind: 'losses' is none of data, "),
        ("[[rule]]\nkind = []\natol = 1", "rule 1: kind: a text or a list"),
        ("[[rule]]\nsteps = [3, 1]\natol = 1", "rule 1: steps: the first, 3, comes after the last, 1"),
        ("[[rule]]\nsteps = 3\natol = 1", r"rule 1: steps: \[first\] or \[first, last\]"),
        ('[[rule]]\nkind = "loss"', "rule 1: it says neither rtol nor atol nor skip"),
        ("[[rule]]\nskip = 1", "rule 1: skip: true or false"),
        ('[[rule]]\nscenario = "step"\nrtol = 1', "rule 1: scenario: 'step' is none of aligned, aligned-nudged, c"),
    ],
)
def test_a_wrong_policy_file_is_named_with_its_key(tmp_path: Path, text: str, words: str) -> None:
    """The error leads to the line."""
    with pytest.raises(PolicyError, match=f"policy.toml.*{words}"):
        load(written(tmp_path, text))


def test_a_missing_policy_file_is_named(tmp_path: Path) -> None:
    """A misspelt name of a policy is taken for a file."""
    assert (GUIDE, NOISE, GUIDE) == (named("guide"), named("noise"), named(GUIDE))
    with pytest.raises(PolicyError, match="strict: No such file"):
        named(tmp_path / "strict")


# Measuring


def array(*values: object, dtype: str = "float32") -> object:
    return np.array(values, dtype)


def test_the_worst_element_is_the_one_that_exceeds_its_tolerance_most() -> None:
    """Not the one with the largest difference."""
    found = measure(np.array([[1.0, 100.0]]), np.array([[1.5, 101.0]]), 0.1, 0.0)

    assert ((0, 0), 1.0, 1.5, 5.0) == (found.at, found.tf1_value, found.tf2_value, pytest.approx(found.excess))
    assert (1.0, 0.5, 0.5) == (found.error, found.relative, found.needed_rtol)
    assert not found.passed


@pytest.mark.parametrize(
    ("one", "other", "passed", "problem"),
    [
        (array(1.0), array(math.nan), False, "NaN on the TF2 side"),
        (array(math.nan), array(math.nan), False, "NaN on both sides"),
        (array(math.inf), array(math.inf), True, ""),
        (array(math.inf), array(-math.inf), False, ""),
        (array(1.0), array(math.inf), False, ""),
        (array(math.inf), array(1.0), False, ""),
        (array(1.0), array(1.0, 2.0), False, r"the shapes differ: [1] and [2]"),
        (array(1, dtype="int64"), array(2, dtype="int64"), False, ""),
        (array(True, dtype="bool"), array(True, dtype="bool"), True, ""),
        (array(1j, dtype="complex64"), array(1j, dtype="complex64"), True, ""),
        (array("a", dtype="str"), array("b", dtype="str"), False, "texts differ"),
        (array("a", dtype="str"), array("a", dtype="str"), True, ""),
        (array(), array(), True, ""),
    ],
)
def test_odd_values_are_measured(one: object, other: object, passed: bool, problem: str) -> None:
    """NaN is never equal; equal infinities are; nothing raises."""
    found = measure(one, other, 0.1, 0.0)

    assert (passed, problem) == (found.passed, found.problem)


def test_a_difference_from_zero_needs_an_absolute_tolerance() -> None:
    """No relative one would have passed."""
    assert math.inf == measure(np.zeros(1), np.ones(1), 0.1, 0.0).needed_rtol
    assert measure(np.zeros(1), np.ones(1), 0.1, 1.0).passed
