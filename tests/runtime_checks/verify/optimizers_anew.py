"""Pairs whose TF2 side makes its optimizer once, or anew in each step: in a function, in a method, by a schedule."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras


def rows(step):
    return np.random.default_rng(step).normal(size=(8, 4)).astype(np.float32)


def numbers(step):
    return np.random.default_rng(50 + step).normal(size=(8, 2)).astype(np.float32)


def old(optimizer, scale=1.0):
    def network(features, labels):
        outputs = v1.layers.dense(v1.layers.dense(features, 6, tf.nn.tanh, name="hidden"), 2, name="top")
        if labels is None:
            return Spec(predictions=outputs)
        loss = scale * tf.reduce_mean(tf.square(outputs - labels))
        count = v1.train.get_or_create_global_step()
        return Spec(predictions=outputs, loss=loss, train_op=optimizer(count).minimize(loss, count))

    return network


def model():
    return keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(6, "tanh", name="hidden"), keras.layers.Dense(2, name="top")]
    )


def applied(model, optimizer, inputs, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(inputs, training=True) - labels))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


def anew(optimizer):
    """A step that makes its optimizer."""

    def step(model, inputs, labels):
        return applied(model, optimizer(), inputs, labels)

    return step


def kept(optimizer):
    """A model that keeps its optimizer."""

    def make():
        made = model()
        made.tuned = optimizer()
        return made

    return make


def keeping(model, inputs, labels):
    return applied(model, model.tuned, inputs, labels)


def compiling(model, inputs, labels):
    """Compiles in each step, as a function does that is called for each batch."""
    model.compile(momentum(), "mse")
    return applied(model, model.optimizer, inputs, labels)


def carrying(model, inputs, labels):
    """Makes an optimizer in each step that goes on with what the last one kept."""
    last, model.tuned = model.tuned, momentum()
    for optimizer in (last, model.tuned):
        optimizer.build(model.trainable_variables)
    for one, before in zip(_kept(model.tuned), _kept(last), strict=True):
        one.assign(before)
    return applied(model, model.tuned, inputs, labels)


def _kept(optimizer):
    return optimizer.variables() if callable(optimizer.variables) else optimizer.variables


def momentum():
    return keras.optimizers.SGD(0.1, momentum=0.9)  # made


def adam(rate=0.01, epsilon=1e-7):
    return keras.optimizers.Adam(rate, epsilon=epsilon)  # made


def adagrad():
    return keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1, epsilon=1e-7)  # made


def plain():
    return keras.optimizers.SGD(0.1)


def decaying():
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    return keras.optimizers.SGD(schedule)  # made


def old_momentum(count):
    return v1.train.MomentumOptimizer(0.1, 0.9)


def old_adam(count):
    return v1.train.AdamOptimizer(0.01, epsilon=1e-7)


def old_adagrad(count):
    return v1.train.AdagradOptimizer(0.1)


def old_plain(count):
    return v1.train.GradientDescentOptimizer(0.1)


def old_decaying(count):
    return v1.train.GradientDescentOptimizer(v1.train.exponential_decay(0.1, count, 1, 0.5))


def pair(tf1, tf2, step):
    return Pair(tf1, tf2, rows, numbers, train_step=step)


of_momentum = pair(old(old_momentum), model, anew(momentum))
of_adam = pair(old(old_adam), model, anew(adam))
of_adagrad = pair(old(old_adagrad), model, anew(adagrad))
of_schedule = pair(old(old_decaying), model, anew(decaying))
of_compile = pair(old(old_momentum), model, compiling)

nothing_kept = pair(old(old_plain), model, anew(plain))
other_rate = pair(old(old_adam), model, anew(lambda: adam(0.02)))
other_epsilon = pair(old(old_adam), kept(lambda: adam(epsilon=1e-3)), keeping)
other_momentum = pair(old(lambda count: v1.train.MomentumOptimizer(0.1, 0.5)), kept(momentum), keeping)
carried_on = pair(old(old_momentum, 3.0), kept(momentum), carrying)


def old_shared(features, labels):
    """Two optimizers that have the weights in common, one after the other."""
    outputs = v1.layers.dense(v1.layers.dense(features, 6, tf.nn.tanh, name="hidden"), 2, name="top")
    if labels is None:
        return Spec(predictions=outputs)
    loss = tf.reduce_mean(tf.square(outputs - labels))
    more = tf.reduce_mean(tf.abs(outputs))
    weights = v1.trainable_variables()
    gradients = [tf.gradients(one, weights) for one in (loss, more)]
    pairs = [list(zip(each, weights, strict=True)) for each in gradients]
    with tf.control_dependencies([gradient for each in gradients for gradient in each]):
        first = v1.train.AdamOptimizer(0.1, epsilon=1e-3).apply_gradients(pairs[0])
    with tf.control_dependencies([first]):
        second = v1.train.AdamOptimizer(0.05, epsilon=1e-3).apply_gradients(pairs[1])
    return Spec(predictions=outputs, loss=loss, train_op=second)


def two():
    made = model()
    made.first, made.second = (keras.optimizers.Adam(rate, epsilon=1e-3) for rate in (0.1, 0.05))
    return made


def both_steps(scale):
    """The second update is of gradients that are so many times as large."""

    def step(model, inputs, labels):
        with tf.GradientTape(persistent=True) as tape:
            outputs = model(inputs, training=True)
            loss, more = tf.reduce_mean(tf.square(outputs - labels)), scale * tf.reduce_mean(tf.abs(outputs))
        weights = model.trainable_variables
        gradients = [tape.gradient(one, weights) for one in (loss, more)]
        for optimizer, each in zip((model.first, model.second), gradients, strict=True):
            optimizer.apply_gradients(zip(each, weights, strict=True))
        return loss

    return step


shared_weights, shared_otherwise = (
    Pair(tf1=old_shared, tf2=two, train_step=both_steps(scale), inputs=rows, labels=numbers) for scale in (1.0, 2.0)
)


def lacking(stop):
    """A step that leaves the last kernel out of what it trains, or lets no gradient through to it."""

    def step(model, inputs, labels):
        hidden, top = model.layers
        with tf.GradientTape() as tape:
            kernel = tf.stop_gradient(tf.convert_to_tensor(top.kernel)) if stop else top.kernel
            outputs = tf.matmul(hidden(inputs), kernel) + top.bias
            loss = tf.reduce_mean(tf.square(outputs - labels))
        weights = [one for one in model.trainable_variables if stop or one is not top.kernel]
        model.tuned.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return step


left_out, stopped = (
    Pair(
        tf1=old(lambda count: v1.train.AdamOptimizer(0.01, epsilon=1e-3)),
        tf2=kept(lambda: keras.optimizers.Adam(0.01, epsilon=1e-3)),
        train_step=lacking(stop),
        inputs=rows,
        labels=numbers,
    )
    for stop in (False, True)
)


def in_turns(features, labels):
    """TF1 trains the last layer by a step of its own, which the pair does not run."""
    outputs = v1.layers.dense(v1.layers.dense(features, 6, tf.nn.tanh, name="hidden"), 2, name="top")
    if labels is None:
        return Spec(predictions=outputs)
    loss = tf.reduce_mean(tf.square(outputs - labels))
    first, second = (v1.trainable_variables(scope) for scope in ("hidden", "top"))
    train_op = v1.train.AdamOptimizer(0.01, epsilon=1e-3).minimize(loss, var_list=first)
    v1.train.AdamOptimizer(0.01, epsilon=1e-3).minimize(loss, var_list=second)
    return Spec(predictions=outputs, loss=loss, train_op=train_op)


left_on_tf1 = Pair(
    tf1=in_turns,
    tf2=kept(lambda: keras.optimizers.Adam(0.01, epsilon=1e-3)),
    train_step=keeping,
    inputs=rows,
    labels=numbers,
)
