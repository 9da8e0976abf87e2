"""MobileNet-0.25 as a TF1 graph and as a Keras model, with a training step on both sides.

The architecture is that of Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision
Applications" (2017), with a quarter of the channels, and without dropout. The names of the variables are the same on
both sides.
"""

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
BLOCKS = [
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1),
    (1024, 2), (1024, 1),
]  # fmt: skip
WIDTH = 0.25
CLASSES = 1000
BATCH = 4
RATE = 1e-4
DRAWN = v1.random_uniform_initializer(-0.6, 0.6)
"""TF1's initializer on both sides, as the guide has it: random numbers can then be aligned."""


def inputs(step):
    return np.random.default_rng(step).uniform(-1, 1, size=(BATCH, 224, 224, 3)).astype(np.float32)


def labels(step):
    return np.random.default_rng(step).integers(CLASSES, size=BATCH)


def network(features, is_training=False):
    """The TF1 side: logits, and what each layer of normalization gives."""
    ends = {}

    def normalized(net, name):
        ends[name] = v1.layers.batch_normalization(net, training=is_training, name=name)
        return tf.nn.relu6(ends[name])

    options = {"use_bias": False, "kernel_initializer": DRAWN}
    net = v1.layers.conv2d(features, int(32 * WIDTH), 3, 2, "same", name="conv_0", **options)
    net = normalized(net, "conv_0_bn")
    for at, (filters, stride) in enumerate(BLOCKS, 1):
        with v1.variable_scope(f"depthwise_{at}"):
            kernel = v1.get_variable("depthwise_kernel", (3, 3, net.shape[-1], 1), initializer=DRAWN)
        net = tf.nn.depthwise_conv2d(net, kernel, (1, stride, stride, 1), "SAME")
        net = normalized(net, f"depthwise_{at}_bn")
        net = v1.layers.conv2d(net, int(filters * WIDTH), 1, name=f"conv_{at}", **options)
        net = normalized(net, f"conv_{at}_bn")
    net = tf.reduce_mean(net, (1, 2))
    return v1.layers.dense(net, CLASSES, kernel_initializer=DRAWN, name="logits"), ends


def trained(features, labels, is_training=False):
    """The same with its training step."""
    logits, ends = network(features, is_training)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = v1.train.MomentumOptimizer(RATE, 0.9).minimize(loss, v1.train.get_or_create_global_step())
    return Spec(predictions=logits, loss=loss, train_op=train_op, taps=ends)


class MobileNet(tf.keras.Model):
    """The TF2 side."""

    def __init__(self):
        super().__init__()
        layers = tf.keras.layers

        def normalized(name):
            return layers.BatchNormalization(name=name, epsilon=1e-3, momentum=0.99)

        options = {"use_bias": False, "kernel_initializer": DRAWN}
        self.first = layers.Conv2D(int(32 * WIDTH), 3, 2, "same", name="conv_0", **options)
        self.first_normalized = normalized("conv_0_bn")
        self.blocks = []
        for at, (filters, stride) in enumerate(BLOCKS, 1):
            self.blocks.append(
                (
                    layers.DepthwiseConv2D(
                        3, stride, "same", use_bias=False, depthwise_initializer=DRAWN, name=f"depthwise_{at}"
                    ),
                    normalized(f"depthwise_{at}_bn"),
                    layers.Conv2D(int(filters * WIDTH), 1, name=f"conv_{at}", **options),
                    normalized(f"conv_{at}_bn"),
                )
            )
        self.pool = layers.GlobalAveragePooling2D()
        self.logits = layers.Dense(CLASSES, kernel_initializer=DRAWN, name="logits")

    def call(self, features, training=False):
        net = tf.nn.relu6(self.first_normalized(self.first(features), training=training))
        for depthwise, normalized, pointwise, again in self.blocks:
            net = tf.nn.relu6(normalized(depthwise(net), training=training))
            net = tf.nn.relu6(again(pointwise(net), training=training))
        return self.logits(self.pool(net))


def compiled():
    made = MobileNet()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(tf.keras.optimizers.SGD(RATE, momentum=0.9), loss)
    return made


pair = Pair(trained, compiled, inputs, labels, name="MobileNet-0.25")
