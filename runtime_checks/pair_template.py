"""What ``migrate-lint verify --init`` writes: a pair that runs as it is, to be replaced piece by piece."""

from __future__ import annotations

__all__ = ["TEMPLATE"]

TEMPLATE = '''\
"""Are the TF1 program and the TF2 program that it became the same? Find out with: migrate-lint verify THIS_FILE"""

import numpy as np
import tensorflow as tf

from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1


# The TF1 side builds a graph. Call your own code here: a function that returns the outputs, or the outputs and a dict
# of endpoints; or a model_fn of an Estimator, as it is. Parameters named labels, mode, params, training or is_training
# are given what they say. `tf1="old/model.py:network"` below names a function in another file.
def network(features, labels, mode):
    with v1.variable_scope("hidden"):
        kernel = v1.get_variable("kernel", [4, 8], initializer=v1.glorot_uniform_initializer())
        bias = v1.get_variable("bias", [8], initializer=v1.zeros_initializer())
        hidden = tf.nn.relu(tf.matmul(features, kernel) + bias)
    with v1.variable_scope("logits"):
        kernel = v1.get_variable("kernel", [8, 3], initializer=v1.glorot_uniform_initializer())
        bias = v1.get_variable("bias", [3], initializer=v1.zeros_initializer())
        logits = tf.matmul(hidden, kernel) + bias
    if mode == "infer":
        return Spec(predictions=logits)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, global_step=v1.train.get_or_create_global_step())
    return Spec(predictions=logits, loss=loss, train_op=train_op)


# The TF2 side is made by a function without required parameters: a Keras layer or model, a tf.Module, or anything that
# can be called. A compiled model is trained as it was compiled; for a loop of your own see train_step below.
def model():
    made = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(8, activation="relu", name="hidden"),
            tf.keras.layers.Dense(3, name="logits"),
        ]
    )
    made.compile(
        optimizer=tf.keras.optimizers.SGD(0.1),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    return made


# One batch for every training step: functions of the step, which is counted from 0. Arrays will do as well.
def features(step):
    return np.random.RandomState(step).normal(size=[16, 4]).astype(np.float32)


def labels(step):
    return np.random.RandomState(step).randint(0, 3, size=[16]).astype(np.int32)


pair = Pair(
    tf1=network,
    tf2=model,
    inputs=features,
    labels=labels,
    # One training step of your own, which returns the loss or a dict with "loss" and metrics:
    # train_step=lambda model, features, labels: ...,
    # TF2 names by TF1 names; a key that ends with / stands for all names below it:
    # renames={"old_block/": "new_block/"},
    # By TF1 name, how a value is transposed for TF2, as in np.transpose:
    # transposes={"conv/kernel": [2, 3, 0, 1]},
    # TF1 variables whose elements have another shape on TF2:
    # reshapes=["conv/bias"],
    # Variables that changed their layout together, such as a cell of TF1 that is a layer of Keras now:
    # converters=[Converter("rnn/basic_lstm_cell/", "lstm/lstm_cell/", "lstm")],
    # Variables of either side that have no counterpart:
    # ignore=["mean_of_inputs"],
    # What belongs together under other names, TF1 tensor or endpoint, then TF2 layer or endpoint:
    # taps={"block": ("block_1/Relu:0", "block_1")},
    # A TF1 checkpoint that both sides should load:
    # checkpoint="checkpoints/model.ckpt-1000",
)
'''
