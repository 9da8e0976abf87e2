"""What goes wrong when a program is run for the first time: each refusal says what to do, and doing that works."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from .command_runs import Case, Ran, line_of

pytestmark = pytest.mark.tensorflow

IMPORTS = "import tensorflow as tf\n"
ARGPARSE = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--units", type=int, required=True)
options = parser.parse_args()
def build():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(options.units)])
"""
ABSL = """
from absl import flags
flags.DEFINE_integer("units", {default}, "", required={required})
def build():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(flags.FLAGS.units)])
"""
OLD_FLAGS = """
flags = tf.compat.v1.flags
flags.DEFINE_integer("units", 3, "")
FLAGS = flags.FLAGS
print(FLAGS.units)
def build():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(FLAGS.units)])
"""
BY_HAND = """
import sys
if len(sys.argv) < 2:
    sys.exit("usage: model.py UNITS")
def build():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(int(sys.argv[1]))])
"""
FACTORY = """
def build(units, dropout=0.1):
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(units)])
"""
DONE_FACTORY = FACTORY + "def build_model(): return build(units=3)\n"
LAZY_FACTORY = """
def build(scale):
    layer = tf.keras.layers.Dense(3)
    layer.scale = scale
    return layer
def example_inputs():
    return tf.ones((2, 4))
"""
DONE_LAZY = LAZY_FACTORY + "def build_model(): return build(scale=2.0)\n"
OF_MODULE = """
network = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
"""
MODEL_FN = """
v1 = tf.compat.v1
def model_fn(features, labels, mode):
    w = tf.Variable(tf.ones((4, 1)))
    loss = tf.reduce_mean((features @ w - labels) ** 2)
    return loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss)
def example_inputs():
    return tf.zeros((2, 4)), tf.zeros((2, 1)), "train"
"""
PLACEHOLDERS = """
v1 = tf.compat.v1
def build():
    x = v1.placeholder(tf.float32, [None, 4])
    return v1.layers.dense(x, 3)
"""
MEMORY = """
import numpy as np
def build():
    kept = [np.ones(1 << 27, np.float32) for _ in range(8)]
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(len(kept))])
"""
SLOW = """
import time
def build():
    time.sleep(40)
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
"""
LOOP = """
def example_inputs():
    return tf.ones((2, 4))
def main():
    layer = tf.keras.layers.Dense(1)
    return layer
"""
OF_AN_ESTIMATOR = """
def network(features, labels, mode, params):
    return features * params["scale"]
def helper():
    return 1
"""
NO_INPUTS = """
class Net(tf.keras.Model):
    def call(self, x):
        return x * 2.0
def build():
    return Net()
"""
OPEN = """
def build():
    inputs = tf.keras.Input((None,))
    return tf.keras.Model(inputs, tf.keras.layers.Lambda(lambda x: x + tf.ones(6))(inputs))
"""
LOST = """
def build():
    try:
        return {}["units"]
    except KeyError as error:
        raise RuntimeError("no model") from error
"""
CELLS = [
    "%matplotlib inline\nimport tensorflow as tf",
    "class Net(tf.keras.Model):\n    def call(self, x):\n        return x * tf.Variable(2.0)",
    "network = Net()\nnetwork.compile('sgd', 'mse')",
    "def example_inputs():\n    return tf.ones((2, 3))",
    "raise SystemExit('a day of training')",
]


STEPPED = """
import random
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(2)
    def call(self, x):
        return self.dense(x)
    def sample(self, x):
        return self.dense(x) * tf.Variable(2.0)  # method
optimizer = tf.keras.optimizers.SGD()
def trained(model, x, y, scale):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2) * scale
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
@tf.function
def of_parts(model, x, y):
    return trained(model, x, y, random.random())  # parts
@tf.function
def of_batch(model, batch):
    return trained(model, batch["x"], batch["y"], random.random())  # batch
def pair():
    return tf.ones((2, 4)), tf.zeros((2, 2))
named = {"x": tf.ones((2, 4)), "y": tf.zeros((2, 2))}
def build():
    return Net(), tf.ones((2, 4))
"""


