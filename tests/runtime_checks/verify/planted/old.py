"""The TF1 side of the planted bugs: one small network, once with ``get_variable`` and once with ``tf.layers``.

Runs on every TensorFlow from 1.15 on; the second network needs Keras 2.
"""

from __future__ import annotations

import collections

import numpy as np
from tensorflow.compat import v1

BATCH = 4
CLASSES = 5
DECAY = 0.01

EstimatorSpec = collections.namedtuple("EstimatorSpec", ["predictions", "loss", "train_op", "taps"])


def images(step):
    """Three batches of [4, 8, 8, 3] in turn, float32."""
    return np.random.RandomState(100 + step % 3).uniform(-1.0, 1.0, (BATCH, 8, 8, 3)).astype(np.float32)


def labels(step):
    """Their classes: [4], int32."""
    return np.random.RandomState(200 + step % 3).randint(0, CLASSES, BATCH).astype(np.int32)


def l2(weights):
    return DECAY * v1.reduce_sum(v1.square(weights))


def weight(name, shape):
    return v1.get_variable(name, shape, initializer=v1.glorot_uniform_initializer(), regularizer=l2)


def filled(name, size, value, trainable=True):
    return v1.get_variable(name, [size], initializer=v1.constant_initializer(value), trainable=trainable)


def convolution(x, name, channels, bias=True):
    with v1.variable_scope(name):
        kernel = weight("kernel", [3, 3, int(x.shape[-1]), channels])
        x = v1.nn.conv2d(x, kernel, strides=[1, 2, 2, 1], padding="SAME")
        return v1.nn.bias_add(x, filled("bias", channels, 0.0)) if bias else x


def batch_norm(x, name, training, fused):
    with v1.variable_scope(name):
        size = int(x.shape[-1])
        gamma, beta = filled("gamma", size, 1.0), filled("beta", size, 0.0)
        moving_mean = filled("moving_mean", size, 0.0, trainable=False)
        moving_variance = filled("moving_variance", size, 1.0, trainable=False)
        mean, variance = (None, None) if training and fused else (moving_mean, moving_variance)
        if fused:
            x, mean, variance = v1.nn.fused_batch_norm(x, gamma, beta, mean, variance, 1e-3, is_training=training)
        elif training:
            mean, variance = v1.nn.moments(x, [0, 1, 2])
        if training:
            for moving, batch in ((moving_mean, mean), (moving_variance, variance)):
                update = v1.assign(moving, moving * 0.99 + batch * 0.01)
                v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, update)
        return x if fused else v1.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)


def dense(x, name, units):
    with v1.variable_scope(name):
        return v1.matmul(x, weight("kernel", [int(x.shape[-1]), units])) + filled("bias", units, 0.0)


def network(x, training, params):
    """Logits of [batch, 5] and the endpoints by name."""
    ends = collections.OrderedDict()
    ends["conv"] = x = convolution(x, "conv", 6, params["bias"])
    ends["norm"] = x = batch_norm(x, "norm", training, params["fused"])
    ends["conv_2"] = x = convolution(v1.nn.relu(x), "conv_2", 4)
    x = v1.reshape(v1.nn.relu(x), [-1, 16])
    ends["hidden"] = x = v1.nn.relu(dense(x, "hidden", 12))
    if training:
        x = v1.nn.dropout(x, keep_prob=0.75)
    ends["left"] = x = v1.nn.relu(dense(x, "left", 12))
    ends["right"] = x = v1.nn.relu(dense(x, "right", 12))
    return dense(x, "logits", CLASSES), ends


def network_of_layers(x, training, params):
    """The same by ``tf.layers``; its batch normalization is the fused one."""
    layers, ends = v1.layers, collections.OrderedDict()
    ends["conv"] = x = layers.conv2d(x, 6, 3, 2, "same", use_bias=params["bias"], kernel_regularizer=l2, name="conv")
    ends["norm"] = x = layers.batch_normalization(x, training=training, name="norm")
    ends["conv_2"] = x = layers.conv2d(v1.nn.relu(x), 4, 3, 2, "same", kernel_regularizer=l2, name="conv_2")
    x = layers.flatten(v1.nn.relu(x))
    ends["hidden"] = x = layers.dense(x, 12, v1.nn.relu, kernel_regularizer=l2, name="hidden")
    x = layers.dropout(x, 0.25, training=training)
    ends["left"] = x = layers.dense(x, 12, v1.nn.relu, kernel_regularizer=l2, name="left")
    ends["right"] = x = layers.dense(x, 12, v1.nn.relu, kernel_regularizer=l2, name="right")
    return layers.dense(x, CLASSES, kernel_regularizer=l2, name="logits"), ends


def train(loss, params):
    """The operation of one training step."""
    step = v1.train.get_or_create_global_step()
    rate = 0.02
    if params["decaying"]:
        rate = v1.train.exponential_decay(rate, step, decay_steps=2, decay_rate=0.7)
    optimizer = v1.train.AdamOptimizer(rate)
    if params["momentum"]:
        optimizer = v1.train.MomentumOptimizer(rate, 0.9)
    gradients = optimizer.compute_gradients(loss)
    if params["clip"]:
        values, _ = v1.clip_by_global_norm([value for value, _ in gradients], params["clip"])
        gradients = [(value, variable) for value, (_, variable) in zip(values, gradients)]  # noqa: B905
    updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS) if params["update_ops"] else []
    with v1.control_dependencies(updates):
        return optimizer.apply_gradients(gradients, global_step=step)


def model_fn(features, labels, mode, params):
    """An Estimator's ``model_fn`` in all but the class of its result."""
    build = network_of_layers if params["layers"] else network
    logits, ends = build(features, mode == "train", params)
    if labels is None:
        return EstimatorSpec(logits, None, None, ends)
    v1.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = v1.losses.get_total_loss()
    return EstimatorSpec(logits, loss, train(loss, params) if mode == "train" else None, ends)
