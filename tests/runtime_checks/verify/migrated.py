"""Programs as they are met in the wild, and what they became: run by test_real_networks, in workers."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
layers = tf.keras.layers
DATA = np.random.RandomState(1).rand(24, 6).astype(np.float32)
CLASSES = np.random.RandomState(2).randint(0, 3, 24)


def images(step):
    return np.random.RandomState(step).rand(4, 9, 9, 3).astype(np.float32)


def actions(step):
    return np.random.RandomState(step).randint(0, 3, 4)


def convolution(x, scope, filters, stride):
    """As reinforcement learning libraries write it: a bias of four axes."""
    with v1.variable_scope(scope):
        kernel = v1.get_variable("w", [3, 3, int(x.shape[3]), filters], initializer=v1.glorot_uniform_initializer())
        bias = v1.get_variable("b", [1, filters, 1, 1], initializer=v1.zeros_initializer())
        convolved = tf.nn.conv2d(x, kernel, [1, stride, stride, 1], "VALID")
        return convolved + tf.reshape(bias, [1, 1, 1, filters])


def old_policy(observations, labels, training):
    """Draws also in inference, and adds its weight decay to the loss itself; Adam takes large steps."""
    x = tf.nn.relu(convolution(observations, "c1", 16, 1))
    x = tf.nn.relu(convolution(x, "c2", 32, 2))
    x = tf.reshape(x, [-1, 288])
    with v1.variable_scope("pi"):
        kernel = v1.get_variable("w", [288, 3], initializer=v1.glorot_uniform_initializer())
        bias = v1.get_variable("b", [3], initializer=v1.zeros_initializer())
    logits = tf.matmul(x, kernel) + bias
    noisy = logits + v1.random_normal([4, 3], stddev=0.1)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=noisy))
    loss += 0.01 * tf.nn.l2_loss(kernel)
    train_op = v1.train.AdamOptimizer(0.01).minimize(loss) if training else None
    return Spec({"logits": logits, "noisy": noisy}, loss, train_op)


class Policy(tf.keras.Model):
    """The same, with a regularizer of Keras."""

    def __init__(self, spread=0.1):
        super().__init__(name="policy")
        self.c1 = layers.Conv2D(16, 3, activation="relu", name="c1")
        self.c2 = layers.Conv2D(32, 3, 2, activation="relu", name="c2")
        self.flat = layers.Flatten()
        self.pi = layers.Dense(3, kernel_regularizer=tf.keras.regularizers.L2(0.005), name="pi")
        self.spread = spread

    def call(self, observations):
        logits = self.pi(self.flat(self.c2(self.c1(observations))))
        return {"logits": logits, "noisy": logits + tf.random.normal([4, 3], stddev=self.spread)}


def policy_step(model, observations, labels):
    if not hasattr(model, "adam"):
        model.adam = tf.keras.optimizers.Adam(0.01, epsilon=1e-8)
    with tf.GradientTape() as tape:
        noisy = model(observations, training=True)["noisy"]
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=noisy))
        loss += tf.add_n(model.losses)
    weights = model.trainable_variables
    model.adam.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


NAMES = {
    f"{layer}/{old}": f"{layer}/{new}" for layer in ("c1", "c2", "pi") for old, new in (("w", "kernel"), ("b", "bias"))
}
RESHAPES = ["c1/b", "c2/b"]
policy = Pair(old_policy, Policy, images, actions, train_step=policy_step, renames=NAMES, reshapes=RESHAPES)
louder = Pair(
    old_policy, lambda: Policy(0.2), images, actions, train_step=policy_step, renames=NAMES, reshapes=RESHAPES
)


def old_reader(rows, mode):
    """Reads its data itself, as input functions do."""
    pairs = tf.data.Dataset.from_tensor_slices((DATA, CLASSES)).repeat().batch(8)
    rows, labels = v1.data.make_one_shot_iterator(pairs).get_next()
    with v1.variable_scope("head"):
        kernel = v1.get_variable("kernel", [6, 3], initializer=v1.glorot_uniform_initializer())
        logits = tf.matmul(rows, kernel)
    if mode == "infer":
        return Spec(predictions=logits)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    return Spec(logits, loss, v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss))


def new_reader():
    model = tf.keras.Sequential([tf.keras.Input((6,)), layers.Dense(3, use_bias=False, name="head")])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), loss)
    return model


reader = Pair(
    old_reader, new_reader, lambda step: DATA.reshape(3, 8, 6)[step % 3], lambda step: CLASSES.reshape(3, 8)[step % 3]
)


def old_loop(rows):
    """A recurrent network of TF 1.15 in short: a layer in a loop of control flow v1."""
    v1.disable_control_flow_v2()
    cell = v1.layers.Dense(6, activation=tf.tanh, name="cell")
    cell.build((None, 6))
    return tf.while_loop(lambda turn, state: turn < 3, lambda turn, state: (turn + 1, cell(state)), [0, rows])[1]


class Loop(tf.Module):
    """The same, unrolled; its list is one of Python, also in a ``tf.function``."""

    def __init__(self):
        super().__init__()
        self.cell = layers.Dense(6, "tanh", name="cell")

    def __call__(self, rows):
        states = []
        for _ in range(3):
            if self.cell is not None:
                rows = self.cell(rows)
            states.append(rows)
        return states[-1]


loop = Pair(old_loop, Loop, DATA)


def old_words(words, labels, training):
    """An embedding whose rows a batch uses more than once, behind batch normalization."""
    table = v1.get_variable("table", [5, 4], initializer=v1.random_uniform_initializer(-0.05, 0.05))
    x = tf.reshape(tf.nn.embedding_lookup(table, words), [-1, 3, 1, 4])
    for name, scale in (("one", 4), ("two", 2)):
        x = v1.layers.batch_normalization(x, training=training, fused=True, name=name)
        x = x[:, :, :, :scale]
    logits = tf.reduce_mean(x, [1, 2])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = v1.train.AdagradOptimizer(0.1).minimize(loss) if training else None
    return Spec(logits, loss, train_op)


class Words(tf.keras.Model):
    """The same in Keras."""

    def __init__(self):
        super().__init__(name="words")
        self.table = layers.Embedding(5, 4, name="table")
        self.one, self.two = (layers.BatchNormalization(name=name) for name in ("one", "two"))

    def call(self, words, training=False):
        x = tf.reshape(self.table(words), [-1, 3, 1, 4])
        x = self.one(x, training=training)
        x = self.two(x, training=training)[:, :, :, :2]
        return tf.reduce_mean(x, [1, 2])


def words_step(model, words, labels):
    if not hasattr(model, "adagrad"):
        model.adagrad = tf.keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0)
    with tf.GradientTape() as tape:
        logits = model(words, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    weights = model.trainable_variables
    model.adagrad.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


words = Pair(
    old_words,
    Words,
    lambda step: np.random.RandomState(step).randint(0, 5, (4, 3)),
    lambda step: np.random.RandomState(step).randint(0, 2, 4),
    train_step=words_step,
    renames={"table": "table/embeddings"},
)
