"""Pairs whose variables stand for those of a large model, of which a recording keeps a part.

An embedding of which a batch touches few rows, a kernel that TF2 has transposed, one in another shape, and statistics
that nobody trains. ``WRONG`` has bugs that show in some of the elements only, or in slots and updates alone.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
WORDS, WIDTH, CLASSES, BATCH = 400, 6, 3, 8
RATE = 0.01


def words(step):
    """No word twice in a batch, to which Adam of Keras 3 does something else."""
    return np.random.RandomState(step).permutation(40)[: 2 * BATCH].reshape(BATCH, 2).astype(np.int32)


def classes(step):
    return np.random.RandomState(step).randint(0, CLASSES, BATCH)


def drawn(name, *shape):
    return np.random.RandomState(len(name)).uniform(-0.5, 0.5, shape).astype(np.float32)


def variable(name, *shape):
    return v1.get_variable(name, shape, initializer=v1.constant_initializer(drawn(name, *shape)))


def tf1(features, labels, mode):
    table = variable("table", WORDS, WIDTH)
    rows = tf.reshape(tf.nn.embedding_lookup(table, features), (-1, 2 * WIDTH))
    hidden = tf.matmul(rows, variable("turned", 2 * WIDTH, 20))
    mean = v1.get_variable("mean", (20,), initializer=v1.zeros_initializer(), trainable=False)
    hidden = tf.tanh(tf.matmul(hidden - mean, variable("shaped", 20, 8)))
    logits = tf.matmul(hidden, variable("top", 8, CLASSES))
    if mode == "infer":
        return Spec(logits)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    moved = mean.assign_sub(0.1 * (mean - tf.reduce_mean(rows)))
    with tf.control_dependencies([moved]):
        train_op = v1.train.AdamOptimizer(RATE).minimize(loss, v1.train.get_or_create_global_step())
    return Spec(logits, loss, train_op)


class Model(tf.keras.Model):
    """The TF2 side, with a bug of one of the kinds in `WRONG`."""

    def __init__(self, bug=""):
        super().__init__()
        self.bug = bug

    def build(self, shape):
        more = 1 if self.bug == "a longer table" else 0
        self.table = self.weight("table", np.pad(drawn("table", WORDS, WIDTH), ((0, more), (0, 0))))
        self.turned = self.weight("turned", drawn("turned", 2 * WIDTH, 20).T)
        self.shaped = self.weight("shaped", drawn("shaped", 20, 8).reshape(4, 5, 8))
        self.top = self.weight("top", drawn("top", 8, CLASSES))
        self.mean = self.add_weight(name="mean", shape=(20,), initializer="zeros", trainable=False)

    def weight(self, name, value):
        return self.add_weight(name=name, shape=value.shape, initializer=lambda *_, **__: tf.constant(value))

    def call(self, features, training=False):
        table = self.table
        if self.bug == "a row":
            held = tf.constant([[row == 22] for row in range(WORDS)])
            table = tf.where(held, tf.stop_gradient(table), table)
        rows = tf.reshape(tf.gather(table, features), (-1, 2 * WIDTH))
        hidden = tf.matmul(rows, self.turned, transpose_b=True) - self.mean
        if training:
            self.mean.assign_sub(0.1 * (self.mean - tf.reduce_mean(rows)))
        shaped = tf.reshape(self.shaped, (20, 8))
        return tf.matmul(tf.tanh(tf.matmul(hidden, shaped)), self.top)


def tf2(bug=""):
    def make():
        model = Model(bug)
        rate = RATE if bug != "rate" else 1.01 * RATE
        betas = {"beta_2": 0.9} if bug == "beta" else {}
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.Adam(rate, epsilon=1e-3 if bug == "epsilon" else 1e-8, **betas), loss)
        return model

    return make


def pair(bug=""):
    return Pair(
        tf1,
        tf2(bug),
        words,
        classes,
        name=bug or "sound",
        transposes={"turned": (1, 0)},
        reshapes=["shaped"],
    )


WRONG = ("a row", "rate", "beta", "epsilon")
PAIRS = {name: pair(name) for name in ("", "a longer table", *WRONG)}
