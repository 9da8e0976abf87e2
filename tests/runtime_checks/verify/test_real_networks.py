"""Programs as they are met in the wild: what is the same is called equal, what is not is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.verifying import Request, run

from ...interpreters import Children
from .test_guides import need, passed
from .workers import in_children

pytestmark = pytest.mark.tensorflow

PAIRS = Path(__file__).parent / "migrated.py"
EVERYTHING = {"1", "2", "3", "3f", "4", "6", "7", "8"}


Verified = Callable[..., Report]


@pytest.fixture
def beside(children: Children) -> Iterator[Verified]:
    """Verifies a pair that leaves TensorFlow as it was."""
    with in_children(children):
        yield verified


def verified(name: str, target: str, **options: Any) -> Report:
    need(target)
    return run(Request(f"{PAIRS}:{name}", target=Target(target), **options))


@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_a_policy_is_the_same(target: str, beside: Verified):
    """It draws in inference, has biases of four axes, decays weights in its loss, and rounds Adam's constants."""
    report = beside("policy", target)
    notes = " ".join(report.rung("constant").notes)

    assert (0, EVERYTHING, None) == (report.status, passed(report), report.first_divergence)
    assert "TF1 adds what regularizes to its loss itself" in notes


def test_another_spread_of_the_noise_in_inference_is_seen(beside: Verified):
    """The draw is the same on both sides, and so what is made of it is compared."""
    report = beside("louder", "keras2", until="fingerprint")

    failures = [one for number in ("3", "3f") for one in report.rung(number).failures]

    assert ["noisy", "noisy"] == [one.tf1_name for one in failures if one.kind == "output"]


def test_a_function_that_reads_its_own_data_is_the_same(beside: Verified):
    """Also in the evaluation after a later step, whose batch comes out of its own pipeline."""
    report = beside("reader", "keras2", until="steps")

    assert (0, EVERYTHING - {"8"}) == (report.status, passed(report))
    assert any("does not use its inputs" in note for note in report.sides[0].notes)


def test_a_loop_of_control_flow_v1_is_the_same():
    """The layer in it has no value that a session could give; lists in the TF2 side's code stay those of Python."""
    report = verified("loop", "keras2", until="random")
    ended = [side.cause for side in report.sides]

    assert (0, {"1", "2", "3", "3f", "4"}, [None, None]) == (report.status, passed(report), ended)


def test_what_keras_3_computes_otherwise_is_named(beside: Verified):
    """It takes the variance of a batch by n, and squares the rows of an embedding's gradient one by one."""
    need("keras3")
    report = beside("words", "keras3", until="step")
    evidence = {cause.kind: " ".join(cause.evidence) for cause in report.causes}

    assert "batch normalization of Keras 3 does so" in evidence["moving statistics"]
    assert "that of table differs, where the gradient comes as rows" in evidence["update rule"]
