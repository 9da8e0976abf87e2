"""``verify --init --tf1``: a pair of a TF1 program, which runs once what the text does not tell is filled in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import main

from .projects import rungs

Captured = pytest.CaptureFixture[str]
SESSION = """\
import numpy as np
import tensorflow.compat.v1 as tf
from data import batches

tf.disable_v2_behavior()
tf.app.flags.DEFINE_integer("hidden", 8, "")
FLAGS = tf.app.flags.FLAGS
COLUMNS = 2 * 2


class Net:
    def __init__(self, classes, rate):
        self.x = tf.placeholder(tf.float32, [None, COLUMNS])
        self.y = tf.placeholder(tf.int32, [None])
        self.keep = tf.placeholder(tf.float32)
        hidden = tf.layers.dense(self.x, FLAGS.hidden, activation=tf.nn.relu)
        self.logits = tf.layers.dense(tf.nn.dropout(hidden, self.keep), classes)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=self.logits)
        self.loss = tf.reduce_mean(each)
        self.train_op = tf.train.AdamOptimizer(rate).minimize(self.loss)

    def fit(self, session, x, y):
        return session.run([self.train_op, self.loss], feed_dict={self.x: x, self.y: y, self.keep: 0.5})


def main(_):
    net = Net(3, 0.01)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for x, y in batches():
            net.fit(session, x, y)
        print(session.run(net.logits, {net.x: np.ones([1, COLUMNS]), net.keep: 1.0}))


if __name__ == "__main__":
    tf.app.run()
"""
MODEL_FN = """\
import tensorflow as tf

v1 = tf.compat.v1
PARAMS = {"units": 8, "rate": 0.01}


def model_fn(features, labels, mode, params):
    image = tf.reshape(features["image"], [-1, 4, 4, 1])
    hidden = v1.layers.dense(v1.layers.flatten(v1.layers.conv2d(image, 2, 3)), params["units"])
    logits = v1.layers.dense(hidden, 5)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=logits)
    loss = v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    train_op = v1.train.AdamOptimizer(params["rate"]).minimize(loss, global_step=v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)


def main():
    tf.estimator.Estimator(model_fn=model_fn, params=PARAMS).train(lambda: None)
"""
KERAS = """\
import tensorflow as tf
from tensorflow.keras import layers


def build_model(width=8):
    model = tf.keras.Sequential()
    decay = tf.keras.regularizers.l2(0.01)
    model.add(layers.Dense(width, activation="relu", input_shape=(4,), kernel_regularizer=decay, name="hidden"))
    model.add(layers.BatchNormalization(name="normal"))
    model.add(layers.Dense(3, activation="softmax", name="scores"))
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.9), loss="sparse_categorical_crossentropy")
    return model
"""
NEW_SESSION = """\
import tensorflow as tf


def model():
    layers = tf.keras.layers
    made = tf.keras.Sequential(
        [layers.Dense(8, "relu", name="dense"), layers.Dropout(0.5), layers.Dense(3, name="dense_1")]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(tf.keras.optimizers.Adam(0.01, epsilon=1e-8), loss)
    return made
"""
NEW_MODEL_FN = """\
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self, params):
        super().__init__()
        self.conv = tf.keras.layers.Conv2D(2, 3, name="conv2d")
        self.hidden = tf.keras.layers.Dense(params["units"], name="dense")
        self.scores = tf.keras.layers.Dense(5, name="dense_1")

    def call(self, inputs):
        image = self.conv(inputs["image"])
        return self.scores(self.hidden(tf.reshape(image, [-1, 8])))
