"""Training loops that are interrupted and resumed for real: which state each of them loses, on both Keras."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest

from ..interpreters import Children
from . import resume_loops
from .resume_loops import ALONE, LOST, SOUND

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

TARGETS = ("keras2", "keras3")
HOWS = {"everything": "sigkill", "eager": "sigterm", "old_optimizer": "saving"}
_found: dict[str, dict[str, Any]] = {}


@pytest.fixture(params=TARGETS)
def found(request: pytest.FixtureRequest, children: Children) -> dict[str, Any]:
    """What was found of all loops on a target: one interpreter runs them all."""
    target = request.param
    if target not in _found:
        with tempfile.TemporaryDirectory() as folder:
            names = [*SOUND, *LOST, *ALONE[target]]
            _found[target] = children.call(target, resume_loops.audits, names, HOWS, folder, alone=True)
    return _found[target]


@pytest.mark.parametrize("name", SOUND)
def test_a_loop_that_restores_everything_loses_nothing(name: str, found: dict[str, Any]) -> None:
    """However it was interrupted: weights, slots, data, random numbers and dropout go on to the last bit."""
    one = found[name]

    assert ("equal", "", []) == (one["status"], one["raised"], one["lost"])
    assert 0 < one["resumed"] < one["total"] == one["resumed"] + one["steps"]
    assert 0.0 == one["weights_apart"]


@pytest.mark.parametrize("name", [*LOST, *ALONE["keras2"], *ALONE["keras3"]])
def test_what_a_loop_leaves_out_is_named_first(name: str, found: dict[str, Any]) -> None:
    """In the order of proof; nothing that follows from it is told."""
    expected = {**LOST, **ALONE["keras2"], **ALONE["keras3"]}[name]
    if name not in found:
        pytest.skip("run with the other Keras")
    one = found[name]

    assert ("lost" if expected else "equal", "") == (one["status"], one["raised"])
    assert expected == list(dict.fromkeys(lost["kind"] for lost in one["lost"]))


def test_the_first_loss_says_what_it_can(found: dict[str, Any]) -> None:
    """It is the same without the optimizer, and another one with another batch or other noise."""
    assert 0.0 == found["no_optimizer"]["loss_apart"] < found["no_optimizer"]["weights_apart"]
    assert min(found[name]["loss_apart"] for name in ("no_iterator", "no_generator", "model_alone")) > 0.001


def test_the_batch_that_came_again_is_told(found: dict[str, Any]) -> None:
    """By its number in the uninterrupted run."""
    assert "batch 0 again, in place of batch 4" == found["no_iterator"]["lost"][0]["detail"]


def test_a_checkpoint_that_is_only_opened_is_told(found: dict[str, Any]) -> None:
    """With the rule that finds it."""
    assert "restores nothing (TF502)" in found["only_read"]["lost"][0]["detail"]
