"""Pairs whose TF1 side draws what nothing depends on: the numbers of a dropout that is fed to keep everything."""

from __future__ import annotations

import dataclasses

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras


def rows(step):
    return np.random.default_rng(step).normal(size=(12, 6)).astype(np.float32)


def same(step):
    return rows(step)


def old(inferred, trained, second=None):
    def network(features, labels, mode):
        keep = v1.placeholder_with_default(trained if mode == "train" else inferred, [])
        hidden = v1.nn.dropout(v1.layers.dense(features, 8, name="encoder"), rate=1 - keep)
        mean = v1.layers.dense(hidden, 3, name="mean")
        code = mean + v1.random_normal(tf.shape(mean))
        hidden = v1.nn.dropout(v1.layers.dense(code, 8, name="decoder"), rate=1 - keep)
        if second and mode == "train":
            hidden = v1.nn.dropout(hidden, rate=second)
        output = v1.layers.dense(hidden, 6, name="output")
        if labels is None:
            return Spec(predictions=output)
        loss = tf.reduce_mean((output - labels) ** 2)
        return Spec(predictions=output, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss))

    return network


def of_pipeline(network):
    """The network behind a dataset that draws, in place of which the pair gives batches."""

    def behind(features, labels, mode):
        data = tf.data.Dataset.from_tensor_slices((np.zeros((24, 9), np.float32), np.zeros((24, 6), np.float32)))
        data = data.shuffle(8).map(lambda one, other: (v1.random_crop(one, [6]) + v1.random_normal([6]), other))
        images, targets = v1.data.make_one_shot_iterator(data.batch(12)).get_next()
        found = network(images, None if labels is None else targets, mode)
        feeds = {images: features} if labels is None else {images: features, targets: labels}
        return dataclasses.replace(found, feeds=feeds)

    return behind


class New(keras.Model):
    """Drops only where something is dropped, as ``tf.nn.dropout`` does with a rate that Python knows."""

    def __init__(self, trained, second=0.0, early=False, scale=1.0, inferred=0.0):
        super().__init__()
        self.rates = {True: trained, False: inferred}
        self.second, self.early, self.scale = second, early, scale
        self.encoder, self.decoder = (keras.layers.Dense(8, name=name) for name in ("encoder", "decoder"))
        self.mean = keras.layers.Dense(3, name="mean")
        self.last = keras.layers.Dense(6, name="output")

    def call(self, x, training=False):
        rate = self.rates[bool(training)]
        noise = tf.random.normal((12, 3)) if self.early else None
        mean = self.mean(tf.nn.dropout(self.encoder(x), rate))
        noise = tf.random.normal(tf.shape(mean)) if noise is None else noise
        hidden = tf.nn.dropout(self.decoder(mean + self.scale * noise), rate)
        return self.last(tf.nn.dropout(hidden, self.second if training else 0.0))


def step(model, rows, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(rows, training=True) - labels) ** 2)
    for variable, gradient in zip(
        model.trainable_variables, tape.gradient(loss, model.trainable_variables), strict=True
    ):
        variable.assign_sub(0.1 * gradient)
    return loss


def pair(tf1, tf2):
    return Pair(tf1, tf2, rows, same, train_step=step)


inference = pair(old(1.0, 0.5), lambda: New(0.5))
training = pair(old(1.0, 1.0, 0.5), lambda: New(0.0, 0.5))
early = pair(old(1.0, 0.5), lambda: New(0.5, early=True))
pipeline = pair(of_pipeline(old(1.0, 0.5)), lambda: New(0.5))
drawn_too = pair(old(1.0, 0.5), lambda: New(0.5, inferred=tf.constant(0.0)))
louder = pair(old(1.0, 0.5), lambda: New(0.5, scale=1.1))
kept_less = pair(old(0.8, 0.5), lambda: New(0.5))