SESSION = """
import numpy as np
v1 = tf.compat.v1
v1.disable_v2_behavior()
def build():
    x = v1.placeholder(tf.float32, [None, 4])
    w = v1.get_variable("w", [4, 2])
    session = v1.Session()
    session.run(v1.global_variables_initializer())
    def predict(inputs):
        assert isinstance(inputs, np.ndarray)
        late = tf.Variable(1.0)  # late
        return session.run(v1.matmul(x, w), {x: inputs})
    return predict
def example_inputs():
    return np.ones((2, 4), np.float32)
"""
AGENT = """
import numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
class Agent:
    def __init__(self):
        self.x = v1.placeholder(tf.float32, [None, 4])
        self.y = v1.matmul(self.x, v1.get_variable("w", [4, 2]))
        self.session = v1.Session()
        self.session.run(v1.global_variables_initializer())
    def predict(self, inputs):
        return self.session.run(self.y, {self.x: inputs})
def build():
    return Agent(), np.ones((2, 4), np.float32)
"""


def notebook(cells: list[str]) -> str:
    code = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in cells]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def program(text: str, target: str = "model.py", *options: str) -> Case:
    return Case({"model.py": IMPORTS + text}, target, options)


@dataclass(frozen=True)
class Mistake:
    """What is run, the words of the refusal, in order, and what is run when they are followed, if they lead there."""

    case: Case
    words: tuple[str, ...]
    remedied: Case | None


_BEHIND = "goes behind `--` on the command line"
_GRAPH = "this is TF1 code, which needs a graph: `migrate-lint verify --init pair.py`"
MISTAKES = {
    "argparse": Mistake(
        program(ARGPARSE),
        ("SystemExit: 2", _BEHIND, "it last wrote", "the following arguments are required: --units"),
        program(ARGPARSE, "model.py", "--", "--units=3"),
    ),
    "absl": Mistake(
        program(ABSL.format(default=None, required=True)),
        ("--units must have a value", "flags go behind `--`"),
        program(ABSL.format(default=None, required=True), "model.py", "--", "--units=3"),
    ),
    "arguments by hand": Mistake(
        program(BY_HAND),
        ("SystemExit: usage: model.py UNITS", _BEHIND),
        program(BY_HAND, "model.py", "--", "3"),
    ),
    "a function of arguments": Mistake(
        program(FACTORY),
        ("if it makes the model", "`def build_model(): return build(units=...)`"),
        program(DONE_FACTORY, "model.py:build_model"),
    ),
    "a function of arguments, and inputs": Mistake(
        program(LAZY_FACTORY),
        ("it gave a model, Dense", "`def build_model(): return build(scale=...)`"),
        program(DONE_LAZY, "model.py:build_model"),
    ),
    "a model of the module": Mistake(
        program(OF_MODULE),
        ("has no 'build'", "network is a model or layer of Keras: name it behind the colon, as in :network"),
        program(OF_MODULE, "model.py:network"),
    ),
    "a model function": Mistake(program(MODEL_FN, "model.py:model_fn"), ("eager execution", _GRAPH), None),
    "another name": Mistake(
        program(LOOP),
        ("has no 'build'; it has example_inputs, main: name what makes the model behind the colon, as in :main",),
        program(LOOP, "model.py:main"),
    ),
    "the function of an Estimator": Mistake(
        program(OF_AN_ESTIMATOR),
        ("has no 'build'; network is the model_fn of an Estimator", "`migrate-lint verify --init pair.py`"),
        None,
    ),
    "placeholders": Mistake(program(PLACEHOLDERS), ("eager execution", _GRAPH), None),
    "much memory": Mistake(
        program(MEMORY, "model.py", "--memory-limit", "1"),
        ("--memory-limit",),
        program(MEMORY, "model.py", "--memory-limit", "0"),
    ),
    "long": Mistake(
        program(SLOW, "model.py", "--timeout", "30"),
        ("took longer than 30 s", "--timeout"),
        program(SLOW, "model.py", "--timeout", "400"),
    ),
    "inputs that nobody knows": Mistake(
        program(NO_INPUTS),
        ("says nothing of its inputs", "example_inputs()", "--input-shape 2,8"),
        program(NO_INPUTS, "model.py", "--input-shape", "2,8", "--input-dtype", "float32"),
    ),
    "inputs of other sizes": Mistake(
        program(OPEN),
        ("Incompatible shapes", "the inputs were made up where the model leaves sizes open", "--input-shape"),
        program(OPEN, "model.py", "--input-shape", "2,6", "--input-dtype", "float32"),
    ),
    "the name of a notebook": Mistake(
        Case({"model.ipynb": notebook(CELLS)}, "model.ipynb"),
        ("has no 'build'", "network is a model or layer of Keras: name it behind the colon, as in :network"),
        Case({"model.ipynb": notebook(CELLS)}, "model.ipynb:network"),
    ),
    "an error with a cause": Mistake(program(LOST), ("RuntimeError: no model", "from KeyError: 'units'"), None),
}
RIGHT = {
    "absl": program(ABSL.format(default=3, required=False)),
    "TF1's flags": program(OLD_FLAGS, "model.py", "--", "--units=4"),
    "a session": program(SESSION),
    "a session of an object": program(AGENT, "model.py", "--call", "predict"),
}
STEPS = {
    "a method": (("--call", "sample"), "method", "second call"),
    "a step of parts": (("--step", "model.py:of_parts", "--batch", "model.py:pair"), "parts", "first step"),
    "a step of a batch": (("--step", "model.py:of_batch", "--batch", "model.py:named"), "batch", "first step"),
}
"""Options, the mark of the line that they come to, and the phase in which that was confirmed."""
EXECUTED = {
    **{name: program(STEPPED, "model.py", *options) for name, (options, *_) in STEPS.items()},
    **{name: one.case for name, one in MISTAKES.items()},
    **{f"{name}, remedied": one.remedied for name, one in MISTAKES.items() if one.remedied is not None},
    **{f"{name}, right at once": case for name, case in RIGHT.items()},
}
TARGETS = ("keras2", "keras3")
EITHER = (
    "argparse", "absl", "arguments by hand", "a function of arguments", "another name", "the function of an Estimator",
    "much memory", "long", "the name of a notebook", "an error with a cause", "TF1's flags"
)  # fmt: skip
"""What is told, or remedied, before a model of Keras is called: each on one target, in turn."""


