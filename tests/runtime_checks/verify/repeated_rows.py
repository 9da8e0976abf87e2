"""Pairs that look up words in a table, of which a batch has some several times: one for each rule of an optimizer."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras
WORDS = 8


def words(step):
    """A batch of [6, 4] numbers: all words come, some of them several times."""
    drawn = np.random.default_rng(step).permutation(24) % (WORDS + 3)
    return np.where(drawn < WORDS, drawn, 2).reshape(6, 4).astype(np.int32)


def each_once(step):
    """A batch of [2, 4] numbers, in which no word comes twice."""
    return np.random.default_rng(step).permutation(WORDS).reshape(2, 4).astype(np.int32)


def late(step):
    """The first batch repeats no word."""
    return each_once(step) if step == 0 else words(step)[:2]


def targets(step):
    return np.random.default_rng(50 + step).normal(size=(6, 3)).astype(np.float32)


def of_two(step):
    return targets(step)[:2]


def old(optimizer, scale=1.0):
    def network(features, labels):
        table = v1.get_variable("table", [WORDS, 3], tf.float32, v1.random_uniform_initializer(-0.05, 0.05))
        outputs = tf.reduce_sum(tf.nn.tanh(tf.nn.embedding_lookup(table, features)), 1)
        outputs = v1.layers.dense(outputs, 3, name="top")
        if labels is None:
            return Spec(predictions=outputs)
        loss = scale * tf.reduce_mean(tf.square(outputs - labels))
        return Spec(predictions=outputs, loss=loss, train_op=optimizer().minimize(loss))

    return network


def new(optimizer, means=0.0):
    """A model that keeps its optimizer; `means` is where means of squares begin."""

    def make():
        inputs = keras.Input((4,), dtype="int32")
        rows = keras.layers.Embedding(WORDS, 3, name="embedding")(inputs)
        added = keras.layers.Lambda(lambda x: tf.reduce_sum(tf.nn.tanh(x), 1))(rows)
        made = keras.Model(inputs, keras.layers.Dense(3, name="top")(added))
        made.tuned = optimizer()
        made.tuned.build(made.trainable_variables)
        for mean in getattr(made.tuned, "_velocities", ()) if means else ():
            mean.assign(tf.ones_like(mean) * means)
        return made

    return make


def step(model, inputs, labels, given=lambda gradient: gradient):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(inputs, training=True) - labels))
    variables = model.trainable_variables
    gradients = [given(gradient) for gradient in tape.gradient(loss, variables)]
    model.tuned.apply_gradients(zip(gradients, variables, strict=True))
    return loss


def summing(model, inputs, labels):
    """What is to be done about it."""
    return step(model, inputs, labels, tf.convert_to_tensor)


class Summing(keras.optimizers.Adam):
    """The same for a model that Keras trains, as an optimizer of one's own."""

    def apply(self, grads, trainable_variables=None):
        return super().apply([tf.convert_to_tensor(gradient) for gradient in grads], trainable_variables)


def compiled(optimizer):
    def make():
        made = new(optimizer)()
        made.compile(optimizer(), "mse")
        return made

    return make


def clipped(gradients):
    """Each to a norm that no gradient of these batches reaches."""
    return [tf.clip_by_norm(gradient, 50.0) for gradient in gradients]


class OldClipping(v1.train.MomentumOptimizer):
    def __init__(self):
        super().__init__(0.1, 0.9)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        gradients, variables = zip(*grads_and_vars, strict=True)
        return super().apply_gradients(list(zip(clipped(gradients), variables, strict=True)), global_step, name)


def clipping_rows(model, inputs, labels):
    """As they come."""
    return step(model, inputs, labels, lambda gradient: clipped([gradient])[0])


def clipping_sums(model, inputs, labels):
    """Of the rows of one word."""
    return step(model, inputs, labels, lambda gradient: clipped([tf.convert_to_tensor(gradient)])[0])


def adam(rate=0.01, epsilon=1e-7):
    return keras.optimizers.Adam(rate, epsilon=epsilon)


def rmsprop():
    return keras.optimizers.RMSprop(0.01, rho=0.9, epsilon=1e-7)


def adagrad():
    return keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1, epsilon=1e-7)


def momentum():
    return keras.optimizers.SGD(0.1, momentum=0.9)


def old_adam():
    return v1.train.AdamOptimizer(0.01, epsilon=1e-7)


def old_rmsprop():
    return v1.train.RMSPropOptimizer(0.01, decay=0.9, epsilon=1e-7)


def old_adagrad():
    return v1.train.AdagradOptimizer(0.1)


def old_momentum():
    return v1.train.MomentumOptimizer(0.1, 0.9)


def pair(tf1, tf2, given=step, inputs=words, labels=targets):
    return Pair(tf1, tf2, inputs, labels, train_step=given, renames={"table": "embedding/embeddings"})


of_adam = pair(old(old_adam), new(adam))
of_rmsprop = pair(old(old_rmsprop), new(rmsprop, means=1.0))
of_adagrad = pair(old(old_adagrad), new(adagrad))
of_a_compiled_model = pair(old(old_adam), compiled(adam), None)
later = pair(old(old_adam), new(adam), inputs=late, labels=of_two)

summed = pair(old(old_adam), new(adam), summing)
summed_by_the_optimizer = pair(old(old_adam), compiled(lambda: Summing(0.01, epsilon=1e-7)), None)
squares_nothing = pair(old(old_momentum), new(momentum))
never_twice = pair(old(old_adam), new(lambda: adam(epsilon=1e-3)), inputs=each_once, labels=of_two)
other_rate = pair(old(old_adam), new(lambda: adam(0.02)))
other_epsilon = pair(old(old_adam), new(lambda: adam(epsilon=1e-3)))
other_loss = pair(old(old_adagrad, 2.0), new(adagrad))
clipped_rows = pair(old(OldClipping), new(momentum), clipping_rows)
clipped_sums = pair(old(OldClipping), new(momentum), clipping_sums)
