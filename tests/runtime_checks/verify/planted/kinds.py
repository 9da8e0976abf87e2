"""Pairs with bugs of the kinds that `new` does not have: the lines with the comment ``bug`` are to be found.

Each pair is a function of the TF1 side, named ``old_...``, and one of the TF2 side; a model that is not compiled is
trained by `step`.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from tensorflow.compat import v1

keras, layers = tf.keras, tf.keras.layers


def numbers(step):
    """A batch of [4, 6], float32."""
    return np.random.RandomState(step).uniform(-1.0, 1.0, (4, 6)).astype(np.float32)


def pictures(step):
    """A batch of [4, 6, 6, 2], float32."""
    return np.random.RandomState(step).uniform(-1.0, 1.0, (4, 6, 6, 2)).astype(np.float32)


def words(step):
    """A batch of [4, 3] numbers below 7, of which some come twice."""
    return np.random.RandomState(step).randint(0, 4, (4, 3)).astype(np.int32)


def classes(step):
    """Of each of the four examples."""
    return np.random.RandomState(50 + step).randint(0, 3, 4).astype(np.int32)


def old(logits, labels, optimizer, loss=None):
    """What a TF1 function returns: its logits, or with labels everything that a step needs."""
    if labels is None:
        return logits
    if loss is None:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    losses = v1.losses.get_regularization_losses()
    loss = tf.add_n([loss, *losses])
    step = v1.train.get_or_create_global_step()
    return tf.estimator.EstimatorSpec("train", logits, loss, optimizer.minimize(loss, global_step=step))


def compiled(body, optimizer, loss=None, shape=(6,), dtype="float32"):
    """A functional model, compiled."""
    inputs = keras.Input(shape, dtype=dtype)
    model = keras.Model(inputs, body(inputs))
    model.compile(optimizer, loss or keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


class Looped(keras.Model):
    """A model whose loop is one's own."""

    def __init__(self, parts, optimizer):
        super().__init__()
        self.parts = parts
        self.tuned = optimizer

    def call(self, x):
        for part in self.parts:
            x = part(x)
        return x


def old_rmsprop(x, labels=None):
    logits = v1.layers.dense(x, 3, name="top")
    return old(logits, labels, v1.train.RMSPropOptimizer(0.01, decay=0.9, epsilon=1e-7))


def rmsprop():
    return compiled(layers.Dense(3, name="top"), keras.optimizers.RMSprop(0.01, rho=0.9, epsilon=1e-7))  # bug


def old_rate(x, labels=None):
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.MomentumOptimizer(0.02, 0.9))


def rate():
    return compiled(layers.Dense(3, name="top"), keras.optimizers.SGD(0.2, momentum=0.9))  # bug


def momentum():
    return compiled(layers.Dense(3, name="top"), keras.optimizers.SGD(0.02, momentum=0.99))  # bug


def reduction():
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")  # bug
    return compiled(layers.Dense(3, name="top"), keras.optimizers.SGD(0.02, momentum=0.9), loss)


def logits():
    loss = keras.losses.SparseCategoricalCrossentropy()  # bug
    return compiled(layers.Dense(3, name="top"), keras.optimizers.SGD(0.02, momentum=0.9), loss)


def rate_and_logits():
    loss = keras.losses.SparseCategoricalCrossentropy()  # bug
    return compiled(layers.Dense(3, name="top"), keras.optimizers.SGD(0.05, momentum=0.9), loss)  # bug


def old_decayed(x, labels=None):
    rate = v1.train.exponential_decay(0.02, v1.train.get_or_create_global_step(), 2, 0.5, staircase=True)
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.GradientDescentOptimizer(rate))


def decayed():
    rate = keras.optimizers.schedules.ExponentialDecay(0.02, 2, 0.5)  # bug
    return compiled(layers.Dense(3, name="top"), keras.optimizers.SGD(rate))


def old_l2(x, labels=None):
    def half(kernel):
        return 0.1 * tf.nn.l2_loss(kernel)

    x = v1.layers.dense(x, 5, tf.nn.relu, kernel_regularizer=half, name="hidden")
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.GradientDescentOptimizer(0.02))


