"""A model is run under a strategy of tf.distribute, and what raises there is a finding."""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

import pytest

from .command_runs import Case, Ran, line_of

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts processes by /proc"),
]

TRAINED = """\
import json
import os

import tensorflow as tf

seen = []


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4)
        self.last = tf.keras.layers.Dense(1)

    def call(self, x):
        seen.append(tf.distribute.get_strategy().num_replicas_in_sync)
        with open(os.path.join(os.environ["MIGRATE_LINT_TEST_CASE"], "seen.json"), "a") as file:
            file.write(json.dumps([seen[-1], os.environ.get("TF_CONFIG"), self.dense.built]) + "\\n")
        return self.last(self.dense(x))


def build():
    model = Net()  # made
    model.compile("sgd", "mse")
    return model


def example_batch():
    return tf.ones((16, 3)), tf.ones((16, 1))
"""
STEPS = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])  # model
optimizer = tf.keras.optimizers.Adam(0.1)
late = tf.keras.optimizers.Adam(0.1)


def build():
    model.build((None, 3))
    optimizer.build(model.trainable_variables)
    return model, tf.ones((4, 3))


def plain(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))  # raises
    return loss


@tf.function
def traced(x):
    return plain(x)


@tf.function
def whole(x):
    strategy = tf.distribute.get_strategy()
    losses = strategy.run(plain, args=(x,))
    return strategy.reduce("sum", losses, axis=None)


@tf.function
def unbuilt(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    weights = model.trainable_variables
    late.apply_gradients(zip(tape.gradient(loss, weights), weights))


def nested(x):
    return traced(x)
"""
ODD = """\
import json
import os

import tensorflow as tf


class Pinned(tf.keras.layers.Layer):
    def call(self, x):
        with tf.device("/GPU:0"):
            return x * 2.0  # absent


def pinned():
    return Pinned(), tf.ones((4, 3))


def own():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)  # split
    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # entered
    assert isinstance(strategy, tf.distribute.Strategy)
    with strategy.scope():
        return tf.keras.Sequential([tf.keras.layers.Dense(1)]), tf.ones((4, 3))


def two():
    devices = [f"CPU:{number}" for number in range(4)]
    for chosen in (devices[:2], devices[:2], devices[2:]):
        strategy = tf.distribute.MirroredStrategy(devices=chosen)  # each
    assert strategy is tf.distribute.MirroredStrategy(devices[:2])  # again one
    return tf.keras.Sequential([tf.keras.layers.Dense(1)]), tf.ones((4, 3))


class Dying(tf.keras.layers.Layer):
    def call(self, x):
        if json.loads(os.environ["TF_CONFIG"])["task"]["index"]:
            print("goodbye", flush=True)
            os._exit(7)
        return tf.distribute.get_replica_context().all_reduce("sum", x)


def dying():
    return Dying(), tf.ones((4, 3))


