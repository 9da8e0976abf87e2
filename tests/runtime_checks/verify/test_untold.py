"""What a side has not told is no difference: weights that cannot be given, averages before the first training step."""

from __future__ import annotations

from typing import Any

import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

FROM_EQUAL_WEIGHTS = ["constant", "fingerprint", "random", "step", "steps", "evaluation"]


def verified(until: str, activation: str, tracked: bool) -> tuple[int, dict[str, str], list[str], str]:
    """In a child: how a pair ends with averages on both sides: its rungs, the evidence of its causes, the report."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, Spec, verify

    v1, keras = tf.compat.v1, tf.keras

    def network(features: Any, labels: Any, training: bool) -> Any:
        scores = v1.layers.dense(v1.layers.dense(features, 4, tf.nn.relu, name="hidden"), 2, name="scores")
        loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
        if not training:
            return Spec(scores, loss)
        step = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.control_dependencies([step]):
            return Spec(scores, loss, v1.train.ExponentialMovingAverage(0.9).apply(v1.trainable_variables()))

    class Module(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [keras.layers.Dense(4, activation, name="hidden"), keras.layers.Dense(2, name="scores")]
            self.averages = tf.train.ExponentialMovingAverage(0.9)

        def __call__(self, x: Any) -> Any:
            return self.layers[1](self.layers[0](x))

    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = keras.layers.Dense(4, activation, name="hidden")
            self.scores = keras.layers.Dense(2, name="scores")
            self.averages = tf.train.ExponentialMovingAverage(0.9)

        def call(self, x: Any) -> Any:
            return self.scores(self.hidden(x))

    def step(model: Any, inputs: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(inputs))
            loss = tf.reduce_mean(losses)
        variables = tape.watched_variables()
        for gradient, variable in zip(tape.gradient(loss, variables), variables, strict=True):
            variable.assign_sub(0.1 * gradient)
        model.averages.apply(variables)
        return loss

    pair = Pair(
        network,
        Model if tracked else Module,
        lambda step: np.random.default_rng(step).normal(size=(8, 3)).astype(np.float32),
        lambda step: np.random.default_rng(step).integers(2, size=8),
        train_step=step,
    )
    report = verify(pair, until=until, steps=2)
    rungs = {rung.name: f"{rung.status.value}: {rung.detail}" for rung in report.rungs}
    return report.status, rungs, [text for cause in report.causes for text in cause.evidence], str(report)


def test_weights_that_cannot_be_given_are_not_compared(children: Children) -> None:
    """A module sees none of those of Keras 3, so that rung 2 fails, and no other one says anything of them."""
    status, rungs, evidence, text = children.call("keras3", verified, "evaluation", "relu", False)

    assert (1, "fail") == (status, rungs["variables"].partition(":")[0]), text
    for name in FROM_EQUAL_WEIGHTS:
        assert rungs[name].startswith("not run: weights cannot be made equal: the TF2 model tracks none"), text
    assert "the TF2 model does not track it" in evidence[0], text
    assert "copied" not in text, text


def test_a_module_with_layers_of_keras_2_has_their_weights(children: Children) -> None:
    """The same program is compared there, and is equal."""
    status, rungs, evidence, text = children.call("keras2", verified, "random", "relu", False)

    assert (0, []) == (status, evidence), text
    assert rungs["fingerprint"].startswith("pass"), text


@pytest.mark.parametrize("keras", ["keras2", "keras3"])
def test_an_average_is_not_missed_before_any_training_step(children: Children, keras: str) -> None:
    """Where another bug ends the ladder early, it is that bug alone which is told."""
    status, _, evidence, text = children.call(keras, verified, "checkpoint", "elu", True)

    assert 1 == status, text
    assert "Elu" in evidence[0] or "elu" in evidence[0], text
    assert not [words for words in evidence if "average" in words], text


def looked_up(ignore: str) -> tuple[list[str], list[str]]:
    """In a child: the rungs that pass where TF1 has a table as a constant, and TF2 as a variable that is untrained."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, verify

    v1, keras = tf.compat.v1, tf.keras
    table = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)

    def network(words: Any) -> Any:
        return v1.layers.dense(tf.nn.embedding_lookup(tf.constant(table), words), 2, name="scores")

    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.table = tf.Variable(table, trainable=False, name="table")
            self.scores = keras.layers.Dense(2, name="scores")

        def call(self, words: Any) -> Any:
            return self.scores(tf.gather(self.table, words))

    rows = np.random.default_rng(1).integers(9, size=(8, 3))
    report = verify(Pair(network, Model, rows, ignore=[ignore]), until="random")
    passed = [rung.name for rung in report.rungs if rung.status.value == "pass"]
    return passed, [note for rung in report.rungs for note in rung.notes]


@pytest.mark.parametrize("keras", ["keras2", "keras3"])
def test_what_the_pair_ignores_keeps_its_values(children: Children, keras: str) -> None:
    """Where all else is filled; and a name that nothing has is told."""
    passed, notes = children.call(keras, looked_up, "table*")
    missing, told = children.call(keras, looked_up, "tables")

    assert {"variables", "constant", "fingerprint", "random"} <= {*passed}
    assert "variables" not in missing
    assert not any("ignore names" in note for note in notes)
    assert any(note.startswith("ignore names tables, which is no variable of either side") for note in told)
