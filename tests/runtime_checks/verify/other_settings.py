"""Pairs whose TF2 side is run in other settings: some compute otherwise there, some say themselves what they do."""

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1


def network(inputs, labels, is_training, noise=lambda hidden: hidden):
    hidden = v1.layers.dense(inputs, 8, activation=tf.nn.relu, name="hidden")
    hidden = noise(hidden) if is_training else hidden
    scores = v1.layers.dense(hidden, 3, name="scores")
    loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
    train_op = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    return Spec(predictions=scores, loss=loss, train_op=train_op)


def noisy(inputs, labels, is_training):
    return network(inputs, labels, is_training, noise)


def noise(hidden):
    kept = v1.nn.dropout(hidden, rate=0.3)
    return kept + v1.random.normal(tf.shape(kept), stddev=0.1)


def layers(*between, **options):
    hidden = tf.keras.layers.Dense(8, activation="relu", name="hidden", **options)
    return tf.keras.Sequential([hidden, *between, tf.keras.layers.Dense(3, name="scores", **options)])


def compiled(model):
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), loss)
    return model


def paired(model, scale=1.0, tf1=network, **more):
    return Pair(
        tf1,
        model,
        lambda step: (scale * np.random.default_rng(step).normal(size=(8, 4))).astype(np.float32),
        lambda step: np.random.default_rng(step).integers(3, size=8),
        **more,
    )


class Asking(tf.keras.layers.Layer):
    """What it does depends on where it runs."""

    def __init__(self, elsewhere, **options):
        super().__init__(**options)
        self.elsewhere = elsewhere

    def call(self, x):
        where = getattr(tf.zeros(()), "device", "")
        return x if not where or where.endswith("CPU:0") else self.elsewhere(x)


class Pinned(tf.keras.Model):
    """It says where it runs."""

    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(8, activation="relu", name="hidden")
        self.scores = tf.keras.layers.Dense(3, name="scores")

    def call(self, x):
        with tf.device("/CPU:0"):
            return self.scores(self.hidden(x))


def refuse(x):
    raise NotImplementedError("only on the first CPU")


class Joining(tf.keras.layers.Layer):
    """It takes float32 for granted."""

    def call(self, x):
        return x * tf.constant(0.5) + x / 2


def own_step(model, inputs, labels):
    """Scales no loss, and makes the gradients small."""
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(inputs, training=True))
        loss = tf.reduce_mean(tf.cast(losses, tf.float32)) * 1e-7
    variables = model.trainable_variables
    model.own_optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss * 1e7


def scaling_step(model, inputs, labels):
    """Scales the loss, and gives the optimizer what it expects."""
    optimizer = model.own_optimizer
    scale = getattr(optimizer, "get_scaled_loss", None) or optimizer.scale_loss
    unscaled = getattr(optimizer, "get_unscaled_gradients", list)
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(inputs, training=True))
        loss = scale(tf.reduce_mean(tf.cast(losses, tf.float32)))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(unscaled(tape.gradient(loss, variables)), variables, strict=True))


def with_optimizer(model, wrapped=lambda optimizer: optimizer):
    model.own_optimizer = wrapped(tf.keras.optimizers.SGD(0.1, momentum=0.9))
    return model


plain = paired(lambda: compiled(layers()))
scaled = paired(lambda: compiled(layers(Asking(lambda x: x * 1.001))))
refused = paired(lambda: compiled(layers(Asking(refuse))))
pinned = paired(lambda: compiled(Pinned()))
random = paired(lambda: compiled(layers(tf.keras.layers.Dropout(0.3), tf.keras.layers.GaussianNoise(0.1))), tf1=noisy)
joining = paired(lambda: compiled(layers(Joining())))
wide = paired(lambda: compiled(layers(dtype="float32")))
large = paired(lambda: compiled(layers()), scale=1e6)
scaling = paired(
    lambda: with_optimizer(layers(), tf.keras.mixed_precision.LossScaleOptimizer), train_step=scaling_step
)
small = paired(lambda: with_optimizer(layers()), train_step=own_step)
