"""Pairs of programs whose inference moves what they keep of their batches, on both sides or on TF2 alone."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair

v1 = tf.compat.v1
ROWS = np.random.default_rng(0).normal(1.0, 2.0, size=(16, 6)).astype(np.float32)


def moving(features):
    """As a network of slim that is built for training, and updates its averages in place."""
    hidden = v1.layers.dense(features, 8, name="hidden")
    mean = v1.get_variable("mean", [8], initializer=v1.zeros_initializer(), trainable=False)
    batch = tf.reduce_mean(hidden, 0)
    with tf.control_dependencies([v1.assign(mean, 0.9 * mean + 0.1 * batch)]):
        return hidden - batch


def still(features):
    hidden = v1.layers.dense(features, 8, name="hidden")
    v1.get_variable("mean", [8], initializer=v1.zeros_initializer(), trainable=False)
    return hidden - tf.reduce_mean(hidden, 0)


class Moving(tf.keras.Model):
    def __init__(self, begin=0.0):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(8, name="hidden")
        self.begin = begin

    def build(self, shape):
        begins = tf.keras.initializers.Constant(self.begin)
        self.mean = self.add_weight(name="mean", shape=(8,), initializer=begins, trainable=False)

    def call(self, features):
        hidden = self.hidden(features)
        batch = tf.reduce_mean(hidden, 0)
        self.mean.assign(0.9 * self.mean + 0.1 * batch)
        return hidden - batch


both = Pair(moving, Moving, ROWS)
alone = Pair(still, Moving, ROWS)
elsewhere = Pair(moving, lambda: Moving(0.5), ROWS)
