"""The TF2 side of the planted bugs: the network of `old` in Keras, subclassed with a loop, and functional with fit."""

from __future__ import annotations

import tensorflow as tf

keras = tf.keras
KERAS_3 = hasattr(keras, "ops")
CLASSES = 5
DECAY = 0.01


class Transposed(keras.layers.Dense):
    """A dense layer that multiplies by its square kernel the wrong way round."""

    def call(self, inputs):
        return self.activation(tf.matmul(inputs, self.kernel, transpose_b=True) + self.bias)


class Scaled(keras.layers.Layer):
    """Multiplies by a variable that the old network does not have."""

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs):
        return inputs * self.scale


class Drawing(keras.layers.Layer):
    """Adds a number in training that it draws."""

    def call(self, inputs, training=None):
        if training:
            return inputs + 0.1 * tf.random.uniform([])
        return inputs


class Frozen(keras.layers.BatchNormalization):
    """Normalizes by the batch in training and leaves the moving statistics alone."""

    def call(self, inputs, training=None):
        if not training:
            return super().call(inputs, training=False)
        mean, variance = tf.nn.moments(inputs, [0, 1, 2])
        return tf.nn.batch_normalization(inputs, mean, variance, self.beta, self.gamma, self.epsilon)


class Late(keras.optimizers.schedules.LearningRateSchedule):
    """A schedule that is one step ahead of another."""

    def __init__(self, schedule):
        super().__init__()
        self.schedule = schedule

    def __call__(self, step):
        return self.schedule(step + 1)

    def get_config(self):
        return {"schedule": self.schedule}


def layers(params):
    """The layers in the order of the forward pass."""
    bug, make = params["bug"], keras.layers
    regularizer = keras.regularizers.L2(DECAY)
    options = {"kernel_regularizer": regularizer}
    if "other initializer" in bug:
        options["kernel_initializer"] = "he_normal"
    unfused = {} if KERAS_3 or params["layers"] or params["fused"] else {"fused": False}
    norm = Frozen if "frozen statistics" in bug else make.BatchNormalization
    square = Transposed if "transposed kernel" in bug else make.Dense
    logits = dict(options, name="head" if "renamed variable" in bug else "logits")
    if "missing regularizer" in bug:
        del logits["kernel_regularizer"]
    left, right = (
        square(12, activation="relu", name="left", **options),
        make.Dense(12, activation="relu", name="right", **options),
    )
    listed = [
        make.Conv2D(6, 3, 2, "same", use_bias=params["bias"], name="conv", **options),
        norm(
            momentum=0.999 if "batch norm momentum" in bug else 0.99,
            epsilon=1e-5 if "batch norm epsilon" in bug else 1e-3,
            name="norm",
            **unfused,
        ),
        make.Activation("relu", name="relu"),
        make.Conv2D(4, 3, 2, "same", name="conv_2", **options),
        make.Activation("elu" if "other activation" in bug else "relu", name="relu_2"),
        make.Flatten(name="flat"),
        make.Dense(12, activation="relu", name="hidden", **options),
        make.Dropout(0.75 if "keep_prob as rate" in bug else 0.25, name="dropout"),
        *((right, left) if "swapped weights" in bug else (left, right)),
        make.Dense(CLASSES, use_bias="missing variable" not in bug, **logits),
    ]
    if "extra variable" in bug:
        listed.insert(-1, Scaled(name="scaled"))
    if "extra random op" in bug:
        listed.insert(-4, Drawing(name="drawing"))
    return listed


class Classifier(keras.Model):
    """The layers one after the other."""

    def __init__(self, params):
        super().__init__(name="classifier")
        self.params = dict(params)
        self.steps = layers(params)
        self.tuned = optimizer(params)

    def call(self, images, training=False):
        x = images
        training = training and "flag not passed on" not in self.params["bug"]
        for layer in self.steps:
            x = layer(x, training=training) if isinstance(layer, _TRAINED) else layer(x)
        return x


_TRAINED = (keras.layers.BatchNormalization, keras.layers.Dropout, Drawing)


def optimizer(params):
    bug, rate = params["bug"], 0.02
    if params["decaying"]:
        rate = keras.optimizers.schedules.ExponentialDecay(rate, decay_steps=2, decay_rate=0.7)
    if "schedule off by one" in bug:
        rate = Late(rate)
    if params["momentum"]:
        return keras.optimizers.SGD(rate, momentum=0.9)
    return keras.optimizers.Adam(rate, epsilon=1e-7 if "Adam epsilon" in bug else 1e-8)


def loop(params):
    """The model of a loop of one's own."""
    return Classifier(params)


def train_step(model, images, labels):
    """One step of that loop."""
    params = model.params
    with tf.GradientTape() as tape:
        logits = model(images) if "no training flag" in params["bug"] else model(images, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_sum(losses) if "loss summed" in params["bug"] else tf.reduce_mean(losses)
        if "regularization dropped" not in params["bug"]:
            loss += tf.add_n(model.losses) * (2.0 if "regularization doubled" in params["bug"] else 1.0)
    gradients = tape.gradient(loss, model.trainable_variables)
    if params["clip"] and "clipping left out" not in params["bug"]:
        gradients, _ = tf.clip_by_global_norm(gradients, params["clip"])
    model.tuned.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


def fitted(params):
    """The functional model, compiled as for ``fit``."""
    images = x = keras.Input((8, 8, 3))
    for layer in layers(params):
        x = layer(x)
    model = keras.Model(images, x, name="classifier")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=optimizer(params), loss=loss)
    return model
