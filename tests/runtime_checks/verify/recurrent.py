"""Recurrent cells and attention of TF1 and the Keras layers that they became, which lay their variables out otherwise.

Each pair is a small classifier around the part that it is about. ``SOUND`` are equal; of ``WRONG`` each has one bug of
a kind that such a migration is known for.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Converter, Pair, Spec

v1 = tf.compat.v1
keras = tf.keras
layers = tf.keras.layers
WIDTH, UNITS, CLASSES, TIME = 3, 4, 3, 3
SCALE = 0.4


def sequences(step):
    return np.random.RandomState(step).uniform(-1, 1, (6, TIME, WIDTH)).astype(np.float32)


def classes(step):
    return np.random.RandomState(step).randint(0, CLASSES, 6)


# TF1


def cells():
    return v1.nn.rnn_cell


def dynamic(cell, x, scope="rnn"):
    return v1.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope=scope)[0]


def zeros_gru():
    """Keras begins with zeros, where the gates of TF1 begin with ones."""
    return cells().GRUCell(UNITS, bias_initializer=v1.zeros_initializer())


def old_static(x):
    one, other = cells().BasicLSTMCell(UNITS), cells().BasicLSTMCell(UNITS)
    return tf.stack(v1.nn.static_bidirectional_rnn(one, other, tf.unstack(x, axis=1), dtype=tf.float32)[0], axis=1)


def old_both(make):
    def network(x):
        return tf.concat(v1.nn.bidirectional_dynamic_rnn(make(), make(), x, dtype=tf.float32)[0], axis=-1)

    return network


def old_sequence_to_sequence(x):
    with v1.variable_scope("encoder"):
        states, last = v1.nn.dynamic_rnn(zeros_gru(), x, dtype=tf.float32)
    with v1.variable_scope("decoder"):
        cell = cells().BasicLSTMCell(UNITS)
        begin = cells().LSTMStateTuple(last, last)
        return v1.nn.dynamic_rnn(cell, states, initial_state=begin)[0]


def old_projections(x):
    return [v1.layers.dense(x, 8, name=name) for name in ("query", "key", "value")]


def weighted(q, k, v, heads=2):
    """Attention of projections [batch, time, 8] in two heads."""
    split = [tf.transpose(tf.reshape(one, [-1, TIME, heads, 8 // heads]), [0, 2, 1, 3]) for one in (q, k, v)]
    scores = tf.nn.softmax(tf.matmul(split[0], split[1], transpose_b=True) / (8 // heads) ** 0.5)
    return tf.reshape(tf.transpose(tf.matmul(scores, split[2]), [0, 2, 1, 3]), [-1, TIME, 8])


def old_attention(x):
    return weighted(*old_projections(x))


def old_bert(x):
    """As BERT writes it: kernels without axes for the heads."""
    return v1.layers.dense(weighted(*old_projections(x)), WIDTH, name="output")


def old_fused(x):
    return weighted(*tf.split(v1.layers.dense(x, 24, name="qkv"), 3, axis=-1))


def zero(name, count):
    return v1.get_variable(name, [count], initializer=v1.zeros_initializer())


def old_cudnn_gru(x):
    """As CudnnCompatibleGRUCell of contrib: the state is reset behind the product."""
    with v1.variable_scope("cell"):
        gates, first = v1.get_variable("gates/kernel", [WIDTH + UNITS, 2 * UNITS]), zero("gates/bias", 2 * UNITS)
        inputs = v1.get_variable("inputs/kernel", [WIDTH, UNITS])
        states = v1.get_variable("states/kernel", [UNITS, UNITS])
        second, third = zero("inputs/bias", UNITS), zero("states/bias", UNITS)
    state, found = tf.zeros([6, UNITS]), []
    for one in tf.unstack(x, axis=1):
        reset, update = tf.split(tf.sigmoid(tf.matmul(tf.concat([one, state], 1), gates) + first), 2, axis=1)
        new = tf.tanh(tf.matmul(one, inputs) + second + reset * (tf.matmul(state, states) + third))
        state = update * state + (1 - update) * new
        found.append(state)
    return tf.stack(found, axis=1)


def old_own_cell(x):
    """A cell of one's own, in the layout of TF1, with the names that the TF2 side kept."""
    with v1.variable_scope("cell"):
        kernel = v1.get_variable("kernel", [WIDTH + UNITS, 4 * UNITS])
        bias = zero("bias", 4 * UNITS)
    return unrolled(x, kernel, bias, "icfo", 1.0)


