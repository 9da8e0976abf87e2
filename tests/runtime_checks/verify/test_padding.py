"""A mask or lengths of one side are compared by padded rows alone; where there are none, that is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.reporters import text
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

HERE = Path(__file__).parent
WANTED = (scenarios.STRUCTURE, scenarios.FINGERPRINT)
CASES = {
    "lengths": ("TF1", True),
    "a mask": ("TF2", True),
    "lengths, a row is padded": ("TF1", False),
    "none": ("", False),
}
"""Which side reads padding off the batch, and whether that is not compared."""


def record(side: str, name: str, folder: str, tf1: str) -> None:
    """In a child: record one side of a pair."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Converter, Pair, Spec
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording
    from migrate_lint.runtime_checks.worker.recording.loading import Loaded
    from migrate_lint.runtime_checks.worker.recording.sides import record_side

    v1 = tf.compat.v1

    def network(features: object) -> object:
        table = v1.get_variable("table", [20, 3])
        length = tf.reduce_sum(tf.sign(features), 1) if name.startswith("lengths") else None
        cell = v1.nn.rnn_cell.LSTMCell(4)
        given = tf.nn.embedding_lookup(table, features)
        return Spec(predictions=v1.nn.dynamic_rnn(cell, given, sequence_length=length, dtype=tf.float32)[1].h)

    def model() -> object:
        keras = tf.keras
        mask = name == "a mask"
        return keras.Sequential(
            [keras.layers.Embedding(20, 3, mask_zero=mask, name="words"), keras.layers.LSTM(4, name="rnn")]
        )

    def inputs(step: int) -> object:
        found = np.random.RandomState(step).randint(1, 20, size=[16, 5]).astype(np.int32)
        if name.endswith("is padded") and step == 2:
            found[3, 4] = 0
        return found

    pair = Pair(
        network, model, inputs,
        renames={"table": "words/embeddings"}, converters=[Converter("rnn/lstm_cell/", "rnn/lstm_cell/", "lstm")],
    )  # fmt: skip
    tf.keras.backend.clear_session()
    plan = Plan((*WANTED, scenarios.STEPS), 3, 42)
    other = None if side == "tf1" else read(tf1)
    record_side(Loaded(pair, False, str(HERE)), side, plan, Recording(folder, side), UserCode([str(HERE)]), other)


@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", CASES)
def test_padding_that_no_batch_has_is_not_compared(children: Children, tmp_path: Path, name: str, target: str) -> None:
    """It is told of the side that reads it, with the line; layers of Keras that look for wrong indices read none."""
    old, new = str(tmp_path / "tf1"), str(tmp_path / "tf2")
    children.call("keras2", record, "tf1", name, old, "")
    children.call(target, record, "tf2", name, new, old)
    one, other = read(old), read(new)
    report = compare(one, other, until="fingerprint")
    side, told = CASES[name]
    found = [words for words in report.not_compared if words.startswith("padding")]
    assert not any("not found out" in str(note) for sides in (one, other) for note in sides.content["notes"])
    assert bool(found) == told, report.not_compared
    assert all(f"which {side} reads off the batch" in words and "test_padding.py:" in words for words in found)
    assert ("padding, which" in text.render(report)) == told
