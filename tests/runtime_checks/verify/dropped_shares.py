"""Pairs whose sides drop shares in training: the same ones, or others; the sides drop in ways of their own."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def rows(step):
    return np.random.default_rng(step).normal(size=(16, 6)).astype(np.float32)


def classes(step):
    return np.random.default_rng(step).integers(3, size=16)


def by_keep_prob(x, rate, training):
    return v1.nn.dropout(x, keep_prob=1.0 - rate) if training else x  # dropped by TF1


def by_layer(x, rate, training):
    return v1.layers.dropout(x, rate, training=training)  # dropped by TF1


def by_tensor(x, rate, training):
    """The probability to keep is computed, as that of a placeholder is."""
    keep = tf.constant(1.0) - tf.cast(tf.constant(rate), tf.float32) if training else tf.constant(1.0)
    return v1.nn.dropout(x, keep_prob=keep)  # dropped by TF1


def by_floor(x, rate, training):
    """As TensorFlow did it before 1.13, and as it is written by hand."""
    mask = tf.floor(v1.random_uniform(tf.shape(x)) + (1.0 - rate))  # dropped by TF1
    return x / (1.0 - rate) * mask if training else x


def by_branch(x, rate, training):
    """A flag that is fed: what is drawn in the branch is hidden from a session."""
    return v1.layers.dropout(x, rate, training=v1.placeholder_with_default(training, []))  # dropped by TF1


def old(*drops, loss=1.0, epsilon=1e-7):
    """A network that drops after each of its layers but the last one; `drops` are the ways, each with its rate."""

    def network(features, labels, mode):
        x = features
        for at, (drop, rate) in enumerate(drops):
            x = v1.layers.dense(x, 16 + 8 * at, tf.nn.tanh, name=f"hidden_{at}")
            x = drop(x, rate, mode == "train") if drop else x
        scores = v1.layers.dense(x, 3, name="scores")
        if labels is None:
            return Spec(predictions=scores)
        loss_ = loss * v1.losses.sparse_softmax_cross_entropy(labels, scores)
        train_op = v1.train.AdamOptimizer(0.01, epsilon=epsilon).minimize(loss_)
        return Spec(predictions=scores, loss=loss_, train_op=train_op)

    return network


class Functions(keras.layers.Layer):
    """Drops by a function of TensorFlow."""

    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def call(self, x, training=False):
        return tf.nn.dropout(x, rate=self.rate) if training else x  # dropped by TF2


def new(*drops):
    """What makes the TF2 side of such a network; `drops` make a layer each, or are None."""

    def make():
        parts = [keras.Input((6,))]
        for at, drop in enumerate(drops):
            parts.append(keras.layers.Dense(16 + 8 * at, "tanh", name=f"hidden_{at}"))
            parts += [] if drop is None else [drop()]
        model = keras.Sequential([*parts, keras.layers.Dense(3, name="scores")])
        model.compile(keras.optimizers.Adam(0.01, epsilon=1e-7), LOSS)
        return model

    return make


def layer(rate):
    return lambda: keras.layers.Dropout(rate)  # dropped by TF2


def function(rate):
    return lambda: Functions(rate)


def pair(tf1, tf2):
    return Pair(tf1, tf2, rows, classes)


inverted = pair(old((by_keep_prob, 0.2)), new(layer(0.8)))
other = pair(old((by_layer, 0.5)), new(function(0.4)))
computed = pair(old((by_tensor, 0.1)), new(layer(0.9)))
floored = pair(old((by_floor, 0.3)), new(function(0.7)))
second = pair(old((by_keep_prob, 0.2), (by_layer, 0.5)), new(layer(0.2), layer(0.3)))
branch = pair(old((by_branch, 0.2)), new(layer(0.8)))
forgotten = pair(old((by_keep_prob, 0.3)), new(None))
forgotten_one = pair(old((by_keep_prob, 0.3), (by_layer, 0.3)), new(layer(0.3), None))

sound = pair(old((by_floor, 0.3), (by_tensor, 0.2)), new(layer(0.3), function(0.2)))
other_epsilon = pair(old((by_keep_prob, 0.2), epsilon=1e-3), new(layer(0.2)))
other_loss = pair(old((by_branch, 0.2), loss=2.0), new(layer(0.2)))


def old_twice(features, labels, mode):
    """A network that is called for what it is given and for its opposite, as a discriminator for both its batches."""

    def scored(x):
        with v1.variable_scope(v1.get_variable_scope(), reuse=v1.AUTO_REUSE):
            hidden = by_keep_prob(v1.layers.dense(x, 16, tf.nn.tanh, name="hidden_0"), 0.3, mode == "train")
            return v1.layers.dense(hidden, 3, name="scores")

    scores = scored(features)
    if labels is None:
        return Spec(predictions=scores)
    loss = sum(v1.losses.sparse_softmax_cross_entropy(labels, one) for one in (scores, scored(-features)))
    return Spec(predictions=scores, loss=loss, train_op=v1.train.AdamOptimizer(0.01, epsilon=1e-7).minimize(loss))


def old_in_a_loop(features, labels, mode):
    """A dropout in each turn of a loop, and one behind it, of the same shape as that of a turn."""
    cell = v1.nn.rnn_cell.LSTMCell(8)
    if mode == "train":
        cell = v1.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.8)
    out = tf.reduce_mean(v1.nn.dynamic_rnn(cell, tf.reshape(features, [-1, 3, 2]), dtype=tf.float32)[0], 1)
    scores = v1.layers.dense(by_keep_prob(out, 0.2, mode == "train"), 3, name="scores")
    if labels is None:
        return Spec(predictions=scores)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
    return Spec(scores, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss))


def new_in_a_loop(rate):
    def make():
        named = ("kernel_initializer", "recurrent_initializer")
        cells = {name: keras.initializers.RandomUniform(-((6 / 42) ** 0.5), (6 / 42) ** 0.5) for name in named}
        cells["return_sequences"] = True
        parts = [keras.Input((6,)), keras.layers.Reshape((3, 2)), keras.layers.LSTM(8, **cells), layer(rate)()]
        parts += [keras.layers.GlobalAveragePooling1D(), layer(rate)(), keras.layers.Dense(3, name="scores")]
        model = keras.Sequential(parts)
        model.compile(keras.optimizers.SGD(0.1), LOSS)
        return model

    return make


in_a_loop, inverted_in_a_loop = (pair(old_in_a_loop, new_in_a_loop(rate)) for rate in (0.2, 0.8))


def twice(**second):
    def step(model, inputs, labels):
        with tf.GradientTape() as tape:
            loss = LOSS(labels, model(inputs, training=True)) + LOSS(labels, model(-inputs, **second))
        weights = model.trainable_variables
        model.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return Pair(old_twice, new(layer(0.3)), rows, classes, train_step=step)


both_calls, one_call = twice(training=True), twice()
