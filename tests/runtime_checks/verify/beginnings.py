"""Pairs whose weights TF1's one initializer gives numbers of their own."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
ROWS = np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32)


def old(seed=None):
    def network(features, labels, mode):
        start = v1.random_normal_initializer(stddev=0.1, seed=seed)
        hidden = v1.layers.dense(features, 6, tf.nn.tanh, kernel_initializer=start, name="one")
        scores = v1.layers.dense(hidden, 4, kernel_initializer=start, name="two")
        loss = tf.reduce_mean(tf.square(scores))
        return Spec(scores, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss))

    return network


def new(*starts):
    def model():
        layers = [
            tf.keras.layers.Dense(6, "tanh", kernel_initializer=starts[0], name="one"),
            tf.keras.layers.Dense(4, kernel_initializer=starts[-1], name="two"),
        ]
        return tf.keras.Sequential(layers)

    return model


def normal(seed=None):
    return tf.keras.initializers.RandomNormal(stddev=0.1, seed=seed)


def step(model, inputs, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(inputs, training=True)))
    weights = model.trainable_variables
    for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
        weight.assign_sub(0.1 * gradient)
    return loss


shared = Pair(old(), new(normal()), ROWS, train_step=step)
apart = Pair(old(), new(normal(), normal()), ROWS, train_step=step)
seeded = Pair(old(3), new(normal(3)), ROWS, train_step=step)


def with_a_copy(features, labels, mode):
    """A second network that the program copies the first one into, and does not train."""
    start = v1.random_normal_initializer(stddev=0.1)
    loss = tf.reduce_mean(tf.square(v1.layers.dense(features, 6, kernel_initializer=start, name="one")))
    target = v1.layers.dense(features, 6, kernel_initializer=start, name="two")
    train = [v for v in v1.trainable_variables() if v.name.startswith("one")]
    step = v1.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=train)
    return Spec(target, loss + 0.0 * tf.reduce_mean(target), step)


class Copied(tf.keras.Model):
    def __init__(self):
        super().__init__()
        start = tf.keras.initializers.RandomNormal(stddev=0.1)
        self.one = tf.keras.layers.Dense(6, kernel_initializer=start, name="one")
        self.two = tf.keras.layers.Dense(6, kernel_initializer=start, name="two")

    def call(self, features):
        self.first = self.one(features)
        return self.two(features)


def step_of_one(model, inputs, labels):
    with tf.GradientTape() as tape:
        target = model(inputs)
        loss = tf.reduce_mean(tf.square(model.first)) + 0.0 * tf.reduce_mean(target)
    weights = model.one.trainable_variables
    for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
        weight.assign_sub(0.1 * gradient)
    return loss


copied = Pair(with_a_copy, Copied, ROWS, train_step=step_of_one)


def dropping(features, labels, mode):
    """A network that drops in inference, too."""
    hidden = tf.nn.dropout(v1.layers.dense(features, 6, name="one"), rate=0.5)
    return Spec(v1.layers.dense(hidden, 4, name="two"))


class Dropping(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.one, self.two = tf.keras.layers.Dense(6, name="one"), tf.keras.layers.Dense(4, name="two")
        self.drop = tf.keras.layers.Dropout(0.5)

    def call(self, features, training=False):
        return self.two(self.drop(self.one(features), training=True))


def called_already():
    """A program may call its model so that its variables are there."""
    model = Dropping()
    model(tf.zeros([1, 6]))
    return model


drawn = Pair(dropping, called_already, ROWS)