class Making(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(2.0)  # again


def making():
    return Making(), tf.ones((4, 3))
"""
_STRATEGIES = {
    "keras2": ["mirrored:3", "multiworker:2", "ps:2+1"],
    "keras3": ["mirrored:3", "multiworker:2", "ps:2+1", "one:CPU:1"],
}


def _odd(name: str, strategy: str) -> Case:
    return Case({"model.py": ODD}, f"model.py:{name}", ("--strategy", strategy))


def _trained(target: str) -> Case:
    first, *more = _STRATEGIES[target]
    strategies = ("--strategy", first, "--strategy", ",".join(more))
    return Case({"model.py": TRAINED}, options=(*strategies, "--target", target))


def _stepped(step: str, strategy: str) -> Case:
    return Case({"model.py": STEPS}, options=("--step", f"model.py:{step}", "--strategy", strategy))


CASES = {
    "keras3": _trained("keras3"),
    "keras2": _trained("keras2"),
    "plain": _stepped("plain", "mirrored:2"),
    "traced": _stepped("traced", "mirrored:2,ps:2+1"),
    "whole": _stepped("whole", "mirrored:2"),
    "nested": _stepped("nested", "mirrored:2"),
    "unbuilt": _stepped("unbuilt", "mirrored:2"),
    "pinned": _odd("pinned", "mirrored:2"),
    "own": _odd("own", "mirrored:2"),
    "two": _odd("two", "mirrored:2"),
    "dying": _odd("dying", "multiworker:2"),
    "making": _odd("making", "mirrored:2"),
    "no TPU": _odd("pinned", "tpu"),
}
_FIT = {
    "mirrored:3": "the replicas do not divide the batch",
    "multiworker:2": "does not train under a MultiWorkerMirroredStrategy",
    "ps:2+1": "does not train under a ParameterServerStrategy",
}


@pytest.mark.parametrize("name", ["keras2", "keras3"])
def test_each_strategy_has_a_run(name: str, ran: Ran) -> None:
    """The model is built, called and trained in it; what raises is a finding at the model, and nothing is left."""
    runs = {one["device"]: one for one in ran.report["summary"]["runtime"]["runs"]}
    phases = {where: {phase["name"]: phase["outcome"] for phase in one["phases"]} for where, one in runs.items()}
    said = [json.loads(line) for line in (ran.folder / "seen.json").read_text().splitlines()]
    raised = {one["device"]: found for found in ran.found("TF907") for one in found["evidence"]}
    due = _FIT if name == "keras3" else {}

    assert _STRATEGIES[name] == list(runs)
    assert {where: "failed" if where in due else "ok" for where in runs} == {w: one["fit"] for w, one in phases.items()}
    assert all("ok" == one["first call"] == one["second call in tf.function"] for one in phases.values())
    assert set(due) == set(raised)
    for where, why in due.items():
        assert ("model.py", line_of(TRAINED, "made")) == (raised[where]["path"], raised[where]["line"])
        assert f"under {where}, the fit raises " in raised[where]["message"]
        assert why in raised[where]["message"]
    assert {1, 2, 3} == {replicas for replicas, _, _ in said}  # the servers' workers are one at a time
    assert [] == ran.left
    assert {0, 1} == set(map(_task, {config for _, config, _ in said if config}))
    for address in {address for _, config, _ in said if config for address in json.loads(config)["cluster"]["worker"]}:
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # of connections that have ended
            free.bind(("127.0.0.1", int(address.rpartition(":")[2])))
            free.listen()


def _task(config: str) -> Any:
    return json.loads(config)["task"]["index"]


@pytest.mark.parametrize(
    ("name", "where"),
    [("plain", ["mirrored:2"] * 2), ("traced", ["mirrored:2"] * 2 + ["ps:2+1"] * 2), ("whole", ["mirrored:2"] * 2)],
)
def test_a_step_is_run_in_each_replica(name: str, where: list[str], ran: Ran) -> None:
    """Or is called once, where it does that itself."""
    steps = [
        (one["device"], phase["outcome"], phase["detail"])
        for one in ran.report["summary"]["runtime"]["runs"]
        for phase in one["phases"]
        if "step" in phase["name"]
    ]

    assert [(one, "ok", "") for one in where] == steps
    assert [] == ran.left


@pytest.mark.parametrize(
    ("name", "code", "mark", "said"),
    [
        ("nested", "TF907", "raises", "decorate the outermost function alone"),
        ("unbuilt", "TF907", "model", "call `optimizer.build(model.trainable_variables)` in the scope"),
        ("pinned", "TF908", "absent", "Could not satisfy device specification"),
        ("dying", "TF908", "", "worker 1 of the cluster ended with status 7: goodbye"),
    ],
)
def test_what_raises_is_a_finding(name: str, code: str, mark: str, said: str, ran: Ran) -> None:
    """At its line, with the reason."""
    text = STEPS if code == "TF907" else ODD
    (found,) = ran.found(code)

    assert said in found["message"]
    assert ("model.py", line_of(text, mark) if mark else 1) == (found["path"], found["line"])
    assert (1, []) == (ran.status, ran.left)


@pytest.mark.parametrize("name", ["own"])
def test_the_programs_own_strategy_gives_way(name: str, ran: Ran) -> None:
    """Two of them in one process would collide."""
    notes = ran.run["notes"]

    assert not any("two strategies" in note for note in notes)
    assert ("mirrored:2", [], []) == (ran.run["device"], ran.found("TF908"), ran.left)
    for what, mark in (("set_logical_device_configuration", "split"), ("MultiWorkerMirroredStrategy", "entered")):
        assert f"`{what}` of the program (model.py:{line_of(ODD, mark)}) gives way to mirrored:2" in notes


@pytest.mark.parametrize("name", ["two"])
def test_two_strategies_that_are_one_are_told(name: str, ran: Ran) -> None:
    """What they would do to each other cannot show, and nobody is to take that for a pass."""
    both = "two strategies, `MirroredStrategy` over CPU:0, CPU:1 and `MirroredStrategy` over CPU:2, CPU:3"
    told = [note for note in ran.run["notes"] if "two strategies" in note]

    assert [
        f"the program makes {both}: both are mirrored:2 here, and what they do to each other in one process is not seen"
    ] == told
    assert ([], []) == (ran.found("TF908"), ran.left)


@pytest.mark.parametrize("name", ["making"])
def test_a_finding_has_its_verdict_there(name: str, ran: Ran) -> None:
    """As on a device."""
    (found,) = ran.found("TF101")

    assert (line_of(ODD, "again"), "confirmed") == (found["line"], found["verdict"])
    assert ["mirrored:2"] == [one["device"] for one in found["evidence"]]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no TPU", "--strategy tpu: there is no TPU, only /physical_device:CPU:0, and TPU_NAME names none"),
    ],
)
def test_hardware_that_is_not_there_is_refused(name: str, said: str, ran: Ran) -> None:
    """It is not replaced by something else."""
    assert (2, {}, f"migrate-lint: {said}\n") == (ran.status, ran.report, ran.errors)
    assert [] == ran.left