def unrolled(x, kernel, bias, order, shift):
    """An LSTM whose gates lie in an order."""
    state = output = tf.zeros([6, UNITS])
    found = []
    for one in tf.unstack(x, axis=1):
        blocks = tf.split(tf.matmul(tf.concat([one, output], 1), kernel) + bias, 4, axis=1)
        gates = dict(zip(order, blocks, strict=True))
        state = state * tf.sigmoid(gates["f"] + shift) + tf.sigmoid(gates["i"]) * tf.tanh(gates["c"])
        output = tf.tanh(state) * tf.sigmoid(gates["o"])
        found.append(output)
    return tf.stack(found, axis=1)


OLD = {
    "basic lstm": lambda x: dynamic(cells().BasicLSTMCell(UNITS), x),
    "trained before": lambda x: dynamic(cells().LSTMCell(UNITS, initializer=v1.constant_initializer(KERNEL)), x),
    "other forget bias": lambda x: dynamic(cells().LSTMCell(UNITS, forget_bias=2.5), x),
    "no forget bias": lambda x: dynamic(cells().LSTMCell(UNITS, forget_bias=0.0), x),
    "gru": lambda x: dynamic(zeros_gru(), x),
    "gru with ones": lambda x: dynamic(cells().GRUCell(UNITS), x),
    "rnn": lambda x: dynamic(cells().BasicRNNCell(UNITS), x),
    "both ways": old_both(lambda: cells().BasicLSTMCell(UNITS)),
    "both ways, gru": old_both(zeros_gru),
    "static, both ways": old_static,
    "stacked": lambda x: dynamic(cells().MultiRNNCell([cells().BasicLSTMCell(UNITS) for _ in range(2)]), x),
    "stacked, mixed": lambda x: dynamic(cells().MultiRNNCell([zeros_gru(), cells().BasicRNNCell(UNITS)]), x),
    "sequence to sequence": old_sequence_to_sequence,
    "attention": old_attention,
    "bert": old_bert,
    "fused": old_fused,
    "cudnn gru": old_cudnn_gru,
    "own cell": old_own_cell,
}


def network(name):
    """The TF1 side around one of these."""

    def build(x, labels):
        with v1.variable_scope("net", initializer=v1.random_uniform_initializer(-SCALE, SCALE)):
            logits = v1.layers.dense(OLD[name](x)[:, -1], CLASSES, name="top")
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        return Spec(logits, loss, v1.train.AdamOptimizer(0.01).minimize(loss))

    return build


# TF2


def drawn():
    return keras.initializers.RandomUniform(-SCALE, SCALE)


def recurrent(kind, **more):
    more = {"kernel_initializer": drawn(), "recurrent_initializer": drawn(), "return_sequences": True, **more}
    return getattr(layers, kind)(UNITS, **more)


def cell(kind, **more):
    return getattr(layers, kind)(UNITS, kernel_initializer=drawn(), recurrent_initializer=drawn(), **more)


def lstm(**more):
    return recurrent("LSTM", **more)


def gru(**more):
    return recurrent("GRU", **{"reset_after": False, **more})


def both(one, other=None):
    return layers.Bidirectional(one, backward_layer=other)


class Tops(keras.Model):
    """Takes the last step of what the part gives."""

    def __init__(self, *parts):
        super().__init__(name="net")
        self.parts = list(parts)
        self.top = layers.Dense(CLASSES, kernel_initializer=drawn(), name="top")

    def call(self, x):
        for part in self.parts:
            x = part(x)
        return self.top(x[:, -1])


class Coder(layers.Layer):
    def __init__(self, decoder=None):
        super().__init__(name="coder")
        self.encoder = gru(return_state=True, name="encoder")
        self.decoder = decoder or lstm(name="decoder")

    def call(self, x):
        states, last = self.encoder(x)
        return self.decoder(states, initial_state=[last, last])


def dense(units, name):
    return layers.Dense(units, kernel_initializer=drawn(), name=name)


class Attention(layers.Layer):
    """With one projection for all, in an order, or with heads that take turns."""

    def __init__(self, order="qkv", turns=False):
        super().__init__(name="attention")
        self.qkv, self.order, self.turns = dense(24, "qkv"), order, turns

    def call(self, x):
        three = self.qkv(x)
        if self.turns:
            three = tf.split(tf.reshape(three, [-1, TIME, 2, 12]), 3, axis=-1)
            return weighted(*(tf.reshape(one, [-1, TIME, 8]) for one in three))
        parts = dict(zip(self.order, tf.split(three, 3, axis=-1), strict=True))
        return weighted(*(parts[one] for one in "qkv"))


