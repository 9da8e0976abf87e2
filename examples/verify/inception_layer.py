"""Inception-ResNet-v2 as a Keras layer behind TensorFlow's shim: the code of TF1, whose variables the layer keeps."""

import tensorflow as tf
from inception_resnet_v2 import network


class InceptionResnetV2(tf.keras.layers.Layer):
    @tf.compat.v1.keras.utils.track_tf1_style_variables
    def call(self, images, training=None):
        return network(images, is_training=bool(training))


def functional_model():
    """The layer in a functional model: its variables exist before the first real call."""
    images = tf.keras.Input((299, 299, 3))
    return tf.keras.Model(images, InceptionResnetV2()(images))