def l2():
    hidden = layers.Dense(5, "relu", kernel_regularizer=keras.regularizers.L2(0.1), name="hidden")  # bug
    return compiled(lambda x: layers.Dense(3, name="top")(hidden(x)), keras.optimizers.SGD(0.02))


def l2_and_rate():
    hidden = layers.Dense(5, "relu", kernel_regularizer=keras.regularizers.L2(0.1), name="hidden")  # bug
    return compiled(lambda x: layers.Dense(3, name="top")(hidden(x)), keras.optimizers.SGD(0.03))  # bug


def old_padding(x, labels=None):
    x = v1.layers.conv2d(x, 4, 3, padding="valid", name="conv")
    x = tf.reduce_mean(x, [1, 2])
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.GradientDescentOptimizer(0.02))


def padding():
    def body(x):
        x = layers.Conv2D(4, 3, padding="same", name="conv")(x)  # bug
        return layers.Dense(3, name="top")(layers.GlobalAveragePooling2D()(x))

    return compiled(body, keras.optimizers.SGD(0.02), shape=(6, 6, 2))


def old_resize(x, labels=None):
    x = v1.image.resize_bilinear(x, [9, 9], align_corners=True)
    x = tf.reshape(x, [-1, 162])
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.GradientDescentOptimizer(0.02))


class Resized(Looped):
    def call(self, x):
        x = tf.image.resize(x, [9, 9])  # bug
        return super().call(x)


def resize():
    return Resized([layers.Flatten(), layers.Dense(3, name="top")], keras.optimizers.SGD(0.02))


def old_clipped(x, labels=None):
    scores = v1.layers.dense(x, 3, name="top")
    if labels is None:
        return scores
    optimizer = v1.train.GradientDescentOptimizer(0.02)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores))
    gradients, variables = zip(*optimizer.compute_gradients(loss))  # noqa: B905
    gradients, _ = tf.clip_by_global_norm(gradients, 0.1)
    return tf.estimator.EstimatorSpec("train", scores, loss, optimizer.apply_gradients(zip(gradients, variables)))  # noqa: B905


def clipped():
    return Looped([layers.Dense(3, name="top")], keras.optimizers.SGD(0.02))


def step(model, x, labels):
    """One step of a loop, whose gradients are clipped where the model says so."""
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
    gradients = tape.gradient(loss, model.trainable_variables)
    model.tuned.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


