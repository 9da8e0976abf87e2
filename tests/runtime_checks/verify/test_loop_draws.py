"""Dropout in a loop of TF1: a right TF2 side is not failed for it, a wrong one is; a side may differ from itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.draws import in_turns
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import RandomOp, Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children

HERE = Path(__file__).parent
WANTED = (
    scenarios.STRUCTURE, scenarios.FINGERPRINT, scenarios.INFERENCE, scenarios.INFERENCE_COPIED, scenarios.ALIGNED,
    scenarios.STEPS, scenarios.STEPS_NUDGED, scenarios.STEPS_OTHER, scenarios.STEPS_AGAIN,
)  # fmt: skip

Reports = Callable[[str], Report]


def record(side: str, name: str, folder: str, tf1: str) -> None:
    """In a child: record one side of a pair."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, Spec
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording
    from migrate_lint.runtime_checks.worker.recording.loading import Loaded
    from migrate_lint.runtime_checks.worker.recording.sides import record_side

    v1 = tf.compat.v1
    off = name in ("off", "penalty")
    bound = (6 / 23) ** 0.5

    def network(features: object, labels: object, mode: str) -> object:
        def cell() -> object:
            made = v1.nn.rnn_cell.LSTMCell(4)
            return v1.nn.rnn_cell.DropoutWrapper(made, 0.7) if mode == "train" and not off else made

        if name == "both ways":
            out = sum(v1.nn.bidirectional_dynamic_rnn(cell(), cell(), features, dtype=tf.float32)[0])
        else:
            out = v1.nn.dynamic_rnn(cell(), features, dtype=tf.float32)[0]
        logits = tf.reduce_mean(out, 1)
        if mode == "infer":
            return Spec(predictions=logits)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        if name == "penalty":
            loss += 1e-3 * tf.add_n([tf.nn.l2_loss(one) for one in v1.trainable_variables()])
        return Spec(logits, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss))

    def model() -> object:
        layers = tf.keras.layers
        drawn = tf.keras.initializers.RandomUniform(-bound, bound)
        rules = ("kernel_regularizer", "recurrent_regularizer", "bias_regularizer") if name == "penalty" else ()
        rnn = layers.LSTM(
            4, return_sequences=True, kernel_initializer=drawn, recurrent_initializer=drawn, name="rnn",
            **{rule: tf.keras.regularizers.L2(5e-4) for rule in rules},
        )  # fmt: skip
        if name == "both ways":
            rnn = layers.Bidirectional(rnn, merge_mode="sum")
        order = [layers.Dropout(0.0 if off else 0.3), rnn]
        made = tf.keras.Sequential([*(order[::-1] if name == "wrong" else order), layers.GlobalAveragePooling1D()])
        made.compile(tf.keras.optimizers.SGD(0.1), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return made

    pair = Pair(
        network, model,
        inputs=lambda step: np.random.RandomState(step).normal(size=[16, 5, 3]).astype(np.float32),
        labels=lambda step: np.random.RandomState(step).randint(0, 4, size=[16]).astype(np.int32),
    )  # fmt: skip
    tf.keras.backend.clear_session()
    other = None if side == "tf1" else read(tf1)
    plan = Plan(WANTED, 3, 42)
    record_side(Loaded(pair, False, str(HERE)), side, plan, Recording(folder, side), UserCode([str(HERE)]), other)


@pytest.fixture(scope="module")
def reports(children: Children, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Compares a pair."""
    folder = tmp_path_factory.mktemp("loops")

    @cache
    def reported(name: str) -> Report:
        old, new = str(folder / f"tf1 {name}"), str(folder / name)
        children.call("keras2", record, "tf1", name, old, "")
        children.call("keras3", record, "tf2", name, new, old)
        return compare(read(old), read(new))

    return reported


@pytest.mark.tensorflow
def test_a_right_side_is_not_failed_for_what_a_loop_draws(reports: Reports) -> None:
    """The rungs with random numbers say that they cannot be compared, and what to do; nothing passes by noise."""
    report = reports("right")

    assert report.status == 0
    for name in ("random", "step", "steps"):
        rung = report.rung(name)
        assert rung.status is Status.NOT_RUN, rung
        assert "cannot be compared: TF1 draws RandomUniform of shape [16, 3]" in rung.detail
        assert "switch dropout off on both sides" in rung.detail


@pytest.mark.tensorflow
def test_dropout_in_another_place_is_seen_by_its_shape(reports: Reports) -> None:
    """[16, 3] in each turn does not fit [16, 5, 4]; what differs from itself lets no training rung pass."""
    report = reports("wrong")

    assert report.rung("random").status is Status.FAIL
    assert "in each turn of a loop, TF2 RandomUniform of shape [16, 5, 4]" in report.rung("random").detail
    assert {report.rung(name).status for name in ("step", "steps")} == {Status.NOT_RUN}


@pytest.mark.tensorflow
def test_dropout_that_is_switched_off_is_not_compared(reports: Reports) -> None:
    """And that is told, where everything else is equal."""
    report = reports("off")

    assert report.status == 0
    assert report.rung("random").status is Status.PASS  # both sides drew the same stream, each in its own layout
    assert any(words.startswith("dropout (") and "rate 0" in words for words in report.not_compared)
    assert not any(words.startswith("dropout (") for words in reports("right").not_compared)


@pytest.mark.tensorflow
def test_a_side_that_differs_from_itself_is_no_failure_of_rung_8(reports: Reports) -> None:
    """Two loops draw at once."""
    report = reports("both ways")

    assert report.rung("modes").status is not Status.FAIL
    assert any("TF1 differs from itself where it trains" in words for words in report.not_compared)
    assert not any(cause.kind == "numerics" for cause in report.causes)


@pytest.mark.tensorflow
def test_a_penalty_on_a_forget_bias_names_the_bias(reports: Reports) -> None:
    """Not the kernels of which one became two, and which agree."""
    told = next(cause for cause in reports("penalty").causes if cause.kind == "regularization")

    assert any("the gradients of rnn/lstm_cell/bias differ and no others" in words for words in told.evidence), told
    assert not any("alone" in words and "kernel on" in words for words in told.evidence)


def test_only_what_fits_but_for_the_turns_is_taken_for_the_same() -> None:
    """An axis of turns more, on the side without the loop."""

    def drawn(*shape: int, repeats: bool = False) -> list[RandomOp]:
        return [RandomOp("RandomUniform", 0, shape, "step", None, repeats)]

    loop = drawn(16, 3, repeats=True)
    fitting = [drawn(16, 5, 3), drawn(5, 16, 3), drawn(16, 5, 4), drawn(16, 3), [], drawn(16, 5, 3, repeats=True)]

    assert [True, True, False, False, False, False] == [bool(in_turns(loop, other)) for other in fitting]
    assert in_turns(drawn(16, 5, 3), loop)