def on_targets(name: str) -> list[str]:
    """The runs of a case, one for each target that it is for."""
    of = name.removesuffix(", remedied").removesuffix(", right at once")
    return [f"{name} on {one}" for one in ([TARGETS[EITHER.index(of) % 2]] if of in EITHER else TARGETS)]


CASES = {
    run: replace(case, options=("--target", run.rpartition(" on ")[2], *case.options), waits=name.startswith("long"))
    for name, case in EXECUTED.items()
    for run in on_targets(name)
}


@pytest.mark.parametrize("name", [run for name in MISTAKES for run in on_targets(name)])
def test_a_mistake_is_told_with_what_to_do(name: str, ran: Ran) -> None:
    """In one finding, and the status is 1."""
    (told,) = ran.found("TF908")
    rest = told["message"]
    for words in MISTAKES[name.rpartition(" on ")[0]].words:
        before, found, rest = rest.partition(words)
        assert found, (words, before)
    assert ran.status == 1


@pytest.mark.parametrize(
    "name", [run for name in EXECUTED if name not in {*MISTAKES, *STEPS} for run in on_targets(name)]
)
def test_what_is_said_works(name: str, ran: Ran) -> None:
    """The model is built and called."""
    assert is_called(ran)


@pytest.mark.parametrize("name", [run for name in STEPS for run in on_targets(name)])
def test_what_the_command_line_names_is_run(name: str, ran: Ran) -> None:
    """A method in place of the model, a step of the program's own with the batch that it is to have."""
    _, mark, phase = STEPS[name.rpartition(" on ")[0]]
    line = line_of(IMPORTS + STEPPED, mark)
    (found,) = (one for one in ran.report["findings"] if one["line"] == line)

    assert is_called(ran)
    assert ("confirmed", phase) == (found["verdict"], found["evidence"][0]["phase"])


@pytest.mark.parametrize("name", on_targets("a session, right at once"))
def test_a_program_without_eager_execution_is_judged_in_its_graph(name: str, ran: Ran) -> None:
    """What its calls add to the graph is seen, and nothing calls it in ``tf.function``."""
    outcome, detail = ran.phases["first call in tf.function"]

    assert [line_of(IMPORTS + SESSION, "late")] == [line for _, line in ran.places("TF907")]
    assert ("not run", True) == (outcome, "has turned eager execution off" in detail)


def is_called(run: Ran) -> bool:
    return not run.found("TF908") and run.phases["first call"][0] == "ok"


@pytest.mark.parametrize("name", on_targets("the name of a notebook, remedied"))
def test_a_notebook_is_run_up_to_the_cell_that_makes_the_model(name: str, ran: Ran) -> None:
    """Its findings have verdicts in their cells, and what is trained for a day below is not run."""
    (found,) = ran.found("TF101")

    assert (1, 3, "confirmed") == (found["cell"], found["line"], found["verdict"])
    assert [found] == ran.report["findings"]
