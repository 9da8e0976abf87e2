"""Moving statistics whose decay is rounded before it is subtracted on one side, and after it on the other."""

from __future__ import annotations

from typing import Any

import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])


def verified(decay: float, fused: bool, migrated: float) -> list[Any]:
    """In a child: how batch normalization compares, with the rungs that failed and their first causes."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, Spec, verify

    v1 = tf.compat.v1

    def network(x: Any, labels: Any, training: bool) -> Any:
        x = v1.layers.batch_normalization(
            x, momentum=decay, epsilon=1e-3, scale=False, fused=fused, training=training, name="bn"
        )
        out = v1.layers.dense(tf.reduce_mean(x, [1, 2]), 2, name="out")
        loss = v1.losses.sparse_softmax_cross_entropy(labels, out)
        with tf.control_dependencies(v1.get_collection("update_ops")):
            return Spec(out, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss) if training else None)

    def model() -> Any:
        layers = tf.keras.layers
        made = tf.keras.Sequential(
            [
                layers.BatchNormalization(momentum=migrated, epsilon=1e-3, scale=False, name="bn"),
                layers.GlobalAveragePooling2D(),
                layers.Dense(2, name="out"),
            ]
        )
        made.compile(tf.keras.optimizers.SGD(0.1), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return made

    def inputs(step: int) -> Any:
        return np.random.default_rng(step).normal(3, 1, size=(8, 32, 32, 2)).astype(np.float32)

    pair = Pair(network, model, inputs, lambda step: np.random.default_rng(step).integers(2, size=8))
    report = verify(pair, until="steps", steps=2)
    return [report.status, str(report)]


@EITHER
@pytest.mark.parametrize(
    ("decay", "fused"), [(0.9997, True), (0.9997, False), (0.9995, True), (0.9999, True), (0.998, True)]
)
def test_both_ways_to_round_a_decay_are_the_same_program(children: Children, keras: str, decay: float, fused: bool):
    """1 - 0.9997 in float32 is off by 3e-5, and fused batch normalization of TF1 computes that."""
    status, text = children.call(keras, verified, decay, fused, decay)

    assert 0 == status, text


@EITHER
def test_another_decay_is_another_program(children: Children, keras: str):
    """However little it changes."""
    status, text = children.call(keras, verified, 0.9997, True, 0.99971)

    assert 1 == status, text
