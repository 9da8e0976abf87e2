"""The training pipeline of TensorFlow's guides on debugging one, with each way of training that Keras has."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair

_PATH = Path(__file__).resolve().parents[3] / "examples" / "verify" / "pair.py"
_specification = importlib.util.spec_from_file_location("example", _PATH)
example = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(example)

compiled = example.pair
PARAMS = compiled.params


def loss(labels, logits):
    return tf.keras.losses.CategoricalCrossentropy(from_logits=True)(labels, logits)


def optimizer(params):
    schedule = tf.keras.optimizers.schedules.PolynomialDecay(
        params["rate"], params["decay_steps"], end_learning_rate=0.0
    )
    return tf.keras.optimizers.SGD(schedule)


class WithItsOwnStep(example.Classifier):
    """As the guide writes it: nothing is compiled, `train_step` does it all."""

    def __init__(self, params):
        super().__init__(params)
        self.optimizer = optimizer(params)

    def train_step(self, data):
        features, labels = data
        with tf.GradientTape() as tape:
            value = loss(labels, self(features))
        gradients = tape.gradient(value, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights, strict=True))
        return {"loss": value}


class Holder:
    """A model and an optimizer for a loop of the user's own."""

    def __init__(self, params):
        self.model = example.Classifier(params)
        self.optimizer = optimizer(params)

    def __call__(self, features):
        return self.model(features)


def train_step(holder, features, labels):
    with tf.GradientTape() as tape:
        value = loss(labels, holder(features))
    weights = holder.model.trainable_weights
    holder.optimizer.apply_gradients(zip(tape.gradient(value, weights), weights, strict=True))
    return value


def like_the_example(tf2, **more):
    return Pair(
        example.model_fn,
        tf2,
        compiled.inputs,
        compiled.labels,
        params=PARAMS,
        renames=compiled.renames,
        taps=compiled.taps,
        **more,
    )


own_step = like_the_example(WithItsOwnStep)
loop = like_the_example(Holder, train_step=train_step)
batches = Pair(
    example.model_fn,
    example.classifier,
    lambda step: np.random.default_rng(step).normal(size=(4, 3)).astype(np.float32),
    lambda step: np.eye(3, dtype=np.float32)[np.random.default_rng(step).integers(3, size=4)],
    params=PARAMS,
    renames=compiled.renames,
)
