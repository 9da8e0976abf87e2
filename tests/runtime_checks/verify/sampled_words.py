"""Pairs whose networks sample one word after another, in a loop of the graph and in one of Python."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
WORDS = 6


def rows(step):
    return np.random.default_rng(step).normal(size=(4, WORDS)).astype(np.float32)


def network(features, mode):
    with v1.variable_scope("words"):
        kernel = v1.get_variable("kernel", [WORDS, WORDS])

    def turn(at, last, words):
        word = tf.reshape(v1.multinomial(tf.matmul(last, kernel), 1, output_dtype=tf.int32), [-1])
        return at + 1, tf.one_hot(word, WORDS), words.write(at, word)

    words = tf.TensorArray(tf.int32, 5)
    begin = tf.constant(0), features, words
    _, _, words = tf.while_loop(lambda at, *_: at < 5, turn, begin)
    sampled = tf.transpose(words.stack())
    return Spec({"sampled": sampled, "scores": tf.matmul(features, kernel)})


class Words(tf.keras.Model):
    def __init__(self, scale=1.0):
        super().__init__(name="words")
        self.scale = scale

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(WORDS, WORDS), initializer="glorot_uniform")

    def call(self, inputs):
        last, words = inputs, []
        for _ in range(5):
            word = tf.reshape(tf.random.categorical(tf.matmul(last, self.kernel), 1, dtype=tf.int32), [-1])
            last = tf.one_hot(word, WORDS)
            words.append(word)
        return {"sampled": tf.stack(words, 1), "scores": self.scale * tf.matmul(inputs, self.kernel)}


def wide():
    """Begins with weights of another distribution."""
    made = Words()
    made.build = lambda shape: setattr(
        made, "kernel", made.add_weight(name="kernel", shape=(WORDS, WORDS), initializer="ones")
    )
    return made


right = Pair(tf1=network, tf2=Words, inputs=rows)
begins_otherwise = Pair(tf1=network, tf2=wide, inputs=rows)
