"""What a step adds to its loss, or computes in training alone, by hand: the line that differs is the first cause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])
L2 = 0.02


def penalized(tf: Any, way: str, weights: Sequence[Any]) -> Any:
    """What is added to the loss of TF1, or to that of TF2 by hand: half the squares of the kernels times a factor."""
    kernels = [one for one in weights if "bias" not in one.name and len(one.shape) > 1]
    if way == "none":
        return 0.0
    if way == "one by one":
        return sum(L2 * tf.nn.l2_loss(one) for one in kernels)
    if way == "tenfold":
        return 10 * L2 * tf.add_n([tf.nn.l2_loss(one) for one in kernels])
    if way == "the last":
        return L2 * tf.nn.l2_loss(kernels[-1])
    if way == "absolute":
        return tf.add_n([L2 * tf.reduce_sum(tf.abs(one)) for one in kernels])
    return L2 * tf.add_n([tf.nn.l2_loss(one) for one in kernels])


def lost(tf: Any, way: str, out: Any, labels: Any) -> Any:
    """A loss by hand; each way is the sound one with one thing changed."""
    smooth = 0.9 * labels + 0.05 if way != "no smoothing" else labels  # no smoothing
    chances = tf.nn.sigmoid(out)
    least = 1e-2 if way == "another epsilon" else 1e-10
    sure, unsure = tf.math.log(least + chances), tf.math.log(least + 1 - chances)  # another epsilon
    errors = -(smooth * sure + (1 - smooth) * unsure)
    errors = tf.minimum(errors, 0.5 if way == "another limit" else 1.0)  # another limit
    if way != "no mask":
        errors = errors * tf.cast(labels < 0.5, tf.float32) + errors  # no mask
    whole = tf.reduce_mean(errors, 1) if way == "mean" else tf.reduce_sum(errors, 1)  # mean
    return tf.reduce_mean(whole)


def passed(tf: Any, way: str, hidden: Any) -> Any:
    """What is computed in training alone; each way is the sound one with one thing changed."""
    noise = tf.random.normal(tf.shape(hidden))
    if way == "uniform":
        noise = tf.random.uniform(tf.shape(hidden))
    deviation = tf.exp(hidden) if way == "no half" else tf.exp(0.5 * hidden)  # no half
    shrunk = hidden * (0.9 if way == "another factor" else 0.5)  # another factor
    if way != "no mean":
        shrunk = shrunk - tf.reduce_mean(hidden, 0)  # no mean
    shrunk = tf.maximum(shrunk, -0.5 if way == "another limit of training" else -0.1)  # another limit of training
    return shrunk + (deviation - noise if way == "sign" else deviation + noise)  # sign


def verified(changes: dict[str, str]) -> list[Any]:
    """In a child: how a network and its migration compare, the one with TF1's ways, the other with TF2's."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, Spec, verify

    v1 = tf.compat.v1

    def network(x: Any, labels: Any, training: bool) -> Any:
        hidden = v1.layers.dense(x, 4, name="hidden")
        if training and "training" in changes:
            hidden = passed(tf, "", hidden)
        out = v1.layers.dense(hidden, 2, name="out")
        loss = lost(tf, "", out, labels) + penalized(tf, changes.get("tf1", "none"), v1.trainable_variables())
        return Spec(out, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss) if training else None)

    class Migrated(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            factor = float(changes.get("regularizer", 0.0))
            how = tf.keras.regularizers.L2(factor) if factor else None
            self.hidden = tf.keras.layers.Dense(4, name="hidden", kernel_regularizer=how)
            self.out = tf.keras.layers.Dense(2, name="out", kernel_regularizer=how)

        def call(self, x: Any, training: bool = False) -> Any:
            hidden = self.hidden(x)
            return self.out(passed(tf, changes["training"], hidden) if training and "training" in changes else hidden)

    def train(model: Any, x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            out = model(x, training=True)
            loss = lost(tf, changes.get("loss", ""), out, labels)
            loss = loss + sum(model.losses) + penalized(tf, changes.get("tf2", "none"), model.trainable_variables)
        gradients = tape.gradient(loss, model.trainable_variables)
        for one, gradient in zip(model.trainable_variables, gradients, strict=True):
            one.assign_sub(0.1 * gradient)
        return loss

    def inputs(step: int) -> Any:
        return np.random.default_rng(step).normal(size=(8, 3)).astype(np.float32)

    def labels(step: int) -> Any:
        return np.random.default_rng(step).integers(2, size=(8, 2)).astype(np.float32)

    renames = {f"{name}/": f"migrated/{name}/" for name in ("hidden", "out")}
    pair = Pair(network, Migrated, inputs, labels, train_step=train, renames=renames)
    report = verify(pair, until="step", steps=1)
    return [report.status, [(one.kind, one.weight, list(one.evidence)) for one in report.causes], str(report)]


@cache
def mark(words: str) -> int:
    """The line that a change is at."""
    lines = Path(__file__).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if line.endswith(f"  # {words}"))


def lines(text: str) -> set[int]:
    return {int(found) for found in re.findall(rf"{Path(__file__).name}:(\d+)", text)}


PENALTIES = {
    "without the half": ({"tf1": "l2", "regularizer": "0.02"}, "to that of TF2 (", "2 times as much"),
    "left out": ({"tf1": "l2"}, "and nothing to that of TF2", ""),
    "tenfold": ({"tf1": "one by one", "tf2": "tenfold"}, "to that of TF2 (", "10 times as much"),
    "of one alone": ({"tf1": "l2", "tf2": "the last"}, "to that of TF2 (", "; that of hidden/kernel on TF1 alone"),
    "absolute": ({"tf1": "l2", "tf2": "absolute"}, "to that of TF2 (", ""),
    "half of it": ({"tf1": "l2", "regularizer": "0.005"}, "to that of TF2 (", "2 times as much on TF1"),
}


@EITHER
@pytest.mark.parametrize("name", PENALTIES)
def test_what_weights_add_to_a_loss_by_hand(children: Children, keras: str, name: str) -> None:
    """Both sums are told, with the lines where they begin; what regularizes on one side alone is no headline."""
    changes, *words = PENALTIES[name]
    status, causes, text = children.call(keras, verified, changes)
    kind, _, evidence = causes[0]

    assert (1, "regularization") == (status, kind), text
    assert all(one in evidence[0] for one in words), evidence
    assert re.search(rf"to the loss of TF1 \([^ ]*{Path(__file__).name}:\d+\)", evidence[0]), evidence
    assert "First divergence (rung 6, training, at step 0): loss" in text


@EITHER
@pytest.mark.parametrize("changes", [{"tf1": "l2", "regularizer": "0.01"}, {"tf1": "one by one", "tf2": "l2"}], ids=str)
def test_the_same_by_hand_and_by_regularizers(children: Children, keras: str, changes: dict[str, str]) -> None:
    """However it is written."""
    status, causes, text = children.call(keras, verified, changes)

    assert (0, []) == (status, causes), text


@EITHER
@pytest.mark.parametrize("way", ["no smoothing", "another epsilon", "another limit", "no mask", "mean"])
def test_the_line_of_a_loss_by_hand_is_named(children: Children, keras: str, way: str) -> None:
    """In the first cause, as in the headline."""
    status, causes, text = children.call(keras, verified, {"loss": way})
    kind, _, evidence = causes[0]

    assert (1, "loss") == (status, kind), text
    assert mark(way) in lines(evidence[0]), text
    assert mark(way) in lines(text.splitlines()[-1]), text


@EITHER
@pytest.mark.parametrize("way", ["no half", "another factor", "no mean", "another limit of training", "sign"])
def test_what_training_alone_computes_is_no_matter_of_chance(children: Children, keras: str, way: str) -> None:
    """Draws agree, and so does what is made of them until there; the loss differs since the pass does."""
    status, causes, text = children.call(keras, verified, {"training": way})
    kinds = [kind for kind, *_ in causes]

    assert (1, "forward") == (status, kinds[0]), text
    assert mark(way) in lines(causes[0][2][0]), text
    assert all(weight <= 0.3 for kind, weight, _ in causes if kind in ("loss", "randomness")), text


@EITHER
def test_another_draw_is_a_matter_of_chance(children: Children, keras: str) -> None:
    """Not of what is computed with it."""
    status, causes, text = children.call(keras, verified, {"training": "uniform"})

    assert (1, "randomness") == (status, causes[0][0]), text
