"""What a pair's files keep outside the model: optimizers, metrics, variables and models at module level."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])
TF1 = """\
import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras


def network(x, labels, mode):
    out = v1.layers.dense(x, 2, name="out")
    loss = v1.losses.sparse_softmax_cross_entropy(labels, out)
    return Spec(out, loss, v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss))


def inputs(step):
    return np.random.default_rng(step).normal(size=(8, 3)).astype(np.float32)


def labels(step):
    return np.random.default_rng(step).integers(2, size=8)


def model():
    return keras.Sequential([keras.layers.Dense(2, name="out")])


def updated(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
"""
KINDS = {
    "an optimizer at module level": """
optimizer = keras.optimizers.SGD(0.1, momentum=0.9)

@tf.function
def step(model, x, y):
    return updated(model, optimizer, x, y)

pair = Pair(network, model, inputs, labels, train_step=step)
""",
    "metrics at module level": """
optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
tracker = keras.metrics.Mean(name="loss")

@tf.function
def step(model, x, y):
    loss = updated(model, optimizer, x, y)
    tracker.update_state(loss)
    return {"loss": loss, "mean": tracker.result()}

def counted(x, labels, mode):
    found = network(x, labels, mode)
    found.eval_metric_ops = {"mean": v1.metrics.mean(found.loss)}
    return found

pair = Pair(counted, model, inputs, labels, train_step=step)
""",
    "a model at module level": """
another = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="out")])
the_model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="out")])
optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
pair = Pair(network, lambda: the_model, inputs, labels, train_step=lambda m, x, y: updated(m, optimizer, x, y))
""",
    "a compiled model at module level": """
the_model = model()
the_model.compile(keras.optimizers.SGD(0.1, momentum=0.9), loss_of)
pair = Pair(network, lambda: the_model, inputs, labels)
""",
    "an optimizer in a module that is imported": """
from beside import optimizer

@tf.function
def step(model, x, y):
    return updated(model, optimizer, x, y)

pair = Pair(network, model, inputs, labels, train_step=step)
""",
    "an optimizer in a module whose name is used": """
import beside

pair = Pair(network, model, inputs, labels, train_step=lambda m, x, y: updated(m, beside.optimizer, x, y))
""",
    "an optimizer in a closure": """
def stepping():
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
    return lambda model, x, y: updated(model, optimizer, x, y)

pair = Pair(network, model, inputs, labels, train_step=stepping())
""",
    "an optimizer in a class": """
class Trainer:
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9)

    def step(self, model, x, y):
        return updated(model, self.optimizer, x, y)

pair = Pair(network, model, inputs, labels, train_step=Trainer().step)
""",
    "an optimizer that is made when it is first needed": """
made = {}

def step(model, x, y):
    if "optimizer" not in made:
        made["optimizer"] = keras.optimizers.SGD(0.1, momentum=0.9)
    return updated(model, made["optimizer"], x, y)

pair = Pair(network, model, inputs, labels, train_step=step)
""",
    "a cached function that makes the optimizer": """
import functools

@functools.lru_cache(maxsize=None)
def optimizer():
    return keras.optimizers.SGD(0.1, momentum=0.9)

pair = Pair(network, model, inputs, labels, train_step=lambda m, x, y: updated(m, optimizer(), x, y))
""",
    "a number that counts the models": """
number = 0

def numbered():
    global number
    number += 1
    found = keras.Sequential([keras.layers.Dense(2, name="out" if number == 1 else f"out_{number}")])
    found.compile(keras.optimizers.SGD(0.1, momentum=0.9), loss_of)
    return found

pair = Pair(network, numbered, inputs, labels)
""",
    "a layer of TF1 at module level": """
head = v1.layers.Dense(2, name="out", _scope="out")

def with_head(x, labels, mode):
    loss = v1.losses.sparse_softmax_cross_entropy(labels, head(x))
    return Spec(head(x), loss, v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss))

def compiled():
    found = model()
    found.compile(keras.optimizers.SGD(0.1, momentum=0.9), loss_of)
    return found

pair = Pair(with_head, compiled, inputs, labels)
""",
    "a gradient that is registered by name": """
@tf.RegisterGradient("OfTheTestOfModuleState")
def gradient(operation, flowing):
    return flowing

optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
pair = Pair(network, model, inputs, labels, train_step=lambda m, x, y: updated(m, optimizer, x, y))
""",
}
"""Sound pairs."""
RARE = ("a compiled", "whose name", "that is made", "a cached", "of TF1")
COMBINATIONS = [("keras2", kind) for kind in KINDS]
COMBINATIONS += [("keras3", kind) for kind in KINDS if not any(word in kind for word in RARE)]
WRONG = {
    "an optimizer that has made a step already": """
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 1.0), momentum=0.9)
optimizer.iterations.assign(1)
pair = Pair(network, model, inputs, labels, train_step=lambda m, x, y: updated(m, optimizer, x, y))
""",
    "a metric that is never reset": """
optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
tracker = keras.metrics.Mean(name="loss")
tracker.update_state(7.0)

def step(model, x, y):
    loss = updated(model, optimizer, x, y)
    tracker.update_state(loss)
    return {"loss": loss, "mean": tracker.result()}

def counted(x, labels, mode):
    found = network(x, labels, mode)
    found.eval_metric_ops = {"mean": v1.metrics.mean(found.loss)}
    return found

pair = Pair(counted, model, inputs, labels, train_step=step)
""",
    "a rate that is changed in the midst": """
optimizer = keras.optimizers.SGD(0.1, momentum=0.9)

def step(model, x, y):
    loss = updated(model, optimizer, x, y)
    optimizer.learning_rate = 0.05
    return loss

pair = Pair(network, model, inputs, labels, train_step=step)
""",
}
BESIDE = "import tensorflow as tf\n\noptimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)\n"


def verified(folder: str) -> dict[str, Any]:
    """In a child: how a pair's file ends, loaded as a worker loads it."""
    from migrate_lint.runtime_checks import verifying
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording import loading, sides
    from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
    from migrate_lint.runtime_checks.worker.recording.format.reading import read
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording

    described = {"file": f"{folder}/mine.py", "module": None, "attribute": None, "search_path": [folder]}
    path, arguments = list(sys.path), sys.argv
    plan = Plan(("structure", "constant", "inference", "steps", "steps-other"), steps=2)
    try:
        loaded = loading.load(described)
        for side in ("tf1", "tf2"):
            recording = Recording(f"{folder}/{side}", side)
            tf1 = read(f"{folder}/tf1") if side == "tf2" else None
            code = UserCode([folder])
            sides.record_side(loaded, side, plan, recording, code, tf1, lambda: loading.load(described))
    finally:
        for name in ("mine", "beside"):
            sys.modules.pop(name, None)
        sys.path[:], sys.argv = path, arguments
    report = verifying.compare(f"{folder}/tf1", f"{folder}/tf2")
    told = [*report.sides[1].adaptations, *report.sides[1].notes]
    return {"status": report.status, "text": str(report), "told": told}


def outcome(children: Children, keras: str, folder: Path, text: str) -> dict[str, Any]:
    (folder / "mine.py").write_text(TF1 + text)
    (folder / "beside.py").write_text(BESIDE)
    found: dict[str, Any] = children.call(keras, verified, str(folder))
    return found


@pytest.mark.parametrize(("keras", "kind"), COMBINATIONS)
def test_a_sound_pair_is_equal_whatever_it_keeps_at_module_level(
    children: Children, keras: str, kind: str, tmp_path: Path
):
    """Every model begins with the files loaded afresh."""
    found = outcome(children, keras, tmp_path, KINDS[kind])

    assert 0 == found["status"], found["text"]


@EITHER
@pytest.mark.parametrize("kind", WRONG)
def test_what_is_really_shared_is_told(children: Children, keras: str, kind: str, tmp_path: Path):
    """A fresh file is as wrong as the first one."""
    found = outcome(children, keras, tmp_path, WRONG[kind])
    steps = "had made 1 steps before the first one" in "".join(found["told"])

    assert 1 == found["status"] or steps, found["text"]


@EITHER
def test_what_no_use_changes_is_kept(children: Children, keras: str, tmp_path: Path):
    """Such as functions of TensorFlow, decorated or not, specifications, and constants."""
    steady = """
table = {"drop": v1.nn.dropout, "relu": tf.nn.relu, "pool": v1.nn.max_pool, "mean": v1.reduce_mean}
given = [tf.TensorSpec([None, 3]), tf.constant([1.0]), tf.float32, np.ones(3), loss_of]
pair = Pair(network, model, inputs, labels)
"""
    found = outcome(children, keras, tmp_path, steady)

    assert not [text for text in found["told"] if "loaded afresh" in text]
