"""A transformer encoder of 110 million parameters as a TF1 graph and as a Keras model, trained with Adam.

The sizes are those of Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), table 1, base. The
names of the variables are the same on both sides.
"""

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
WORDS, POSITIONS, WIDTH, INNER, HEADS, BLOCKS = 30522, 512, 768, 3072, 12, 12
CLASSES, BATCH, LENGTH, RATE = 2, 2, 16, 1e-4
DRAWN = 0.02


def inputs(step):
    return np.random.default_rng(step).integers(WORDS, size=(BATCH, LENGTH)).astype(np.int32)


def labels(step):
    return np.random.default_rng(step).integers(CLASSES, size=BATCH)


def gelu(value):
    return value * 0.5 * (1.0 + tf.math.erf(value / np.float32(np.sqrt(2.0))))


def normalized(value, gamma, beta):
    mean, variance = tf.nn.moments(value, [-1], keepdims=True)
    return tf.nn.batch_normalization(value, mean, variance, beta, gamma, 1e-12)


def attention(query, key, value):
    def apart(one):
        return tf.transpose(tf.reshape(one, (BATCH, LENGTH, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))

    scores = tf.matmul(apart(query), apart(key), transpose_b=True) / np.float32(np.sqrt(WIDTH // HEADS))
    found = tf.matmul(tf.nn.softmax(scores), apart(value))
    return tf.reshape(tf.transpose(found, (0, 2, 1, 3)), (BATCH, LENGTH, WIDTH))


def tf1(features, labels, mode):
    def variable(name, *shape, initializer=None):
        return v1.get_variable(name, shape, initializer=initializer or v1.truncated_normal_initializer(stddev=DRAWN))

    def dense(value, name, units):
        with v1.variable_scope(name):
            kernel = variable("kernel", value.shape[-1], units)
            bias = variable("bias", units, initializer=v1.zeros_initializer())
        flat = tf.reshape(value, (-1, value.shape[-1]))
        return tf.reshape(tf.matmul(flat, kernel) + bias, (*value.shape[:-1], units))

    def normal(value, name):
        with v1.variable_scope(name):
            gamma = variable("gamma", WIDTH, initializer=v1.ones_initializer())
            beta = variable("beta", WIDTH, initializer=v1.zeros_initializer())
        return normalized(value, gamma, beta)

    net = tf.nn.embedding_lookup(variable("words", WORDS, WIDTH), features)
    net = normal(net + variable("positions", POSITIONS, WIDTH)[:LENGTH], "norm")
    for at in range(BLOCKS):
        with v1.variable_scope(f"block_{at}"):
            heads = attention(*(dense(net, name, WIDTH) for name in ("query", "key", "value")))
            net = normal(net + dense(heads, "output", WIDTH), "norm_1")
            inner = gelu(dense(net, "inner", INNER))
            net = normal(net + dense(inner, "outer", WIDTH), "norm_2")
    logits = dense(tf.tanh(dense(net[:, 0], "pooled", WIDTH)), "logits", CLASSES)
    if mode == "infer":
        return Spec(logits)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    step = v1.train.get_or_create_global_step()
    return Spec(logits, loss, v1.train.AdamOptimizer(RATE).minimize(loss, step))


class Dense(tf.keras.layers.Layer):
    def __init__(self, units, name):
        super().__init__(name=name)
        self.units = units

    def build(self, shape):
        drawn = tf.keras.initializers.TruncatedNormal(stddev=DRAWN)
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], self.units), initializer=drawn)
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")

    def call(self, value):
        return tf.tensordot(value, self.kernel, 1) + self.bias


class Normal(tf.keras.layers.Layer):
    def build(self, shape):
        self.gamma = self.add_weight(name="gamma", shape=shape[-1:], initializer="ones")
        self.beta = self.add_weight(name="beta", shape=shape[-1:], initializer="zeros")

    def call(self, value):
        return normalized(value, self.gamma, self.beta)


class Block(tf.keras.layers.Layer):
    def __init__(self, name):
        super().__init__(name=name)
        self.parts = [Dense(WIDTH, name) for name in ("query", "key", "value", "output")]
        self.norm_1, self.norm_2 = Normal(name="norm_1"), Normal(name="norm_2")
        self.inner, self.outer = Dense(INNER, "inner"), Dense(WIDTH, "outer")

    def call(self, net):
        query, key, value, output = self.parts
        net = self.norm_1(net + output(attention(query(net), key(net), value(net))))
        return self.norm_2(net + self.outer(gelu(self.inner(net))))


class Encoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.norm = Normal(name="norm")
        self.blocks = [Block(f"block_{at}") for at in range(BLOCKS)]
        self.pooled, self.logits = Dense(WIDTH, "pooled"), Dense(CLASSES, "logits")

    def build(self, shape):
        drawn = [tf.keras.initializers.TruncatedNormal(stddev=DRAWN) for _ in range(2)]  # each draws the same each time
        self.words = self.add_weight(name="words", shape=(WORDS, WIDTH), initializer=drawn[0])
        self.positions = self.add_weight(name="positions", shape=(POSITIONS, WIDTH), initializer=drawn[1])

    def call(self, features):
        net = self.norm(tf.gather(self.words, features) + self.positions[:LENGTH])
        for block in self.blocks:
            net = block(net)
        return self.logits(tf.tanh(self.pooled(net[:, 0])))


def tf2():
    model = Encoder()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(RATE, epsilon=1e-8), loss)
    return model


pair = Pair(tf1=tf1, tf2=tf2, inputs=inputs, labels=labels)
