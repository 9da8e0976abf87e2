"""Dropout in a loop of TF1: a right TF2 side is not failed for it, a wrong one is; a side may differ from itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.draws import in_turns
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import RandomOp, Status
from migrate_lint.runtime_checks.verifying import Request, run
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children
from .test_guides import need
from .workers import in_children

HERE = Path(__file__).parent
WANTED = (
    scenarios.STRUCTURE, scenarios.FINGERPRINT, scenarios.INFERENCE, scenarios.INFERENCE_COPIED, scenarios.ALIGNED,
    scenarios.STEPS, scenarios.STEPS_NUDGED, scenarios.STEPS_OTHER, scenarios.STEPS_AGAIN,
)  # fmt: skip

Reports = Callable[..., Report]
RIGHT = (
    "right", "lengths", "layers", "unrolled", "unrolled layers", "layers, one by one", "switched off", "beside",
    "layers beside", "unrolled beside",
)  # fmt: skip
TRAINING = ("random", "step", "steps")


def record(side: str, name: str, folder: str, tf1: str, v1_loops: bool) -> None:
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
    off = name in ("off", "penalty", "switched off")
    outputs = "layers" in name or name == "lengths"  # of a cell are dropped, and else its inputs
    bound = (6 / 23) ** 0.5

    def beside(logits: object, features: object, dropout: Callable[..., object]) -> object:
        if outputs:
            return dropout(logits)
        return logits + tf.reduce_sum(dropout(features[:, 0]), 1, keepdims=True)

    def network(features: object, labels: object, mode: str) -> object:
        lengths = tf.reduce_sum(tf.cast(features[:, :, 0] > -9, tf.int32), 1) if "lengths" in name else None

        def cell() -> object:
            keep = v1.placeholder_with_default(1.0, []) if name == "switched off" else 0.7
            made = v1.nn.rnn_cell.LSTMCell(4)
            if mode != "train" or (off and name != "switched off"):
                return made
            return v1.nn.rnn_cell.DropoutWrapper(made, **{f"{'output' if outputs else 'input'}_keep_prob": keep})

        def unrolled(given: object) -> object:
            some = v1.nn.rnn_cell.MultiRNNCell([cell(), cell()]) if name == "unrolled layers" else cell()
            turns = tf.unstack(given, axis=1)
            return tf.stack(v1.nn.static_rnn(some, turns, dtype=tf.float32, sequence_length=lengths)[0], 1)

        if name == "both ways":
            out = sum(v1.nn.bidirectional_dynamic_rnn(cell(), cell(), features, dtype=tf.float32)[0])
        elif name == "layers, one by one":
            with v1.variable_scope("first"):
                out = unrolled(features)
            with v1.variable_scope("second"):
                out = unrolled(out)
        elif "unrolled" in name:
            out = unrolled(features)
        else:
            some = v1.nn.rnn_cell.MultiRNNCell([cell(), cell()]) if "layers" in name else cell()
            out = v1.nn.dynamic_rnn(some, features, lengths, dtype=tf.float32)[0]
        logits = tf.reduce_mean(out, 1)
        if "beside" in name:  # what is drawn once has the shape of a turn
            logits = beside(logits, features, lambda given: v1.layers.dropout(given, 0.3, training=mode == "train"))
        if mode == "infer":
            return Spec(predictions=logits)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        if name == "penalty":
            loss += 1e-3 * tf.add_n([tf.nn.l2_loss(one) for one in v1.trainable_variables()])
        return Spec(logits, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss))

    def model() -> object:
        layers = tf.keras.layers
        drawn = partial(tf.keras.initializers.RandomUniform, -bound, bound)
        rules = ("kernel_regularizer", "recurrent_regularizer", "bias_regularizer") if name == "penalty" else ()

        def rnn() -> object:
            return layers.LSTM(
                4, return_sequences=True, kernel_initializer=drawn(), recurrent_initializer=drawn(),
                **{rule: tf.keras.regularizers.L2(5e-4) for rule in rules},
            )  # fmt: skip

        class Masked(layers.Layer):
            def __init__(self) -> None:
                super().__init__()
                self.rnn, self.dropout = rnn(), layers.Dropout(0.3)

            def call(self, features: object, training: bool = False) -> object:
                mask = features[:, :, 0] > -9
                first = not outputs and "wrong" not in name
                given = self.dropout(features, training=training) if first else features
                out = self.rnn(given, mask=mask) * tf.cast(mask, tf.float32)[:, :, None]
                return out if first else self.dropout(out, training=training)

        class Beside(layers.Layer):
            def __init__(self, inner: object) -> None:
                super().__init__()
                self.inner, self.dropout = inner, layers.Dropout(0.3)

            def call(self, features: object, training: bool = False) -> object:
                logits = self.inner(features, training=training)
                return beside(logits, features, lambda given: self.dropout(given, training=training))

        dropout = layers.Dropout(0.0 if off else 0.6 if name == "other rate" else 0.3)
        both = layers.Bidirectional(rnn(), merge_mode="sum") if name == "both ways" else rnn()
        order = [dropout, both]
        if "wrong" in name:
            order = order[::-1]
        if "layers" in name:
            order = [rnn(), layers.Dropout(0.3), rnn(), layers.Dropout(0.3)]
        if "lengths" in name:
            order = [Masked()]
        made = tf.keras.Sequential([*order, layers.GlobalAveragePooling1D()])
        made = tf.keras.Sequential([Beside(made)]) if "beside" in name else made
        made.compile(tf.keras.optimizers.SGD(0.1), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return made

    def inputs(step: int) -> object:
        random = np.random.RandomState(step)
        given = random.normal(size=[16, 5, 3]).astype(np.float32)
        if "lengths" in name:  # the longest has 3 at first, and one more in each step
            lengths = random.randint(1, 6 if "full" in name else 4 + step, size=16)
            lengths[0] = 5 if "full" in name else lengths[0]
            given[np.arange(5) >= lengths[:, None]] = -10
        return given

    pair = Pair(
        network, model, inputs,
        labels=lambda step: np.random.RandomState(step).randint(0, 4, size=[16]).astype(np.int32),
    )  # fmt: skip
    tf.keras.backend.clear_session()
    other = None if side == "tf1" else read(tf1)
    plan = Plan(WANTED, 3, 42)
    today = v1.control_flow_v2_enabled()
    if v1_loops:
        v1.disable_control_flow_v2()
    try:
        record_side(Loaded(pair, False, str(HERE)), side, plan, Recording(folder, side), UserCode([str(HERE)]), other)
    finally:
        if today:
            v1.enable_control_flow_v2()


@pytest.fixture(scope="module")
def reports(children: Children, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Compares a pair."""
    folder = tmp_path_factory.mktemp("loops")

    @cache
    def reported(name: str, v1_loops: bool = False) -> Report:
        old, new = str(folder / f"tf1 {name} {v1_loops}"), str(folder / f"{name} {v1_loops}")
        children.call("keras2", record, "tf1", name, old, "", v1_loops)
        children.call("keras3", record, "tf2", name, new, old, False)
        return compare(read(old), read(new))

    return reported


