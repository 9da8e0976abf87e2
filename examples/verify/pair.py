"""A classifier that an Estimator trained in TF1 and that Keras trains in TF2: are they the same?"""

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair


def model_fn(features, labels, mode, params):
    """The TF1 side, unchanged."""
    hidden = tf.compat.v1.layers.dense(features, params["hidden"])
    hidden = tf.compat.v1.layers.dense(hidden, params["hidden"])
    logits = tf.compat.v1.layers.dense(hidden, params["classes"])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=logits)
    loss = tf.compat.v1.losses.softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss)
    step = tf.compat.v1.train.get_or_create_global_step()
    rate = tf.compat.v1.train.polynomial_decay(params["rate"], step, params["decay_steps"], end_learning_rate=0.0)
    train_op = tf.compat.v1.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)


class Classifier(tf.keras.Model):
    """The TF2 side."""

    def __init__(self, params):
        super().__init__()
        self.layer_1 = tf.keras.layers.Dense(params["hidden"], name="layer_1")
        self.layer_2 = tf.keras.layers.Dense(params["hidden"], name="layer_2")
        self.logits = tf.keras.layers.Dense(params["classes"], name="logits")

    def call(self, features):
        return self.logits(self.layer_2(self.layer_1(features)))


def classifier(params):
    rate = tf.keras.optimizers.schedules.PolynomialDecay(params["rate"], params["decay_steps"], end_learning_rate=0.0)
    model = Classifier(params)
    model.compile(tf.keras.optimizers.SGD(rate), tf.keras.losses.CategoricalCrossentropy(from_logits=True))
    return model


pair = Pair(
    tf1=model_fn,
    tf2=classifier,
    inputs=np.ones((2, 3), np.float32),
    labels=np.float32([[1, 0, 0], [0, 1, 0]]),
    params={"hidden": 2, "classes": 3, "rate": 1e-3, "decay_steps": 1000},
    renames={"dense/": "layer_1/", "dense_1/": "layer_2/", "dense_2/": "logits/"},
    taps={
        "layer 1": ("dense/BiasAdd", "layer_1"),
        "layer 2": ("dense_1/BiasAdd", "layer_2"),
        "logits": ("dense_2/BiasAdd", "logits"),
    },
    name="classifier",
)
