"""Pairs whose TF1 side normalizes two batches in a step, and leaves open which of them moves the averages first."""

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


def network(features, labels, mode):
    def scored(x):
        with v1.variable_scope(v1.get_variable_scope(), reuse=v1.AUTO_REUSE):
            x = v1.layers.batch_normalization(x, momentum=0.9, training=mode == "train", name="norm")
            return v1.layers.dense(x, 3, name="scores")

    scores = scored(features)
    if labels is None:
        return Spec(predictions=scores)
    loss = sum(v1.losses.sparse_softmax_cross_entropy(labels, one) for one in (scores, scored(3.0 - 2.0 * features)))
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    return Spec(predictions=scores, loss=loss, train_op=train_op)


def pair(order, momentum=0.9):
    """The TF2 side has one order; `order` says which."""

    def make():
        norm = keras.layers.BatchNormalization(momentum=momentum, name="norm")
        model = keras.Sequential([keras.Input((6,)), norm, keras.layers.Dense(3, name="scores")])
        model.compile(keras.optimizers.SGD(0.1), LOSS)
        return model

    def step(model, inputs, labels):
        with tf.GradientTape() as tape:
            scores = [model(x, training=True) for x in (inputs, 3.0 - 2.0 * inputs)[::order]][::order]
            loss = LOSS(labels, scores[0]) + LOSS(labels, scores[1])
        weights = model.trainable_variables
        model.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return Spec(predictions=scores[0], loss=loss)

    return Pair(network, make, rows, classes, train_step=step)


forwards, backwards, other_momentum = pair(1), pair(-1), pair(1, momentum=0.99)
