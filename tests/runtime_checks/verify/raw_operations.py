"""Programs of raw operations, and their migrations: sound, and with one operation changed.

A line that ends with ``# old: NAME`` or ``# new: NAME`` is where pair NAME differs. Without a bug the pair is sound.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def whole(*shape, below=7):
    return np.random.default_rng(1).integers(below, size=shape).astype(np.int32)


class Raw(tf.Module):
    """A function of variables and inputs; what `bug` changes in it is a matter of the function."""

    def __init__(self, function, bug, **shapes):
        super().__init__()
        self.parts = {name: tf.Variable(tf.random.normal(shape), name=name) for name, shape in shapes.items()}
        self.function, self.bug = function, bug

    def __call__(self, *inputs):
        return self.function(self.parts, self.bug, *inputs)


def weight(name, *shape):
    return v1.get_variable(name, shape)


# A perceptron.


def old_perceptron(x):
    hidden = tf.matmul(x, weight("first", 5, 4))  # old: kernel
    hidden = hidden + weight("bias", 4)
    hidden = tf.nn.relu(hidden)  # old: activation, missing
    scores = tf.matmul(hidden, weight("square", 4, 4))  # old: transposed
    return scores * 0.5  # old: factor


def new_perceptron(w, bug, x):
    hidden = tf.matmul(x, w["first"] * 2.0 if bug == "kernel" else w["first"])  # new: kernel
    hidden = hidden + w["bias"]
    if bug != "missing":
        hidden = tf.nn.sigmoid(hidden) if bug == "activation" else tf.nn.relu(hidden)  # new: activation
    scores = tf.matmul(hidden, w["square"], transpose_b=bug == "transposed")  # new: transposed, missing
    return scores * (0.25 if bug == "factor" else 0.5)  # new: factor


# A convolution.


def old_convolution(x):
    maps = tf.nn.conv2d(x, weight("filter", 3, 3, 2, 4), strides=[1, 2, 2, 1], padding="SAME")  # old: padding
    maps = tf.nn.bias_add(maps, weight("bias", 4))
    maps = tf.nn.max_pool2d(maps, 2, 2, "VALID")  # old: pooling
    return tf.reduce_mean(maps, [1, 2])  # old: axes


def new_convolution(w, bug, x):
    if bug == "padding":
        x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])  # new: padding
    maps = tf.nn.conv2d(x, w["filter"], 2, "VALID" if bug == "padding" else "SAME")
    maps = tf.nn.bias_add(maps, w["bias"])
    maps = (tf.nn.avg_pool2d if bug == "pooling" else tf.nn.max_pool2d)(maps, 2, 2, "VALID")  # new: pooling
    return tf.reduce_max(maps, [1, 2]) if bug == "axes" else tf.reduce_mean(maps, [1, 2])  # new: axes


# Words.


def old_words(ids):
    rows = tf.nn.embedding_lookup(weight("table", 7, 6), ids)  # old: ids
    whole = tf.reduce_mean(rows, 1)  # old: reduction
    return tf.matmul(whole, weight("out", 6, 3))


def new_words(w, bug, ids):
    rows = tf.nn.embedding_lookup(w["table"], (ids + 1) % 7 if bug == "ids" else ids)  # new: ids
    whole = tf.reduce_sum(rows, 1) if bug == "reduction" else tf.reduce_mean(rows, 1)  # new: reduction
    return tf.matmul(whole, w["out"])


# Attention by hand.


def old_attention(x):
    query = heads_of(tf.matmul(x, weight("query", 8, 8)))
    key = heads_of(tf.matmul(x, weight("key", 8, 8)))
    value = heads_of(tf.matmul(x, weight("value", 8, 8)))
    scores = tf.matmul(query, key, transpose_b=True)
    scores = scores / 2.0  # old: scaling
    scores += tf.constant([0.0, 0.0, 0.0, -1e9])
    shares = tf.nn.softmax(scores)  # old: axis
    mixed = tf.matmul(shares, value)  # old: swapped
    return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, 4, 8])  # old: order


def heads_of(x):
    return tf.transpose(tf.reshape(x, [-1, 4, 2, 4]), [0, 2, 1, 3])


def new_attention(w, bug, x):
    query, key, value = (heads_of(x @ w[name]) for name in ("query", "key", "value"))
    scores = tf.matmul(query, key, transpose_b=True)
    scores = scores / (4.0 if bug == "scaling" else 2.0)  # new: scaling
    scores += tf.constant([0.0, 0.0, 0.0, -1e9])
    shares = tf.nn.softmax(scores, 2 if bug == "axis" else -1)  # new: axis
    mixed = shares @ (key if bug == "swapped" else value)  # new: swapped
    if bug != "order":
        mixed = tf.transpose(mixed, [0, 2, 1, 3])
    return tf.reshape(mixed, [-1, 4, 8])  # new: order


# Feature columns.


def old_columns(x):
    column = tf.feature_column
    identity = column.categorical_column_with_identity("kind", 5)
    columns = [column.numeric_column("size", (2,)), column.embedding_column(identity, 3, combiner="sum")]
    features = v1.feature_column.input_layer(x, columns)  # old: columns
    return tf.matmul(features, weight("out", 5, 2))


def new_columns(w, bug, x):
    rows = tf.gather(w["input_layer/kind_embedding/embedding_weights"], tf.cast(x["kind"], tf.int32))
    kinds = tf.reduce_mean(rows, 1) if bug == "combiner" else tf.reduce_sum(rows, 1)
    size = tf.cast(x["size"], tf.float32)
    parts = [size, kinds] if bug == "columns" else [kinds, size]
    features = tf.concat(parts, 1)  # new: columns
    return tf.matmul(features, w["out"])


# Normalization by hand.


def old_norm(x):
    mean, variance = tf.nn.moments(x, [1], keepdims=True)
    scale = tf.math.rsqrt(
        variance + 1e-3  # old: epsilon
    )
    x = (x - mean) * scale
    x = x * weight("gamma", 6)  # old: gamma
    return tf.matmul(x + weight("beta", 6), weight("out", 6, 2))


def new_norm(w, bug, x):
    mean, variance = tf.nn.moments(x, [1], keepdims=True)
    scale = tf.math.rsqrt(
        variance + (1e-2 if bug == "epsilon" else 1e-3)  # new: epsilon
    )
    x = (x - mean) * scale
    x = x * (w["beta"] if bug == "gamma" else w["gamma"])  # new: gamma
    return tf.matmul(x + w["beta"], w["out"])


# Loops and branches.


def old_loop(x):
    state = tf.matmul(x, weight("into", 4, 4))
    step = weight("step", 4, 4)
    _, state = tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, tf.tanh(s @ step)), [0, state])  # old: turns
    branch = tf.cond(tf.reduce_sum(x) > -1e6, lambda: state * 2.0, lambda: state)  # old: branch
    return tf.matmul(branch, weight("out", 4, 2))


def new_loop(w, bug, x):
    state = tf.matmul(x, w["into"])
    for _ in range(2 if bug == "turns" else 3):
        state = tf.tanh(state @ w["step"])  # new: turns
    if bug != "branch":
        state = state * 2.0
    return tf.matmul(state, w["out"])  # new: branch


# A loop in a branch, as TF 1.15 builds both: the branch is one operation, and begins with what it takes in.


def old_inner(x):
    state = tf.matmul(x, weight("into", 4, 4))
    step = weight("step", 4, 4)

    def turned():
        return tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, tf.tanh(s @ step)), [0, state * 2.0])[1]

    v1.disable_control_flow_v2()
    try:
        state = tf.cond(tf.reduce_sum(x) > -1e6, turned, lambda: state)  # old: inner
    finally:
        v1.enable_control_flow_v2()
    return tf.matmul(state, weight("out", 4, 2))


def new_inner(w, bug, x):
    state = tf.matmul(x, w["into"]) * 2.0  # new: inner
    for _ in range(2 if bug == "inner" else 3):
        state = tf.tanh(state @ w["step"])
    return tf.matmul(state, w["out"])


# Gathering and joining.


def old_gather(x):
    left = tf.gather(x, [0, 2, 4], axis=1)  # old: indices
    right = tf.one_hot(tf.argmax(x, 1), 6)  # old: marks
    return tf.matmul(tf.concat([left, right], 1), weight("out", 9, 3))


def new_gather(w, bug, x):
    left = tf.gather(x, [0, 2, 3] if bug == "indices" else [0, 2, 4], axis=1)  # new: indices
    right = tf.one_hot(tf.argmax(x, 1), 6, on_value=2.0 if bug == "marks" else 1.0)  # new: marks
    return tf.matmul(tf.concat([left, right], 1), w["out"])


# The loss.


def old_loss(x, labels):
    scores = tf.matmul(x, weight("out", 6, 3))
    shares = tf.nn.softmax(scores)
    chosen = tf.reduce_sum(tf.one_hot(labels, 3) * tf.math.log(shares), 1)
    loss = -tf.reduce_mean(chosen)  # old: summed
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    return Spec(predictions=scores, loss=loss, train_op=train_op)


def new_loss(w, bug, x):
    return tf.matmul(x, w["out"])


def step_of(bug):
    def step(model, x, labels):
        with tf.GradientTape() as tape:
            shares = tf.nn.softmax(model(x))
            chosen = tf.reduce_sum(tf.one_hot(labels, 3) * tf.math.log(shares), 1)
            loss = -(tf.reduce_sum(chosen) if bug == "summed" else tf.reduce_mean(chosen))  # new: summed
        variable = model.parts["out"]
        variable.assign_sub(0.1 * tape.gradient(loss, variable))
        return loss

    return step


def old_compiled(x, labels):
    bias = v1.get_variable("out/bias", 3, initializer=v1.zeros_initializer())
    scores = tf.matmul(x, v1.get_variable("out/kernel", (6, 3), initializer=v1.glorot_uniform_initializer())) + bias
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)  # old: logits
    loss = tf.reduce_mean(loss)
    return Spec(predictions=scores, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss))


def new_compiled(bug):
    model = keras.Sequential([keras.layers.Dense(3, name="out")])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=bug != "logits")  # new: logits
    model.compile(keras.optimizers.SGD(0.1), loss)
    return model


# Layers of Keras on one side, raw operations on the other.


def old_layers(x):
    maps = tf.nn.conv2d(x, weight("conv/kernel", 3, 3, 2, 4), 1, "SAME")
    maps = tf.nn.elu(tf.nn.bias_add(maps, weight("conv/bias", 4)))  # old: layer
    flat = tf.reshape(maps, [-1, 7 * 7 * 4])
    hidden = tf.matmul(flat, weight("hidden/kernel", 196, 6)) + weight("hidden/bias", 6)
    hidden = tf.nn.leaky_relu(hidden, 0.2)  # old: slope
    return tf.matmul(hidden, weight("out/kernel", 6, 2)) + weight("out/bias", 2)


def new_layers(bug):
    layer = keras.layers
    slope, activation = 0.3 if bug == "slope" else 0.2, "relu" if bug == "layer" else "elu"
    return keras.Sequential(
        [
            layer.Conv2D(4, 3, padding="same", activation=activation, name="conv"),  # new: layer
            layer.Flatten(),
            layer.Dense(6, name="hidden"),
            layer.Lambda(lambda x: tf.nn.leaky_relu(x, slope)),  # new: slope
            layer.Dense(2, name="out"),
        ]
    )


class Block(keras.layers.Layer):
    """Raw operations between two layers."""

    def __init__(self, bug):
        super().__init__()
        self.into, self.out, self.bug = keras.layers.Dense(6, name="into"), keras.layers.Dense(2, name="out"), bug

    def call(self, x):
        x = self.into(x)
        x = tf.clip_by_value(x, -0.2, 0.3 if self.bug == "between" else 0.2)  # new: between
        x = tf.nn.l2_normalize(x, 0 if self.bug == "dimension" else 1)  # new: dimension
        return self.out(x)


def old_block(x):
    x = tf.matmul(x, weight("into/kernel", 5, 6)) + weight("into/bias", 6)
    x = tf.clip_by_value(x, -0.2, 0.2)  # old: between
    x = tf.nn.l2_normalize(x, 1)  # old: dimension
    return tf.matmul(x, weight("out/kernel", 6, 2)) + weight("out/bias", 2)


PERCEPTRON = {"first": (5, 4), "bias": (4,), "square": (4, 4)}
PROGRAMS = {
    "perceptron": (old_perceptron, new_perceptron, PERCEPTRON, numbers(8, 5)),
    "convolution": (old_convolution, new_convolution, {"filter": (3, 3, 2, 4), "bias": (4,)}, numbers(2, 8, 8, 2)),
    "words": (old_words, new_words, {"table": (7, 6), "out": (6, 3)}, whole(5, 4)),
    "attention": (old_attention, new_attention, dict.fromkeys(("query", "key", "value"), (8, 8)), numbers(3, 4, 8)),
    "columns": (
        old_columns,
        new_columns,
        {"input_layer/kind_embedding/embedding_weights": (5, 3), "out": (5, 2)},
        {"size": numbers(6, 2), "kind": whole(6, 2, below=5)},
    ),
    "norm": (old_norm, new_norm, {"gamma": (6,), "beta": (6,), "out": (6, 2)}, numbers(4, 6)),
    "loop": (old_loop, new_loop, {"into": (4, 4), "step": (4, 4), "out": (4, 2)}, numbers(3, 4)),
    "inner": (old_inner, new_inner, {"into": (4, 4), "step": (4, 4), "out": (4, 2)}, numbers(3, 4)),
    "gather": (old_gather, new_gather, {"out": (9, 3)}, numbers(5, 6)),
}
BUGS = {
    "perceptron": ("kernel", "activation", "missing", "transposed", "factor"),
    "convolution": ("padding", "pooling", "axes"),
    "words": ("ids", "reduction"),
    "attention": ("scaling", "axis", "swapped", "order"),
    "columns": ("columns",),
    "norm": ("epsilon", "gamma"),
    "loop": ("turns", "branch"),
    "inner": ("inner",),
    "gather": ("indices", "marks"),
    "loss": ("summed",),
    "compiled": ("logits",),
    "layers": ("layer", "slope"),
    "block": ("between", "dimension"),
}


UNTIL = {"loss": "step", "compiled": "random"}
"""The rung on which a program can differ, where it is not the first one."""


def pair_of(program, bug=None):
    """The pair of a program, sound if no bug is named."""
    if program == "loss":
        return Pair(
            old_loss, lambda: Raw(new_loss, bug, out=(6, 3)), numbers(7, 6), whole(7, below=3), train_step=step_of(bug)
        )
    if program == "compiled":
        return Pair(old_compiled, lambda: new_compiled(bug), numbers(7, 6), whole(7, below=3))
    if program == "layers":
        return Pair(old_layers, lambda: new_layers(bug), numbers(2, 7, 7, 2))
    if program == "block":
        return Pair(old_block, lambda: Block(bug), numbers(8, 5))
    old, new, shapes, inputs = PROGRAMS[program]
    if isinstance(inputs, dict):
        old = lambda size, kind: PROGRAMS[program][0]({"size": size, "kind": kind})  # noqa: E731
        make = lambda: Named(new, bug, **shapes)  # noqa: E731
        return Pair(old, make, inputs)
    return Pair(old, lambda: Raw(new, bug, **shapes), inputs)


class Named(Raw):
    """Of inputs that are named."""

    def __call__(self, size, kind):
        return self.function(self.parts, self.bug, {"size": size, "kind": kind})


def lines_of(bug):
    """The lines of both sides that a bug is planted at."""
    found = {"old": 0, "new": 0}
    for number, line in enumerate(Path(__file__).read_text("utf-8").splitlines(), 1):
        for side in found:
            _, mark, names = line.partition(f"  # {side}: ")
            if mark and bug in names.split(", "):
                found[side] = number
    return list(found.values())
