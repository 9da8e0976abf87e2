"""A digit classifier on its way from TensorFlow 1 to TensorFlow 2."""

import tensorflow as tf


class ScaledDense(tf.keras.layers.Layer):
    """A dense layer whose output is scaled by a learned factor."""

    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units, activation="relu")

    def call(self, inputs):
        scale = tf.Variable(1.0, name="scale")
        return scale * self.dense(inputs)


class Classifier(tf.keras.Model):
    """Scores of ten digits for images of 28 x 28 pixels."""

    def __init__(self):
        super().__init__()
        self.normalize = tf.keras.layers.Lambda(lambda images: images / 255.0)
        self.flatten = tf.keras.layers.Flatten()
        self.hidden = ScaledDense(128)

    def call(self, images, training=False):
        features = self.hidden(self.flatten(self.normalize(images)))
        if training:
            features = tf.nn.dropout(features, rate=0.5)
        return tf.keras.layers.Dense(10)(features)


def build():
    """The classifier, and two images to call it with."""
    return Classifier(), tf.zeros((2, 28, 28))