def clipping_step(model, x, labels):
    """The same with a norm that is too large."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(x, training=True)))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 0.5)  # bug
    model.tuned.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


def weighted_step(model, x, labels):
    """The same with a loss that is half of what it should be, in a way that nobody has a name for."""
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(x, training=True))
        loss = tf.tensordot(losses, tf.fill([4], 0.125), 1)
    gradients = tape.gradient(loss, model.trainable_variables)  # bug
    model.tuned.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


def old_plain(x, labels=None):
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.GradientDescentOptimizer(0.02))


def old_rows(x, labels=None):
    table = v1.get_variable("table/embeddings", [7, 3], initializer=v1.random_uniform_initializer(-0.05, 0.05))
    logits = tf.reduce_mean(tf.nn.embedding_lookup(table, x), 1)
    return old(logits, labels, v1.train.AdagradOptimizer(0.1, initial_accumulator_value=0.1))


class Rows(Looped):
    def call(self, x):
        return tf.reduce_mean(super().call(x), 1)


def rows():
    """On Keras 3 there are two bugs: it does not sum up the rows of a gradient that come twice, and TF1 does."""
    table = layers.Embedding(7, 3, name="table")
    return Rows([table], keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.5, epsilon=0.0))  # bug


def old_forgetting(x, labels=None):
    x = v1.keras.layers.LSTM(4, recurrent_activation="sigmoid", name="memory")(tf.reshape(x, [-1, 3, 2]))
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.GradientDescentOptimizer(0.02))


def forgetting():
    memory = layers.LSTM(4, unit_forget_bias=False, name="memory")  # bug
    return compiled(
        lambda x: layers.Dense(3, name="top")(memory(layers.Reshape((3, 2))(x))), keras.optimizers.SGD(0.02)
    )


class Bent(keras.layers.Layer):
    """Computes what no other program does."""

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], 3), initializer="glorot_uniform")
        self.bias = self.add_weight(name="bias", shape=(3,), initializer="zeros")

    def call(self, x):
        return tf.matmul(x, self.kernel + 0.3 * tf.square(self.kernel)) + self.bias


def bent():
    return Looped([Bent(name="top")], keras.optimizers.SGD(0.02))


def old_sound(x, labels=None, training=False):
    x = v1.layers.dense(x, 6, tf.nn.relu, kernel_regularizer=lambda kernel: 0.1 * tf.nn.l2_loss(kernel), name="hidden")
    x = v1.layers.batch_normalization(x, training=training, fused=False, name="norm")
    x = v1.layers.dropout(x, 0.25, training=training)
    rate = v1.train.exponential_decay(0.02, v1.train.get_or_create_global_step(), 2, 0.5)
    logits = v1.layers.dense(x, 3, name="top")
    updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
    with v1.control_dependencies(updates):
        return old(logits, labels, v1.train.GradientDescentOptimizer(rate))


def sound():
    def body(x):
        hidden = layers.Dense(6, "relu", kernel_regularizer=keras.regularizers.L2(0.05), name="hidden")
        x = layers.BatchNormalization(name="norm")(hidden(x))
        return layers.Dense(3, name="top")(layers.Dropout(0.25)(x))

    return compiled(body, keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.02, 2, 0.5)))


class Early(keras.optimizers.schedules.LearningRateSchedule):
    """The schedule of `old_decayed`, one step ahead."""

    def __call__(self, step):
        return keras.optimizers.schedules.ExponentialDecay(0.02, 2, 0.5, staircase=True)(step + 1)

    def get_config(self):
        return {}


def top(*before):
    """What puts layers and the last one together."""

    def body(x):
        for layer in before:
            x = layer(x)
        return layers.Dense(3, name="top")(x)

    return body


def reduction_and_momentum():
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")  # bug
    return compiled(top(), keras.optimizers.SGD(0.02, momentum=0.8), loss)  # bug


def old_dropping(x, labels=None, training=False):
    x = v1.layers.conv2d(x, 4, 3, padding="valid", name="conv")
    x = v1.layers.dropout(tf.reduce_mean(x, [1, 2]), 0.2, training=training)
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.GradientDescentOptimizer(0.02))


def padding_and_dropout():
    conv = layers.Conv2D(4, 3, padding="same", name="conv")  # bug
    drop = layers.Dropout(0.8)  # bug
    return compiled(top(conv, layers.GlobalAveragePooling2D(), drop), keras.optimizers.SGD(0.02), shape=(6, 6, 2))


def old_clipped_and_decayed(x, labels=None):
    scores = v1.layers.dense(x, 3, name="top")
    if labels is None:
        return scores
    counter = v1.train.get_or_create_global_step()
    optimizer = v1.train.GradientDescentOptimizer(v1.train.exponential_decay(0.02, counter, 2, 0.5, staircase=True))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores))
    gradients, variables = zip(*optimizer.compute_gradients(loss))  # noqa: B905
    gradients, _ = tf.clip_by_global_norm(gradients, 0.1)
    train = optimizer.apply_gradients(zip(gradients, variables), counter)  # noqa: B905
    return tf.estimator.EstimatorSpec("train", scores, loss, train)


def schedule_and_clipping():
    return compiled(top(), keras.optimizers.SGD(Early(), global_clipnorm=0.5))  # bug


def old_normed(x, labels=None, training=False):
    x = v1.layers.dense(x, 6, kernel_regularizer=lambda kernel: 0.1 * tf.nn.l2_loss(kernel), name="hidden")
    x = v1.layers.batch_normalization(x, training=training, fused=False, name="norm")
    with v1.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        optimizer = v1.train.AdamOptimizer(0.01, epsilon=1e-7)
        return old(v1.layers.dense(tf.nn.relu(x), 3, name="top"), labels, optimizer)


def l2_and_statistics():
    hidden = layers.Dense(6, kernel_regularizer=keras.regularizers.L2(0.1), name="hidden")  # bug
    norm = layers.BatchNormalization(momentum=0.9, name="norm")  # bug
    return compiled(top(hidden, norm, layers.ReLU()), keras.optimizers.Adam(0.01))


class Unflagged(keras.Model):
    """Its call passes `training` on to the normalization, where it gets it."""

    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(6, kernel_regularizer=keras.regularizers.L2(0.05), name="hidden")
        self.norm = layers.BatchNormalization(epsilon=1e-5, name="norm")  # bug
        self.top = layers.Dense(3, name="top")
        self.tuned = keras.optimizers.Adam(0.01)

    def call(self, x, training=False):
        return self.top(tf.nn.relu(self.norm(self.hidden(x), training=training)))


def unflagged_step(model, x, labels):
    """A step that does not say that it trains."""
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(x))  # bug
        loss = tf.reduce_mean(losses) + tf.add_n(model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    model.tuned.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


def old_square(x, labels=None):
    x = v1.layers.dense(x, 6, tf.nn.tanh, name="hidden")
    return old(v1.layers.dense(x, 3, name="top"), labels, v1.train.AdamOptimizer(0.01))


class Backwards(layers.Dense):
    def call(self, x):
        return tf.nn.tanh(tf.matmul(x, self.kernel, transpose_b=True) + self.bias)  # bug


def transposed_and_epsilon():
    return compiled(top(Backwards(6, name="hidden")), keras.optimizers.Adam(0.01))  # bug


def names_and_activation():
    hidden = layers.Dense(6, "relu", name="inner")  # bug
    return compiled(top(hidden), keras.optimizers.Adam(0.01, epsilon=1e-8))


def initializer_and_activation():
    hidden = layers.Dense(6, "sigmoid", kernel_initializer="he_normal", name="hidden")  # bug
    return compiled(top(hidden), keras.optimizers.Adam(0.01, epsilon=1e-8))


def forgetting_and_rate():
    memory = layers.LSTM(4, unit_forget_bias=False, name="memory")  # bug
    return compiled(top(layers.Reshape((3, 2)), memory), keras.optimizers.SGD(0.01))  # bug


def summed_step(model, x, labels):
    """A step whose loss is a sum."""
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(x, training=True))
        loss = tf.math.reduce_sum(losses)  # bug
    gradients = tape.gradient(loss, model.trainable_variables)
    model.tuned.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


KINDS = {
    "rmsprop": (old_rmsprop, rmsprop, None, numbers),
    "rate": (old_rate, rate, None, numbers),
    "momentum": (old_rate, momentum, None, numbers),
    "reduction": (old_rate, reduction, None, numbers),
    "from_logits": (old_rate, logits, None, numbers),
    "staircase": (old_decayed, decayed, None, numbers),
    "factor of l2": (old_l2, l2, None, numbers),
    "padding": (old_padding, padding, None, pictures),
    "resize": (old_resize, resize, step, pictures),
    "clip norm": (old_clipped, clipped, clipping_step, numbers),
    "loss scaled": (old_plain, clipped, weighted_step, numbers),
    "accumulator + rows": (old_rows, rows, step, words),
    "forget bias": (old_forgetting, forgetting, None, numbers),
    "rate + from_logits": (old_rate, rate_and_logits, None, numbers),
    "factor of l2 + rate": (old_l2, l2_and_rate, None, numbers),
    "reduction + momentum": (old_rate, reduction_and_momentum, None, numbers),
    "padding + dropout": (old_dropping, padding_and_dropout, None, pictures),
    "schedule + clipping": (old_clipped_and_decayed, schedule_and_clipping, None, numbers),
    "factor of l2 + statistics": (old_normed, l2_and_statistics, None, numbers),
    "norm epsilon + training flag": (old_normed, Unflagged, unflagged_step, numbers),
    "transposed + Adam epsilon": (old_square, transposed_and_epsilon, None, numbers),
    "names + activation": (old_square, names_and_activation, None, numbers),
    "initializer + activation": (old_square, initializer_and_activation, None, numbers),
    "forget bias + rate": (old_forgetting, forgetting_and_rate, None, numbers),
    "resize + loss summed": (old_resize, resize, summed_step, pictures),
    "nothing known": (old_plain, bent, step, numbers),
    "sound": (old_sound, sound, None, numbers),
}
"""Both sides, the step of a loop, and the batches."""
