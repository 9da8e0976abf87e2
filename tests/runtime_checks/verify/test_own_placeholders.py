"""TF1 programs that make their placeholders, graphs and sessions themselves are recorded like functions of features."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from migrate_lint.runtime_checks.worker.frames import UserCode
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
from migrate_lint.runtime_checks.worker.recording.format.reading import Recorded, read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from ...interpreters import Children, load

pytestmark = pytest.mark.tensorflow

SCRIPT = """\
import sys
import tensorflow as tf

v1 = tf.compat.v1
v1.flags.DEFINE_integer("classes", 3, "")
FLAGS = v1.flags.FLAGS


def train(name):
    v1.reset_default_graph()
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 4])
        feed = {"target": v1.placeholder(tf.int32, [None])}
        keep = v1.placeholder(tf.float32)
        w = v1.get_variable(name, [4, FLAGS.classes])
        logits = tf.matmul(v1.nn.dropout(x, keep_prob=keep), w)
        loss = v1.losses.sparse_softmax_cross_entropy(feed["target"], logits)
        step = v1.train.MomentumOptimizer(0.1, 0.5).minimize(loss)
        with v1.Session() as session:
            try:
                session.run(v1.global_variables_initializer())
            except Exception:
                pass
            sys.exit("it trained")


if __name__ == "__main__":
    FLAGS(sys.argv)
    train("w")
"""
SETTINGS = """\
import tensorflow as tf

tf.compat.v1.flags.DEFINE_integer("outputs", 3, "")
"""
LOCAL = """\
import sys
import settings
import tensorflow as tf

v1 = tf.compat.v1


def build(outputs):
    x = v1.placeholder(tf.float32, [None, 4])
    y = v1.placeholder(tf.int32, [None])
    keep = v1.placeholder(tf.float32)
    w = v1.get_variable("w", [4, outputs])
    logits = tf.matmul(v1.nn.dropout(x, keep_prob=keep), w)
    loss = v1.losses.sparse_softmax_cross_entropy(y, logits)
    step = v1.train.MomentumOptimizer(0.1, 0.5).minimize(loss)
    return "built"


v1.flags.FLAGS(sys.argv)
with tf.Graph().as_default(), v1.Session() as session:
    build(v1.flags.FLAGS.outputs)
    session.run(v1.global_variables_initializer())
