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


def in_place(features, labels, mode):
    """Averages that the forward pass moves, by reference, and a loss that the step does not compute."""

    def weight(name, shape, start, trainable=True):
        start = v1.random_uniform_initializer(-1, 1, seed=1) if start is None else v1.constant_initializer(start)
        return v1.get_variable(name, shape, initializer=start, trainable=trainable, use_resource=False)

    kernel, bias = weight("scores/kernel", [6, 3], None), weight("scores/bias", [3], 0.5)
    mean = weight("norm/moving_mean", [6], 0.0, trainable=False)
    batch = tf.reduce_mean(features, 0)
    with tf.control_dependencies([v1.assign_sub(mean, 0.1 * (mean - batch))] if mode == "train" else []):
        scores = tf.matmul(features - batch, kernel) + bias
    if labels is None:
        return Spec(predictions=scores)
    loss = tf.reduce_sum(scores)
    return Spec(predictions=scores, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss))


def of_functions(features, labels, mode):
    """Two calls of a function that gets a weight first, and changes nothing."""

    @tf.function
    def product(kernel, x):
        return tf.matmul(x, kernel)

    kernel = v1.get_variable("scores/kernel", [6, 3], use_resource=True)
    scores = product(kernel, features)
    if labels is None:
        return Spec(predictions=scores)
    loss = tf.reduce_sum(scores * product(kernel, 2.0 * features))
    return Spec(predictions=scores, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss))


class InPlace(keras.Model):
    def __init__(self, decay=0.1):
        super().__init__()
        self.decay = decay
        self.norm, self.scores = keras.layers.Layer(name="norm"), keras.layers.Dense(3, name="scores")
        zeros = keras.initializers.Zeros()
        self.norm.moving_mean = self.norm.add_weight(shape=(6,), initializer=zeros, trainable=False, name="moving_mean")

    def call(self, inputs, training=False):
        batch = tf.reduce_mean(inputs, 0)
        if training:
            mean = self.norm.moving_mean
            mean.assign(mean - self.decay * (mean - batch))
        return self.scores(inputs - batch)


def in_place_step(model, inputs, labels):
    with tf.GradientTape() as tape:
        scores = model(inputs, training=True)
        loss = tf.reduce_sum(scores)
    weights = model.trainable_variables
    keras.optimizers.SGD(0.1).apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return Spec(predictions=scores, loss=loss)


def trained_and_clipped(features, labels, mode):
    spec = network(features, labels, mode)
    if labels is None:
        return spec
    weights = v1.trainable_variables()
    clips = [v1.assign(weight, tf.clip_by_value(weight, -0.01, 0.01)) for weight in weights]
    return Spec(predictions=spec.predictions, loss=spec.loss, train_op=tf.group(spec.train_op, *clips))


def pair(order, momentum=0.9, tf1=network):
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

    return Pair(tf1, make, rows, classes, train_step=step)


forwards, backwards, other_momentum = pair(1), pair(-1), pair(1, momentum=0.99)
functions = pair(1, tf1=of_functions)
never_clipped = pair(1, tf1=trained_and_clipped)
moved_once = Pair(in_place, InPlace, rows, classes, train_step=in_place_step)
moved_less = Pair(in_place, lambda: InPlace(0.05), rows, classes, train_step=in_place_step)
