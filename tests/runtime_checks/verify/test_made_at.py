"""Where a layer was made is told of an operation that it computes otherwise: that is where its settings stand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])


def verified(way: str) -> list[Any]:
    """In a child: how a network and its migration compare, of which one layer has another setting."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, verify

    layers, v1 = tf.keras.layers, tf.compat.v1

    def network(x: Any) -> Any:
        x = v1.layers.conv1d(x, 4, 3, padding="same", activation=tf.nn.relu, name="conv")
        x = v1.layers.batch_normalization(x, epsilon=1e-3, name="norm")
        x = v1.layers.average_pooling1d(x, 2, 2)
        return v1.layers.dense(tf.reduce_mean(x, 1), 2, name="out")

    class Migrated(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            settings: dict[str, Any] = {"padding": "same", "activation": "relu", "name": "conv"}
            changes = {"activation": "tanh"} if way == "activation" else {}
            changes |= {"dilation_rate": 2} if way == "dilation" else {}
            changes |= {"padding": "causal"} if way == "padding" else {}
            self.conv = layers.Conv1D(4, 3, **{**settings, **changes})  # conv
            self.norm = layers.BatchNormalization(epsilon=0.1 if way == "epsilon" else 1e-3, name="norm")  # norm
            pool = layers.MaxPooling1D if way == "pooling" else layers.AveragePooling1D
            self.pool = pool(2, 2)  # pool
            self.out = layers.Dense(2, activation="softplus" if way == "output" else None, name="out")  # out

        def call(self, x: Any) -> Any:
            x = self.pool(self.norm(self.conv(x), training=False))
            return self.out(tf.reduce_mean(x, 1))

    inputs = np.random.default_rng(0).normal(size=(8, 6, 3)).astype(np.float32)
    renames = {f"{name}/": f"migrated/{name}/" for name in ("conv", "norm", "out")}
    report = verify(Pair(network, Migrated, inputs, renames=renames), until="fingerprint")
    found = report.first_divergence
    side = None if found is None or found.operation is None else found.operation.tf2
    made = None if side is None or side.made is None else side.made[1]
    return [report.status, made, [text for cause in report.causes for text in cause.evidence], str(report)]


@cache
def mark(words: str) -> int:
    """The line that a layer is made at."""
    lines = Path(__file__).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if line.endswith(f"  # {words}"))


LAYERS = {
    "activation": "conv",
    "dilation": "conv",
    "padding": "conv",
    "epsilon": "norm",
    "pooling": "pool",
    "output": "out",
}


@EITHER
@pytest.mark.parametrize("way", LAYERS)
def test_the_line_that_makes_a_layer_is_told(children: Children, keras: str, way: str) -> None:
    """Not only the line that calls it."""
    status, made, evidence, text = children.call(keras, verified, way)

    assert (1, mark(LAYERS[way])) == (status, made), text
    assert f"in a layer made at {Path(__file__).name}:{made}" in text.replace(str(Path(__file__).parent) + "/", "")
    assert any(f"{Path(__file__).name}:{made}." in words for words in evidence), evidence


@EITHER
def test_where_nothing_differs_no_layer_is_told(children: Children, keras: str) -> None:
    """The same settings."""
    status, made, *_ = children.call(keras, verified, "")

    assert (0, None) == (status, made)