class Projections(layers.Layer):
    def __init__(self, crossed=False):
        super().__init__(name="attention")
        self.dense = [dense(8, name) for name in ("query", "key", "value")]
        self.crossed = crossed

    def call(self, x):
        one, other, third = (layer(x) for layer in self.dense)
        return weighted(other, one, third) if self.crossed else weighted(one, other, third)


class Heads(layers.Layer):
    """The attention of Keras."""

    def __init__(self, **more):
        super().__init__(name="heads")
        self.attention = layers.MultiHeadAttention(2, 4, kernel_initializer=drawn(), name="attention", **more)

    def call(self, x):
        return self.attention(x, x)


class OwnCell(layers.Layer):
    """An LSTM of one's own, in one kernel like TF1's or in the two of Keras; `order` is that of its gates."""

    def __init__(self, order="icfo", shift=1.0, apart=False, begin="zeros"):
        super().__init__(name="cell")
        self.order, self.shift, self.apart, self.begin = order, shift, apart, begin

    def build(self, shape):
        rows = [WIDTH, UNITS] if self.apart else [WIDTH + UNITS]
        self.kernels = [
            self.add_weight(shape=(count, 4 * UNITS), initializer=drawn(), name=name)
            for count, name in zip(rows, ("kernel", "recurrent_kernel"), strict=False)
        ]
        self.bias = self.add_weight(shape=(4 * UNITS,), initializer=self.begin, name="bias")

    def call(self, x):
        kernel = tf.concat([tf.convert_to_tensor(one) for one in self.kernels], 0)
        return unrolled(x, kernel, tf.convert_to_tensor(self.bias), self.order, self.shift)


def forget_bias(shape, dtype=None):
    """Two and a half in the bias of the forget gate."""
    return tf.constant([0.0] * UNITS + [2.5] * UNITS + [0.0] * 2 * UNITS, dtype or tf.float32)


def gate_bias(shape, dtype=None):
    """As the gates of TF1's GRU begin, and its candidate does not."""
    return tf.constant([1.0] * 2 * UNITS + [0.0] * UNITS, dtype or tf.float32)


def twice():
    return lstm(), lstm()


NO_UNIT = {"unit_forget_bias": False}
KERNEL = np.random.RandomState(3).uniform(-1, 1, (WIDTH + UNITS, 4 * UNITS)).astype(np.float32)
"""Of a model that was trained before, with the gates as TF1 has them."""


def by_hand(order):
    """An LSTM that begins with what was trained before, its gates put in an order."""
    blocks = dict(zip("icfo", np.split(KERNEL, 4, axis=1), strict=True))
    kernel = np.concatenate([blocks[gate] for gate in order], axis=1)
    return lstm(
        kernel_initializer=lambda shape, dtype=None: tf.constant(kernel[:WIDTH]),
        recurrent_initializer=lambda shape, dtype=None: tf.constant(kernel[WIDTH:]),
    )


def unit(shape, dtype=None):
    """One in the forget gate of a cell whose gates are i, f, c, o."""
    return tf.constant([0.0] * UNITS + [1.0] * UNITS + [0.0] * 2 * UNITS, dtype or tf.float32)


