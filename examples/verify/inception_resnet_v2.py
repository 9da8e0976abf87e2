"""Inception-ResNet-v2 in TF-Slim, as a TF1 graph; inception_layer.py has it as a Keras layer.

The architecture is that of Szegedy, Ioffe, Vanhoucke and Alemi, "Inception-v4, Inception-ResNet and the Impact of
Residual Connections on Learning" (2016); scopes and endpoints bear the names of the published TF-Slim checkpoints.
With 1000 classes it has 1114 variables, 702 of them trainable, and 59,273,456 parameters.
"""

import numpy as np
import tensorflow as tf
import tf_slim as slim
from migrate_lint.runtime_checks import Pair

CLASSES = 1000
variable_scope = tf.compat.v1.variable_scope

# A branch is a list of operations: filters or the kind of pooling, kernel, scope, and what else an operation needs.
HALVE = {"stride": 2, "padding": "VALID"}
STEM = [
    (32, 3, "Conv2d_1a_3x3", HALVE),
    (32, 3, "Conv2d_2a_3x3", {"padding": "VALID"}),
    (64, 3, "Conv2d_2b_3x3"),
    ("max", 3, "MaxPool_3a_3x3", HALVE),
    (80, 1, "Conv2d_3b_1x1", {"padding": "VALID"}),
    (192, 3, "Conv2d_4a_3x3", {"padding": "VALID"}),
    ("max", 3, "MaxPool_5a_3x3", HALVE),
]
MIXED_5B = [
    [(96, 1, "Conv2d_1x1")],
    [(48, 1, "Conv2d_0a_1x1"), (64, 5, "Conv2d_0b_5x5")],
    [(64, 1, "Conv2d_0a_1x1"), (96, 3, "Conv2d_0b_3x3"), (96, 3, "Conv2d_0c_3x3")],
    [("avg", 3, "AvgPool_0a_3x3"), (64, 1, "Conv2d_0b_1x1")],
]
MIXED_6A = [
    [(384, 3, "Conv2d_1a_3x3", HALVE)],
    [(256, 1, "Conv2d_0a_1x1"), (256, 3, "Conv2d_0b_3x3"), (384, 3, "Conv2d_1a_3x3", HALVE)],
    [("max", 3, "MaxPool_1a_3x3", HALVE)],
]
MIXED_7A = [
    [(256, 1, "Conv2d_0a_1x1"), (384, 3, "Conv2d_1a_3x3", HALVE)],
    [(256, 1, "Conv2d_0a_1x1"), (288, 3, "Conv2d_1a_3x3", HALVE)],
    [(256, 1, "Conv2d_0a_1x1"), (288, 3, "Conv2d_0b_3x3"), (320, 3, "Conv2d_1a_3x3", HALVE)],
    [("max", 3, "MaxPool_1a_3x3", HALVE)],
]
BLOCK_35 = [
    [(32, 1, "Conv2d_1x1")],
    [(32, 1, "Conv2d_0a_1x1"), (32, 3, "Conv2d_0b_3x3")],
    [(32, 1, "Conv2d_0a_1x1"), (48, 3, "Conv2d_0b_3x3"), (64, 3, "Conv2d_0c_3x3")],
]
BLOCK_17 = [
    [(192, 1, "Conv2d_1x1")],
    [(128, 1, "Conv2d_0a_1x1"), (160, (1, 7), "Conv2d_0b_1x7"), (192, (7, 1), "Conv2d_0c_7x1")],
]
BLOCK_8 = [
    [(192, 1, "Conv2d_1x1")],
    [(192, 1, "Conv2d_0a_1x1"), (224, (1, 3), "Conv2d_0b_1x3"), (256, (3, 1), "Conv2d_0c_3x1")],
]
POOLS = {"max": slim.max_pool2d, "avg": slim.avg_pool2d}
LINEAR = {"activation_fn": None, "normalizer_fn": None}


def operation(net, kind, kernel, scope, options=None):
    options = {"stride": 1, "padding": "SAME", "scope": scope, **(options or {})}
    return POOLS[kind](net, kernel, **options) if kind in POOLS else slim.conv2d(net, kind, kernel, **options)


