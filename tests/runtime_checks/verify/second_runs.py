"""Small pairs of which a first, brief run shows a difference, or none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras
RATE = 0.1


def rows(step):
    return np.random.default_rng(step).normal(size=(8, 3)).astype(np.float32)


def classes(step):
    return np.random.default_rng(step).integers(2, size=8)


def old(features, labels, mode):
    hidden = v1.layers.dense(features, 4, tf.nn.relu, name="hidden")
    scores = v1.layers.dense(hidden, 2, name="scores")
    if labels is None:
        return Spec(predictions=scores)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
    return Spec(predictions=scores, loss=loss, train_op=v1.train.GradientDescentOptimizer(RATE).minimize(loss))


def silent(features, labels, mode):
    """Gives nothing but zeros."""
    spec = old(features, labels, mode)
    return Spec(0.0 * spec.predictions, spec.loss, spec.train_op)


def new(activation="relu", rate=RATE, scale=1.0, **options):
    """What makes the TF2 side."""

    def make():
        last = keras.layers.Lambda(lambda scores: scores * scale) if scale != 1.0 else None
        parts = [keras.layers.Dense(4, activation, name="hidden"), keras.layers.Dense(2, name="scores"), last]
        model = keras.Sequential([keras.Input((3,)), *filter(None, parts)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.SGD(rate() if callable(rate) else rate, **options), loss)
        return model

    return make


def written():
    """A rate that stands in a file."""
    return float(Path(__file__).with_name("rate.txt").read_text("utf-8"))


def late():
    """A rate that is another one from the third step on."""
    return keras.optimizers.schedules.PiecewiseConstantDecay([1], [RATE, RATE / 2])


def pair(tf2, tf1=old):
    return Pair(tf1, tf2, rows, classes)


def telling(loss):
    """A side that runs itself."""

    def side(run):
        run.input(np.float32([1.0, 2.0]))
        run.variables({"w": np.float32([1.0, 2.0])})
        for step in range(run.steps):
            run.step()
            run.input(np.float32([step, step]))
            run.loss(loss / (step + 1))
            run.variables({"w": np.float32([0.5 / (step + 1), 0.2])})

    return side


equal = pair(new())
forward = pair(new("elu"))
first_step = pair(new(rate=2 * RATE))
later_step = pair(new(rate=late))
setting = pair(new(clipnorm=1e6))
slightly = pair(new(scale=1.00002))
from_a_file = pair(new(rate=written))
nothing = pair(new(scale=0.0), silent)
themselves = Pair(telling(2.0), telling(3.0), [1.0])