@pytest.mark.tensorflow
@pytest.mark.parametrize("v1_loops", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_side_draws_what_a_loop_draws(name: str, v1_loops: bool, reports: Reports) -> None:
    """A loop as TensorFlow 1 has it and as a function, unrolled, some layers, rows that end early: the steps pass."""
    report = reports(name, v1_loops)

    assert report.status == 0
    assert {report.rung(rung).status for rung in (*TRAINING, "modes")} == {Status.PASS}, report.rungs
    assert not any("random numbers" in words for words in report.not_compared)
    assert not any(cause.kind == "randomness" for cause in report.causes)


@pytest.mark.tensorflow
@pytest.mark.parametrize(("name", "failed"), [("both ways", []), ("other rate", ["settings"])])
def test_what_is_drawn_in_turns_and_differs_is_not_compared(name: str, failed: list[str], reports: Reports) -> None:
    """Turns from the other end; another rate: it is told what to do, nothing passes, and the sides are not equal."""
    report = reports(name)

    assert [rung.name for rung in report.rungs if rung.status is Status.FAIL] == failed
    assert (1 if failed else 3) == report.status
    for rung in TRAINING:
        assert report.rung(rung).status is (Status.VACUOUS if rung == "random" else Status.NOT_RUN), report.rung(rung)
        assert "cannot be compared: TF1 draws RandomUniform of shape [16, 3]" in report.rung(rung).detail
        assert "switch dropout off on both sides" in report.rung(rung).detail


@pytest.mark.tensorflow
@pytest.mark.parametrize("v1_loops", [False, True])
def test_branches_that_draw_are_compared_in_the_first_step(v1_loops: bool, reports: Reports) -> None:
    """One that is not taken draws nothing: later steps are compared where each row is long enough in each of them."""
    some, full = reports("unrolled lengths", v1_loops), reports("unrolled full lengths", v1_loops)
    wrong = reports("wrong unrolled full lengths", v1_loops)

    assert [Status.PASS, Status.PASS, Status.NOT_RUN] == [some.rung(name).status for name in TRAINING], some.rungs
    assert "Give each batch a row of full length" in some.rung("steps").detail
    assert (0, {Status.PASS}) == (full.status, {full.rung(name).status for name in TRAINING}), full.rungs
    assert Status.PASS not in {wrong.rung(name).status for name in TRAINING}


@pytest.mark.tensorflow
def test_dropout_in_another_place_is_seen_by_its_shape(reports: Reports) -> None:
    """[16, 3] in each turn does not fit [16, 5, 4]; what is not aligned lets no training rung pass."""
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
def test_a_penalty_on_a_forget_bias_names_the_bias(reports: Reports) -> None:
    """Not the kernels of which one became two, and which agree."""
    told = next(cause for cause in reports("penalty").causes if cause.kind == "regularization")

    assert any("the gradients of rnn/lstm_cell/bias differ and no others" in words for words in told.evidence), told
    assert not any("alone" in words and "kernel on" in words for words in told.evidence)


def test_only_what_fits_but_for_the_turns_is_taken_for_the_same() -> None:
    """An axis of turns more, on the side without the loop; a draw that is not repeated is none of several turns."""

    def drawn(*shape: int, repeats: bool = False) -> list[RandomOp]:
        return [RandomOp("RandomUniform", 0, shape, "step", None, repeats)]

    loop = drawn(16, 3, repeats=True)
    fitting = [drawn(16, 5, 3), drawn(5, 16, 3), drawn(16, 5, 4), drawn(16, 3), [], drawn(16, 5, 3, repeats=True)]

    assert [True, True, False, False, False, False] == [bool(in_turns(loop, other)) for other in fitting]
    assert in_turns(drawn(16, 5, 3), loop)


@pytest.mark.tensorflow
@pytest.mark.parametrize(("name", "target"), [("right", "keras3"), ("right", "keras2"), ("begins_otherwise", "keras3")])
def test_words_that_inference_samples_in_a_loop(children: Children, name: str, target: str) -> None:
    """They are other words with other numbers, and rungs 3 to 4 say so; how variables begin is still compared."""
    need(target)
    with in_children(children):
        found = run(Request(f"{HERE / 'sampled_words.py'}:{name}", target=Target(target), until="random"))
    rungs = {rung.number: rung for rung in found.rungs}

    for number in ("3", "3f"):
        assert Status.NOT_RUN is rungs[number].status, rungs[number]
        assert "what a loop draws in inference is not aligned" in rungs[number].detail
    assert (Status.FAIL if name == "begins_otherwise" else Status.NOT_RUN) is rungs["4"].status
    assert not any(cause.kind == "forward" for cause in found.causes)
