"""Pairs whose TF2 side moves its averages before anybody trains it: in inference, or as it is built."""

from __future__ import annotations

import contextlib

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair

v1 = tf.compat.v1
keras = tf.keras
ROWS = np.random.default_rng(0).normal(1.0, 2.0, size=(16, 6)).astype(np.float32)


def always(features):
    """A batch normalization that is never told of inference."""
    hidden = v1.layers.dense(features, 8, name="hidden")
    return v1.layers.batch_normalization(hidden, training=True, name="norm")


def told(features, training):
    hidden = v1.layers.dense(features, 8, name="hidden")
    return v1.layers.batch_normalization(hidden, training=training, name="norm")


class Always(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.norm = keras.layers.Dense(8, name="hidden"), keras.layers.BatchNormalization(name="norm")

    def call(self, x):
        return self.norm(self.hidden(x), training=True)


class ByDefault(Always):
    def call(self, x, training=True):
        return self.norm(self.hidden(x), training=training)


class Restored(Always):
    """Its averages are what was saved; they are restored as the layer is built."""

    def build(self, shape):
        for layer, width in ((self.hidden, 6), (self.norm, 8)):
            with contextlib.nullcontext() if hasattr(keras, "ops") else tf.name_scope(layer.name):  # as Keras 3 does
                layer.build((None, width))
        self.norm.moving_mean.assign(np.full(8, 0.5, np.float32))
        self.built = True


def called():
    model = ByDefault()
    model(ROWS)
    return model


def restored_afterwards():
    model = called()
    model.norm.moving_mean.assign(np.full(8, 0.5, np.float32))
    return model


def saved(network):
    def restoring(features, training):
        hidden = v1.layers.dense(features, 8, name="hidden")
        half = v1.constant_initializer(0.5)
        mode = network is Restored or training
        return v1.layers.batch_normalization(hidden, training=mode, moving_mean_initializer=half, name="norm")

    return restoring


in_inference = Pair(always, Always, ROWS)
as_it_is_built = Pair(told, called, ROWS)
restored_in_build = Pair(saved(Restored), Restored, ROWS)
restored_behind = Pair(saved(None), restored_afterwards, ROWS)
begun_elsewhere = Pair(saved(Restored), Always, ROWS)
