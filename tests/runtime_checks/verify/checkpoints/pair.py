"""Pairs around the network of ``write.py``, whose checkpoint lies beside this file."""

import os

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair

v1 = tf.compat.v1
CHECKPOINT = "tf115.ckpt"
FEATURES = np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32)


def network(features, training=False):
    with v1.variable_scope("net"):
        hidden = v1.layers.dense(features, 4, name="hidden")
        hidden = v1.layers.batch_normalization(hidden, training=training, name="normal")
        return tf.tanh(hidden) * v1.get_variable("scale", (4,))


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(4, name="hidden")
        self.normal = tf.keras.layers.BatchNormalization(name="normal")
        self.factor = Scale(name="factor")

    def call(self, features, training=False):
        return self.factor(self.normal(self.hidden(features), training=training))


class Scale(tf.keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(name="scale", shape=(4,))

    def call(self, values):
        return tf.tanh(values) * self.scale


def layer():
    class Network(tf.keras.layers.Layer):
        @v1.keras.utils.track_tf1_style_variables
        def call(self, features, training=False):
            return network(features, training)

    return Network()


def silent():
    made = layer()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), CHECKPOINT)
    v1.train.init_from_checkpoint(path, {"net/": "net/"})
    return made


RENAMES = {"net/": "", "net/scale": "factor/scale"}

shim = Pair(network, layer, FEATURES, checkpoint=CHECKPOINT)
model = Pair(network, Classifier, FEATURES, renames=RENAMES, checkpoint=CHECKPOINT)
too_early = Pair(network, silent, FEATURES)
absent = Pair(network, layer, FEATURES, checkpoint="model.ckpt-7")