"""
WANTING = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float)
parser.add_argument("--units", type=int, required=True)
parser.parse_args()
"""
PROGRAMS = """\
import numpy as np
import tensorflow as tf
import script
from migrate_lint.runtime_checks.worker.recording.pairs.pair import Pair, Spec
from migrate_lint.runtime_checks.worker.recording.tf1.until_session import until_session

v1 = tf.compat.v1
random = np.random.RandomState(0)
ROWS = random.normal(size=(8, 4)).astype(np.float32)
CLASSES = np.array([0, 1, 2, 1, 0, 0, 2, 1], np.int64)


class Classifier:
    def __init__(self, classes, trained=True):
        self.x = v1.placeholder(tf.float32, [None, 4])
        self.y = v1.placeholder(tf.int32, [None])
        self.keep = v1.placeholder(tf.float32)
        w = v1.get_variable("w", [4, classes])
        self.logits = tf.matmul(v1.nn.dropout(self.x, keep_prob=self.keep), w)
        self.loss = v1.losses.sparse_softmax_cross_entropy(self.y, self.logits)
        self.step = v1.train.MomentumOptimizer(0.1, 0.5).minimize(self.loss) if trained else None


def given(features, labels, mode):
    w = v1.get_variable("w", [4, 3])
    logits = tf.matmul(v1.nn.dropout(features, keep_prob=0.5 if mode == "train" else 1.0), w)
    if mode == "infer":
        return Spec(logits)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    return Spec(logits, loss, v1.train.MomentumOptimizer(0.1, 0.5).minimize(loss))


def made(features, labels, mode):
    model = Classifier(3)
    feeds = {model.x: features, model.y: labels, model.keep: 0.5 if mode == "train" else 1}
    return Spec(model.logits, model.loss, model.step, feeds=feeds)


def two(features, labels, mode):
    spec = made(features, labels, mode)
    with v1.variable_scope("", reuse=True):
        Classifier(3, trained=False)
    return spec


def measured(features, labels, mode):
    model = Classifier(3)
    feeds = {model.x: features, model.y: labels, model.keep: 1}
    doubled = 2.0 * model.loss
    return Spec(model.logits, model.loss, model.step, {"doubled": (doubled, doubled)}, feeds=feeds)


def sparse(features, labels, mode):
    target = v1.sparse_placeholder(tf.int32)
    spec = given(features, tf.reshape(tf.sparse.to_dense(target), [8]), mode)
    if labels is None:
        return spec
    parts = np.arange(8).reshape(8, 1), labels, [8]
    feeds = {target: v1.SparseTensorValue(*parts) if mode == "train" else parts}
    return Spec(spec.predictions, spec.loss, spec.train_op, feeds=feeds)


def unfit(features, labels, mode):
    return Spec(features, feeds={v1.sparse_placeholder(tf.int32): 3})


def hungry(features, labels, mode):
    model = Classifier(3)
    return Spec(model.logits, model.loss, feeds={model.x: features, model.keep: 1, model.y: None})


def of_session(reached, features, labels, mode):
    feeds = {
        reached["x"]: features, reached["feed['target']"]: labels, reached["keep"]: 0.5 if mode == "train" else 1
    }
    return Spec(reached["logits"], reached["loss"], reached["step"], feeds=feeds)


def ran(features, labels, mode):
    return of_session(until_session("script.py"), features, labels, mode)


def called(features, labels, mode):
    return of_session(until_session(script.train, "w"), features, labels, mode)


def local(features, labels, mode):
    reached = until_session("local.py", returned=["build"])
    x, y, keep, logits, loss, step = (
        reached[f'returned["build"][0].{name}'] for name in ("x", "y", "keep", "logits", "loss", "step")
    )
    feeds = {x: features, y: labels, keep: 0.5 if mode == "train" else 1}
    return Spec(logits, loss, step, feeds=feeds)


def not_returned(features, mode):
    return until_session("local.py", returned=["build", "gone"])['returned["gone"][0].logits']


def of(function):
    return lambda: Pair(function, None, ROWS, CLASSES)


def strange(features, mode):
    model = Classifier(3)
    return Spec(model.logits, model.loss, feeds={model.x: tf.abs(features)})


def foreign(features, mode):
    return Spec(features, features, feeds={features.name: features})


def absent(features, mode):
    return until_session("script.py")["logit"]


def idle(features, mode):
    until_session(len, "no session")


def nowhere(features, mode):
    until_session("no_script.py")


def beside(features, labels, mode):
    return of_session(until_session("old/opening.py", folder="old"), features, labels, mode)


def elsewhere(features, mode):
    until_session("old/opening.py")


def from_above(features, mode):
    until_session("old/deep/importing.py")


def no_folder(features, mode):
    until_session("old/opening.py", folder="new")


def refused(features, mode):
    until_session("wanting.py", "--rate", "0.1")


PAIRS = {
    function.__name__: of(function)
    for function in (
        given, made, two, ran, called, strange, foreign, hungry, absent, idle, nowhere, refused, beside, elsewhere,
        no_folder, from_above, local, not_returned, sparse, unfit, measured,
    )
}
"""
EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])
COMPARED = (
    scenarios.INFERENCE, scenarios.STEPS, scenarios.EVALUATED, scenarios.FLOAT64_INFERENCE, scenarios.FLOAT64_STEP
)

Get = Callable[[str, str], Recorded]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, children: Children) -> Get:
    """The recording of a program by Keras and name; those of a Keras are made when one is first asked for."""
    folders: dict[str, Path] = {}

    def get(keras: str, name: str) -> Recorded:
        if keras not in folders:
            folders[keras] = tmp_path_factory.mktemp(keras)
            (folders[keras] / "programs.py").write_text(PROGRAMS, "utf-8")
            (folders[keras] / "script.py").write_text(SCRIPT, "utf-8")
            (folders[keras] / "wanting.py").write_text(WANTING, "utf-8")
            (folders[keras] / "settings.py").write_text(SETTINGS, "utf-8")
            (folders[keras] / "local.py").write_text(LOCAL, "utf-8")
            (folders[keras] / "old").mkdir()
            (folders[keras] / "old" / "data.txt").write_text("3", "utf-8")
            (folders[keras] / "old" / "deep").mkdir()
            (folders[keras] / "old" / "helpers.py").touch()
            (folders[keras] / "old" / "deep" / "importing.py").write_text("from helpers import feed", "utf-8")
            opening = SCRIPT.replace('"classes", 3', '"kinds", int(open("data.txt").read())')
            opening = opening.replace("FLAGS.classes", "FLAGS.kinds")
            (folders[keras] / "old" / "opening.py").write_text(opening, "utf-8")
            children.call(keras, record, str(folders[keras]))
        return read(folders[keras] / name)

    return get


