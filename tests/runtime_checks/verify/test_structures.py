"""What users' functions return, told apart."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.worker.recording.pairs.pair import Spec
from migrate_lint.runtime_checks.worker.recording.pairs.structures import flat, results, step_results

X, Y, Z = np.zeros(1), np.ones(2), np.full(3, 2.0)
Pose = namedtuple("Pose", ["head", "tail"])


def paths(value: Any, single: str = "output") -> list[str]:
    return [path for path, _ in flat(value, single)]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (["output"], X),
        (["output"], [X]),
        (["output"], ([X],)),
        (["0", "1"], (X, Y)),
        (["logits"], {"logits": X}),
        (["a/0", "a/1", "b"], OrderedDict([("a", [X, Y]), ("b", Z)])),
        (["head", "tail/0"], Pose(X, [Y])),
        (["1"], (None, X)),
        ([], None),
        (["output"], 3.0),
    ],
)
def test_leaves_are_named_by_their_path(expected: list[str], value: Any):
    """None is left out and a lone leaf has the given name."""
    assert expected == paths(value)


def test_sparse_values_are_taken_apart():
    """By the name of their class, so that no TensorFlow is needed; the field that is missing is left out."""
    sparse = type("SparseTensor", (), {"indices": X, "values": Y, "dense_shape": Z})()

    assert ["in/indices", "in/values", "in/dense_shape"] == paths({"in": sparse})


def test_the_name_of_a_lone_leaf_is_the_callers():
    """``input`` for inputs."""
    assert ["input"] == paths(X, "input")


def test_outputs_and_endpoints():
    """A dict behind the outputs holds endpoints, also nested ones; what is no tensor is left out."""
    found = results((X, {"conv": Y, "block": {"a": Z}, "name": "net", "nothing": None}))

    assert found.outputs is X
    assert ["conv", "block/a"] == list(found.endpoints)


@pytest.mark.parametrize("value", [(X, Y), [X, {"a": Y}], ({"a": X}, {"b": Y}), Pose(X, {"a": Y}), {"a": X}])
def test_other_structures_are_outputs(value: Any):
    """A pair of dicts, a list and a named tuple are not outputs with endpoints."""
    found = results(value)

    assert found.outputs is value
    assert {} == found.endpoints


def test_a_spec_is_known_by_its_fields():
    """A named tuple like that of ``tf.estimator`` and our own."""
    estimator = namedtuple("EstimatorSpec", ["mode", "predictions", "loss", "train_op", "eval_metric_ops"])
    found = results(estimator("train", {"p": X}, Y, "op", {"acc": (X, Y)}))

    assert ({"p": X}, Y, "op", {"acc": (X, Y)}) == (found.outputs, found.loss, found.train_op, found.metrics)
    assert (None, None, {}) == (found.learning_rate, found.gradients, found.taps)
    assert results(Spec(loss=X)).loss is X


def test_gradients_are_named_by_their_variables():
    """From a dict or from pairs, without ``:0`` and without those that are None."""
    pairs = [(X, SimpleNamespace(name="a:0")), (None, SimpleNamespace(name="b:0"))]

    assert ["a"] == list(results(Spec(gradients=pairs)).gradients)
    assert ["c"] == list(results(Spec(gradients={"c:0": X, "d": None})).gradients)


def test_taps_may_be_nested():
    """Their paths are their names."""
    assert ["t/0", "t/1"] == list(results(Spec(taps={"t": [X, Y]})).taps)


@pytest.mark.parametrize(
    ("loss", "metrics", "value"),
    [
        (1.0, {}, 1.0),
        (1.0, {"mae": 2.0}, {"loss": 1.0, "mae": 2.0}),
        (1.0, {"mae": 2.0}, (1.0, {"mae": 2.0})),
        (1.0, {"1": 2.0}, [1.0, 2.0]),
        (None, {}, None),
        (1.0, {"mae": 2.0}, Spec(loss=1.0, eval_metric_ops={"mae": 2.0})),
    ],
)
def test_what_a_training_step_returns(loss: Any, metrics: Any, value: Any):
    """The loss alone or first, a dict with it, a spec, or nothing."""
    found = step_results(value)

    assert (loss, metrics) == (found.loss, found.metrics)