def mixed(net, branches):
    results = []
    for number, branch in enumerate(branches):
        with variable_scope(f"Branch_{number}"):
            result = net
            for words in branch:
                result = operation(result, *words)
            results.append(result)
    return tf.concat(results, 3)


def inception(net, scope, branches):
    with variable_scope(scope):
        return mixed(net, branches)


def residual(net, scope, branches, scale, activation=tf.nn.relu):
    with variable_scope(scope):
        change = operation(mixed(net, branches), net.shape.as_list()[3], 1, "Conv2d_1x1", LINEAR)
        net += scale * change
        return net if activation is None else activation(net)


def residuals(net, scope, count, name, branches, scale):
    with variable_scope(scope):
        for number in range(1, count + 1):
            net = residual(net, f"{name}_{number}", branches, scale)
    return net


def auxiliary_logits(net):
    with variable_scope("AuxLogits"):
        net = operation(net, "avg", 5, "Conv2d_1a_3x3", {"stride": 3, "padding": "VALID"})
        net = operation(net, 128, 1, "Conv2d_1b_1x1")
        net = operation(net, 768, net.shape.as_list()[1:3], "Conv2d_2a_5x5", {"padding": "VALID"})
        return slim.fully_connected(slim.flatten(net), CLASSES, activation_fn=None, scope="Logits")


def features(images, ends):
    net = images
    for words in STEM:
        ends[words[2]] = net = operation(net, *words)
    ends["Mixed_5b"] = net = inception(net, "Mixed_5b", MIXED_5B)
    net = residuals(net, "Repeat", 10, "block35", BLOCK_35, 0.17)
    ends["Mixed_6a"] = net = inception(net, "Mixed_6a", MIXED_6A)
    ends["PreAuxLogits"] = net = residuals(net, "Repeat_1", 20, "block17", BLOCK_17, 0.10)
    ends["Mixed_7a"] = net = inception(net, "Mixed_7a", MIXED_7A)
    net = residuals(net, "Repeat_2", 9, "block8", BLOCK_8, 0.20)
    net = residual(net, "Block8", BLOCK_8, 1.0, activation=None)
    ends["Conv2d_7b_1x1"] = net = operation(net, 1536, 1, "Conv2d_7b_1x1")
    return net


def inception_resnet_v2(images, is_training):
    """Logits, and the endpoints by their names."""
    ends = {}
    mode = slim.arg_scope([slim.batch_norm, slim.dropout], is_training=is_training)
    with variable_scope("InceptionResnetV2") as scope, mode:
        # The scope is entered twice, as in the published code: grappler adds up the regularization losses in an order
        # that depends on the names of operations.
        with variable_scope(scope):
            net = features(images, ends)
        ends["AuxLogits"] = auxiliary_logits(ends["PreAuxLogits"])
        with variable_scope("Logits"):
            net = slim.flatten(slim.avg_pool2d(net, net.shape.as_list()[1:3], padding="VALID", scope="AvgPool_1a_8x8"))
            ends["PreLogitsFlatten"] = net = slim.dropout(net, 0.8, scope="Dropout")
            ends["Logits"] = logits = slim.fully_connected(net, CLASSES, activation_fn=None, scope="Logits")
            ends["Predictions"] = tf.nn.softmax(logits, name="Predictions")
    return logits, ends


def network(images, is_training=False):
    """The TF1 side: the network with weight decay 4e-5 and batch normalization that scales."""
    decay = slim.l2_regularizer(4e-5)
    normalization = {"decay": 0.9997, "epsilon": 0.001, "scale": True, "fused": None}
    decayed = slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=decay, biases_regularizer=decay)
    normalized = slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params=normalization)
    with decayed, normalized:
        return inception_resnet_v2(images, is_training)


IMAGES = np.ones((1, 299, 299, 3), np.float32)

pair = Pair(network, "inception_layer.py:InceptionResnetV2", IMAGES, name="Inception-ResNet-v2")
functional = Pair(
    network, "inception_layer.py:functional_model", IMAGES, name="Inception-ResNet-v2 in a functional model"
)
