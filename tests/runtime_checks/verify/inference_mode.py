"""Pairs whose TF2 side trains as it infers: nothing tells its layers of training, in one way or another."""

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
    return np.random.default_rng(step).integers(2, size=16)


def old(drops, norms, always=False):
    def network(features, labels, mode):
        training = always or mode == "train"
        hidden = v1.layers.dense(features, 8, name="hidden")
        if norms:
            hidden = v1.layers.batch_normalization(hidden, training=training, name="norm")
        if drops:
            hidden = v1.layers.dropout(hidden, 0.5, training=training)
        scores = v1.layers.dense(hidden, 2, name="scores")
        if labels is None:
            return Spec(predictions=scores)
        loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        return Spec(predictions=scores, loss=loss, train_op=train_op)

    return network


def layers(drops, norms):
    norm = [keras.layers.BatchNormalization(name="norm")] if norms else []
    drop = [keras.layers.Dropout(0.5, name="drop")] if drops else []
    return [keras.layers.Dense(8, name="hidden"), *norm, *drop, keras.layers.Dense(2, name="scores")]


def functional(drops, norms):
    inputs = x = keras.Input((6,))
    for layer in layers(drops, norms):
        x = layer(x)
    return keras.Model(inputs, x)


class Passing(keras.Model):
    def __init__(self, drops, norms):
        super().__init__()
        self.hidden, *self.told, self.scores = layers(drops, norms)

    def call(self, x, training=False):
        x = self.hidden(x)
        for layer in self.told:
            x = layer(x, training=training)
        return self.scores(x)


class Forgetting(Passing):
    def call(self, x):
        return super().call(x)


class Always(Passing):
    def call(self, x):
        return super().call(x, training=True)


class OwnStep(keras.Sequential):
    def train_step(self, data):
        rows, classes = data
        with tf.GradientTape() as tape:
            loss = LOSS(classes, self(rows))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"loss": loss}


def own_step():
    model = OwnStep(layers(True, True))
    model.compile(keras.optimizers.SGD(0.1), LOSS)
    return model


def descended(model, classes, call):
    with tf.GradientTape() as tape:
        loss = LOSS(classes, call())
    for variable, gradient in zip(
        model.trainable_variables, tape.gradient(loss, model.trainable_variables), strict=True
    ):
        variable.assign_sub(0.1 * gradient)
    return loss


def untold(model, rows, classes):
    return descended(model, classes, lambda: model(rows))


def told(model, rows, classes):
    return descended(model, classes, lambda: model(rows, training=True))


def pair(drops, norms, make, step):
    return Pair(old(drops, norms), make, rows, classes, train_step=step)


dropout = pair(True, False, lambda: keras.Sequential(layers(True, False)), untold)
norm = pair(False, True, lambda: keras.Sequential(layers(False, True)), untold)
both = pair(True, True, lambda: functional(True, True), untold)
subclass = pair(True, True, lambda: Passing(True, True), tf.function(untold))
method = pair(True, True, own_step, None)
no_argument = pair(True, False, lambda: Forgetting(True, False), untold)
no_argument_norm = pair(False, True, lambda: Forgetting(False, True), untold)
by_batch_old = Pair(old(False, True, always=True), lambda: functional(False, True), rows, classes, train_step=told)
by_batch_new = pair(False, True, lambda: Always(False, True), untold)
sound = pair(True, True, lambda: Passing(True, True), told)
nothing_to_tell = pair(False, False, lambda: keras.Sequential(layers(False, False)), untold)