SOUND = {
    "basic lstm": ("basic lstm", lambda: Tops(lstm())),
    "cell in a layer": ("basic lstm", lambda: Tops(layers.RNN(cell("LSTMCell"), return_sequences=True))),
    "other forget bias": ("other forget bias", lambda: Tops(lstm(bias_initializer=forget_bias, **NO_UNIT))),
    "no forget bias": ("no forget bias", lambda: Tops(lstm(**NO_UNIT))),
    "gru": ("gru", lambda: Tops(gru())),
    "gru with ones": ("gru with ones", lambda: Tops(gru(bias_initializer=gate_bias))),
    "rnn": ("rnn", lambda: Tops(recurrent("SimpleRNN"))),
    "both ways": ("both ways", lambda: Tops(both(lstm()))),
    "both ways, gru": ("both ways, gru", lambda: Tops(both(gru()))),
    "static, both ways": ("static, both ways", lambda: Tops(both(lstm()))),
    "stacked": ("stacked", lambda: Tops(*twice())),
    "stacked cells": (
        "stacked",
        lambda: Tops(layers.RNN(layers.StackedRNNCells([cell("LSTMCell"), cell("LSTMCell")]), return_sequences=True)),
    ),
    "stacked, mixed": ("stacked, mixed", lambda: Tops(gru(), recurrent("SimpleRNN"))),
    "sequence to sequence": ("sequence to sequence", lambda: Tops(Coder())),
    "attention": ("attention", lambda: Tops(Attention())),
    "heads that take turns": ("attention", lambda: Tops(Attention(turns=True))),
    "fused and apart": ("fused", lambda: Tops(Projections())),
    "bert": ("bert", lambda: Tops(Heads())),
    "own cell, two kernels": ("basic lstm", lambda: Tops(OwnCell(apart=True))),
    "own cell, other order": ("basic lstm", lambda: Tops(OwnCell("foci", 1.0, apart=True))),
    "own cell": ("own cell", lambda: Tops(OwnCell())),
    "by hand": ("trained before", lambda: Tops(by_hand("ifco"))),
    "reset behind the product": ("cudnn gru", lambda: Tops(gru(reset_after=True))),
}
WRONG = {
    "by hand, order of TF1": ("trained before", lambda: Tops(by_hand("icfo"))),
    "no unit forget bias": ("basic lstm", lambda: Tops(lstm(**NO_UNIT))),
    "unit forget bias": ("no forget bias", lambda: Tops(lstm())),
    "added twice": ("basic lstm", lambda: Tops(OwnCell("ifco", apart=True, begin=unit))),
    "both ways, none": ("both ways", lambda: Tops(both(lstm(**NO_UNIT)))),
    "stacked, one without": ("stacked", lambda: Tops(lstm(), lstm(**NO_UNIT))),
    "decoder without": ("sequence to sequence", lambda: Tops(Coder(lstm(**NO_UNIT)))),
    "half a forget bias": ("other forget bias", lambda: Tops(lstm())),
    "reset behind": ("gru", lambda: Tops(gru(reset_after=True))),
    "both ways, reset behind": ("both ways, gru", lambda: Tops(both(gru(reset_after=True)))),
    "gru begins with zeros": ("gru with ones", lambda: Tops(gru())),
    "own cell, order": ("own cell", lambda: Tops(OwnCell("ifco"))),
    "own cell, never": ("own cell", lambda: Tops(OwnCell(shift=0.0))),
    "own cell, twice": ("own cell", lambda: Tops(OwnCell(shift=2.0))),
}
OTHERWISE = {
    "relu": ("basic lstm", lambda: Tops(lstm(activation="relu"))),
    "backwards": ("gru", lambda: Tops(gru(go_backwards=True))),
    "sigmoid": ("rnn", lambda: Tops(recurrent("SimpleRNN", activation="sigmoid"))),
}
"""Wrong in what has nothing to do with layouts."""


def step(model, x, labels):
    if not hasattr(model, "adam"):
        model.adam = keras.optimizers.Adam(0.01, epsilon=1e-8)
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=model(x, training=True))
        loss = tf.reduce_mean(losses)
    weights = model.trainable_variables
    model.adam.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


def pair(name, old, new, **more):
    more = {"renames": {"net/output/": "net/heads/attention/attention_output/"} if old == "bert" else None, **more}
    return Pair(network(old), new, sequences, classes, train_step=step, name=old, **more)


def declared(name, *lines):
    old, new = SOUND[name][:2]
    return pair(name, old, new, converters=[Converter(*sides, layout, **more) for *sides, layout, more in lines])


def by_function(arrays):
    """What ``lstm`` does, written by the user."""
    blocks = [np.split(value, 4, axis=-1) for value in arrays]
    kernel, bias = (np.concatenate([one[0], one[2], one[1], one[3]], axis=-1) for one in blocks)
    return kernel[:WIDTH], kernel[WIDTH:], bias + np.repeat([0.0, 1.0, 0.0, 0.0], UNITS)


PAIRS = {name: pair(name, *one[:2]) for name, one in {**SOUND, **WRONG, **OTHERWISE}.items()}
PAIRS["declared"] = declared("basic lstm", ("net/rnn/basic_lstm_cell/", "lstm/lstm_cell/", "lstm", {}))
PAIRS["by function"] = declared("basic lstm", ("net/rnn/basic_lstm_cell/", "lstm/lstm_cell/", by_function, {}))
PAIRS["declared otherwise"] = declared(
    "basic lstm", ("net/rnn/basic_lstm_cell/", "lstm/lstm_cell/", "lstm", {"gates": "icfo"})
)
PAIRS["declared in vain"] = declared("basic lstm", ("net/rnn/no_cell/", "lstm/lstm_cell/", "lstm", {}))
