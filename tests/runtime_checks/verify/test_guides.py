"""The training pipeline of the guides: an Estimator's `model_fn` and the Keras model that it became are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, compare, run

from ...interpreters import Children
from .workers import in_children

pytestmark = pytest.mark.tensorflow

PAIRS = Path(__file__).parent / "guide_pairs.py"
EXAMPLE = Path(__file__).parents[3] / "examples" / "verify" / "pair.py"
LOSSES = (1.5084989, 1.5041211, 1.4997888)
"""Of the first three steps, under TensorFlow >= 2.10; found by the code of the guide."""
RUNGS = {"1", "2", "3", "3f", "4", "6", "7", "8"}
"""Those that need no more than a pair."""


@cache
def tensorflow() -> tuple[int, ...]:
    for name in ("tensorflow", "tensorflow-cpu"):
        try:
            return tuple(int(part) for part in metadata.version(name).split(".")[:2])
        except metadata.PackageNotFoundError:
            continue
    pytest.skip("this TensorFlow does not say which one it is")


def need(target: str) -> None:
    if target == "keras3" and tensorflow() < (2, 16):
        pytest.skip("keras3 needs TensorFlow 2.16 or later")
    tensorflow()


def verified(pair: str, target: str, **options: Any) -> Report:
    need(target)
    return run(Request(pair, target=Target(target), **options))


def passed(report: Report) -> set[str]:
    return RUNGS & {rung.number for rung in report.rungs if rung.status is Status.PASS}


Compared = Callable[[str, str], Report]


@pytest.fixture(scope="module", autouse=True)
def _workers(children: Children) -> Iterator[None]:
    with in_children(children):
        yield


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """A hundred steps of the example by target and policy; each target is recorded when it is first asked for."""

    @cache
    def recorded(target: str) -> tuple[Path, Report]:
        folder = tmp_path_factory.mktemp(target)
        return folder, verified(str(EXAMPLE), target, steps=100, output=str(folder))

    def get(target: str, policy: str) -> Report:
        folder, noise = recorded(target)
        return noise if policy == "noise" else compare(folder, policy=policy)

    return get


@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_a_hundred_steps_are_equal_under_both_policies(target: str, compared: Compared):
    """One recording, compared twice; the losses are those of the guide."""
    noise, guide = compared(target, "noise"), compared(target, "guide")
    (losses,) = (series for series in noise.series if series.kind == "loss")

    assert (0, RUNGS) == (noise.status, passed(noise))
    assert (0, RUNGS) == (guide.status, passed(guide))
    assert list(range(100)) == list(losses.steps)
    np.testing.assert_allclose(losses.tf1[:3], LOSSES, rtol=1e-6)
    np.testing.assert_allclose(losses.tf2, losses.tf1, rtol=1e-6)


@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", ["own_step", "loop", "batches"])
def test_three_steps_are_equal_however_the_model_is_trained(name: str, target: str):
    """By a train_step of its own, by the user's loop, and with another batch in every step."""
    report = verified(f"{PAIRS}:{name}", target, policy="guide")

    assert (0, RUNGS) == (report.status, passed(report))


def test_the_report_says_what_was_adapted(compared: Compared):
    """What stands for the Estimator that is gone, which Keras the TF1 side had, and that weights were copied."""
    report = compared("keras3" if tensorflow() >= (2, 16) else "keras2", "guide")
    tf1, tf2 = ("\n".join(side.adaptations) for side in report.sides)

    assert (tensorflow() >= (2, 16)) is ("has no tf.estimator: ModeKeys and EstimatorSpec are stand-ins" in tf1)
    assert (tensorflow() >= (2, 16)) is ("the TF1 side ran with Keras 2" in tf1)
    assert "the initial values of 6 variables were copied from the TF1 side" in tf2


def test_layers_are_compared_in_every_step(compared: Compared):
    """The taps that the pair names, as the guide logs the outputs of its layers."""
    report = compared("keras2", "guide")
    taps = {
        (check.tf1_name, check.step) for check in report.rung("steps").checks if check.kind == "tap" and check.counts
    }

    assert {(name, step) for name in ("layer 1", "layer 2", "logits") for step in (1, 2)} <= taps