"""
FILLED = {
    "optimizer = ": "optimizer = tf.keras.optimizers.Adam(0.01, epsilon=1e-8)",
    "        loss = ": "        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, outputs))",
}
KINDS = {
    "session": (SESSION, NEW_SESSION, 0),
    "estimator": (MODEL_FN, NEW_MODEL_FN, 2),
    "keras": (KERAS, KERAS.replace("build_model", "model"), 0),
}


def written(folder: Path, kind: str) -> Path:
    """The pair that is written of a program of a kind and of what it became."""
    old, new, _ = KINDS[kind]
    (folder / "train.py").write_text(old, "utf-8")
    (folder / "new.py").write_text(new, "utf-8")
    (folder / "data.py").write_text("def batches():\n    return []\n", "utf-8")
    words = ["verify", "--init", "pair.py", "--tf1", "train.py", "--tf2", "new.py"]
    assert 0 == main(words)
    return folder / "pair.py"


def verified(pair: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "migrate_lint", "verify", pair.name, "--output-format", "json", *words]
    return subprocess.run(command, cwd=pair.parent, capture_output=True, text=True, check=False)


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_pair_that_is_written_and_filled_in_is_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, target: str
) -> None:
    """With the lines that the text cannot tell, and no other; and on Keras 2 it differs once the program does."""
    monkeypatch.chdir(tmp_path)
    pair = written(tmp_path, kind)
    lines = pair.read_text("utf-8").splitlines()
    filled = [next((new for old, new in FILLED.items() if line.startswith(f"{old}to_fill(")), line) for line in lines]
    pair.write_text("\n".join(filled), "utf-8")
    done = verified(pair, "--target", target)

    assert KINDS[kind][2] == sum(old != new for old, new in zip(lines, filled, strict=True))
    assert (0, "") == (done.returncode, done.stderr)
    passed = {number for number, status in rungs(json.loads(done.stdout)).items() if status == "pass"}
    assert {"1", "2", "3", "3f", "4", "6", "7", "8"} <= passed

    if target == "keras2":
        other = KINDS[kind][1].replace("relu", "elu").replace("Dense(5", "Dense(5, 'tanh'")
        (tmp_path / "new.py").write_text(other, "utf-8")
        assert 1 == verified(pair, "--target", target, "--until", "fingerprint").returncode


def test_what_is_found_and_what_is_not_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Each with file and line; what is to be filled in with that of the pair."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SESSION.replace("COLUMNS])", "columns()])"), "utf-8")

    assert 0 == main(["verify", "--init", "pair.py", "--tf1", "train.py"])
    out, err = capsys.readouterr()
    assert "" == out
    for line in (
        "found           train.py:15 placeholder `keep`: float32 of unknown rank, fed 0.5 in training and 1.0 other",
        "found           train.py:20 training step: `tf.train.AdamOptimizer(rate).minimize(self.loss)`",
        "found           train.py:18 outputs: `self.logits`",
        "to fill in      pair.py:26: size 1 of x, `columns()` in train.py:13",
    ):
        assert line in err


@pytest.mark.slow
def test_a_pair_that_is_not_finished_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """All lines that are to be filled in are told at once."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "estimator")
    capsys.readouterr()

    assert 2 == main(["verify", "pair.py"])
    told = capsys.readouterr().err
    assert "pair.py is not finished; fill in" in told
    assert "line 22: an optimizer that does as train.py:14: v1.train.AdamOptimizer(params['rate'])" in told
    assert "the loss of outputs and labels, as train.py:13: v1.losses.sparse_softmax_cross_entropy(" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pair.py", "--tf1", "train.py"], "--tf1 is for --init alone"),
        (["--init", "pair.py", "--tf2", "train.py"], "--tf1 is for --init alone, and --tf2 for both of them"),
        (["--init", "pair.py", "--tf1", "gone.py"], "there is no file gone.py"),
        (["--init", "pair.py", "--tf1", "train.py:gone"], "has no function or class gone; it has Net, main"),
        (["--init", "train.py", "--tf1", "train.py"], "--init train.py: there is such a file, which is left as it is"),
        (["--init", "pair.py", "--tf1", "eager.py"], "eager.py has no session, no placeholder"),
        (["--init", "pair.py", "--tf1", "book.ipynb"], "book.ipynb: a notebook is no script that a pair can run"),
    ],
)
def test_what_cannot_be_written_is_one_message_and_2(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """And no file is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SESSION, "utf-8")
    (tmp_path / "eager.py").write_text("import tensorflow as tf\n", "utf-8")
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))

    assert 2 == main(["verify", *words])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "pair.py").exists()