def record(folder: str) -> None:
    """In a child: record every program."""
    import sys

    from migrate_lint.runtime_checks.worker.recording.pairs.batches import PairError
    from migrate_lint.runtime_checks.worker.recording.tf1.side import record_tf1

    sys.path.insert(0, folder)
    plan = Plan(tuple(getattr(scenarios, name) for name in scenarios.__all__), steps=3)
    for name, pair in load(Path(folder, "programs.py")).PAIRS.items():
        recording = Recording(f"{folder}/{name}", "tf1")
        try:
            record_tf1(pair(), plan, recording, UserCode([folder]))
        except PairError as error:
            recording.note(str(error))
        recording.save()


@EITHER
@pytest.mark.parametrize("name", ["made", "two", "ran", "called", "beside", "local", "sparse"])
def test_it_computes_what_a_function_of_features_computes(recorded: Get, keras: str, name: str) -> None:
    """In every scenario, bit by bit: forward passes with dropout off, steps with it on, evaluation, float64."""
    own, other = recorded(keras, name), recorded(keras, "given")

    for scenario in COMPARED:
        assert ["ok", "ok"] == [side.scenario(scenario).outcome for side in (own, other)], own.scenario(scenario).detail
        found, wanted = (
            {(one.kind, one.name, one.step): one.value for one in side.scenario(scenario).records}
            for side in (own, other)
        )
        found, wanted = ({key: side[key] for key in side if key[0] != "operation"} for side in (found, wanted))
        assert wanted.keys() == found.keys()
        for key in wanted:
            np.testing.assert_array_equal(wanted[key], found[key], str((scenario, key)))
    assert [3] == own.content["variables"][0]["shape"][1:]


@EITHER
def test_a_metric_that_is_its_own_update_is_meant_over_the_batches(recorded: Get, keras: str):
    """It is a number of a batch, and needs what that is fed."""
    evaluated = recorded(keras, "measured").scenario(scenarios.EVALUATED)
    found = {one.kind: one.value for one in evaluated.records if one.kind in ("loss", "metric")}

    assert "ok" == evaluated.outcome, evaluated.detail
    np.testing.assert_allclose(found["metric"], 2.0 * found["loss"], rtol=1e-6)


@EITHER
@pytest.mark.parametrize(("name", "programs"), [("ran", ["script.py"]), ("called", ["train"]), ("made", [])])
def test_programs_that_were_not_run_to_their_end_are_known(
    recorded: Get, keras: str, name: str, programs: list[str]
):
    """What their sessions do is seen by nobody."""
    assert programs == recorded(keras, name).content["first_sessions"]


@EITHER
def test_graphs_of_the_programs_own_are_told(recorded: Get, keras: str) -> None:
    """Once; a program that makes none is told nothing of."""
    told = [note for note in recorded(keras, "ran").content["notes"] if "in one graph all the same" in note]

    assert ["the TF1 program calls tf.reset_default_graph(): it is recorded in one graph all the same"] == told
    assert [] == recorded(keras, "made").content["notes"]


@EITHER
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("strange", "which is neither an input nor a label that the function was given, nor a number or array"),
        ("foreign", "feeds of the Spec: 'input:0' is no tensor of the graph that was built"),
        ("unfit", "a SparseTensor gets a tf.compat.v1.SparseTensorValue, or a tuple of its indices, values, "),
        ("hungry", "feeds of the Spec: loss needs Placeholder_1:0 (programs.py:16), which gets nothing"),
        ("absent", "the program has no logit when it comes to its first session; it has FLAGS, feed, keep, logits, "),
        ("from_above", "deep/importing.py does not find helpers, which lies in old: put that on the path before"),
        ("not_returned", "build has returned 1 time; gone has returned 0 times"),
        ("idle", "len ends without running anything in a session"),
        ("nowhere", "until_session: there is no file "),
        ("no_folder", "until_session: new is no folder to run in: No such file or directory"),
        (
            "elsewhere",
            "old/opening.py does not find data.txt, which lies in its folder: run verify there, or say "
            "until_session('old/opening.py', ..., folder='old')",
        ),
        ("refused", "exits without running anything in a session (SystemExit: 2: the following arguments are required"),
    ],
)
def test_what_cannot_be_followed_is_said(recorded: Get, keras: str, name: str, said: str) -> None:
    """A pair that cannot be used ends the recording; what the program lacks, the scenarios."""
    found = recorded(keras, name)

    assert said in " ".join([*found.content["notes"], found.scenario(scenarios.INFERENCE).detail])
