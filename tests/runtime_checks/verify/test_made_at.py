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


def first_cause(way: str) -> list[Any]:
    """In a child: the first cause for a recurrent network of which one layer lacks a setting, or with other decay."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, Spec, verify

    layers, v1 = tf.keras.layers, tf.compat.v1

    def network(words: Any, labels: Any, training: bool) -> Any:
        drawn, zeros = v1.random_uniform_initializer(-1, 1), v1.zeros_initializer()
        table = v1.get_variable("table", (20, 3), initializer=drawn)
        rows = tf.nn.embedding_lookup(table, words)
        lengths = tf.reduce_sum(tf.cast(tf.not_equal(words, 0), tf.int32), 1)
        cell = v1.nn.rnn_cell.GRUCell(4, kernel_initializer=drawn, bias_initializer=zeros)
        _, state = v1.nn.dynamic_rnn(cell, rows, lengths, dtype=tf.float32)
        out = v1.layers.dense(state, 2, name="out")
        kernel = next(one for one in v1.trainable_variables() if one.name == "out/kernel:0")
        loss = v1.losses.sparse_softmax_cross_entropy(labels, out) + 0.02 * tf.nn.l2_loss(kernel)
        return Spec(out, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss) if training else None)

    def migrated() -> Any:
        given = tf.keras.Input((None,), dtype="int32")
        begun = [tf.keras.initializers.RandomUniform(-1, 1) for _ in range(3)]
        lookup = layers.Embedding(20, 3, begun[0], mask_zero=way != "mask", name="lookup")  # mask
        drawn = {"kernel_initializer": begun[1], "recurrent_initializer": begun[2]}
        cell = layers.GRU(4, reset_after=way == "reset", name="gru", **drawn)  # reset
        decay = tf.keras.regularizers.L2(0.02 if way == "decay" else 0.01)  # decay
        out = layers.Dense(2, kernel_regularizer=decay, name="out")
        model = tf.keras.Model(given, out(cell(lookup(given))))
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.SGD(0.1), loss)
        return model

    def words(step: int) -> Any:
        found = np.random.default_rng(step).integers(1, 20, (6, 4)).astype(np.int32)
        found[::2, 3:] = 0
        return found

    def labels(step: int) -> Any:
        return np.random.default_rng(step + 100).integers(0, 2, 6)

    renames = {"table": "lookup/embeddings", "out/": "out/"}
    report = verify(Pair(network, migrated, words, labels, renames=renames), until="step")
    causes = [(cause.kind, cause.tf2_place and cause.tf2_place[1]) for cause in report.causes]
    return [causes, str(report)]


@EITHER
@pytest.mark.parametrize(("way", "kind"), [("mask", "padding"), ("reset", "layout"), ("decay", "regularization")])
def test_the_line_of_the_first_cause(children: Children, keras: str, way: str, kind: str) -> None:
    """That of the layer without the setting, however far on the values part, and of what another line adds up."""
    causes, text = children.call(keras, first_cause, way)

    assert causes, text
    assert [kind, mark(way)] == causes[0], text
