"""The device that is asked for is the one that is used, or nothing is run."""

from __future__ import annotations

import json
import re
import sys

import pytest

from .command_runs import Case, Ran, line_of

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts processes by /proc"),
]

TARGETS = ("keras2", "keras3")
PLAIN = """\
import tensorflow as tf


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(2.0)  # static


def build():
    return Scale(), tf.ones((2, 3))
"""
TWO_DEVICES = """\
import atexit
import json
import os
import threading

import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import op_callbacks

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
eager = {}
values = {}


def look(op_type, inputs, attributes, outputs, op_name=None, graph=None):
    for output in outputs if graph is None else ():
        eager.setdefault(output.device, []).append(op_type)


def write():
    placed = {}
    for function in context.export_run_metadata().function_graphs:
        for graph in function.partition_graphs:
            for node in graph.node:
                placed.setdefault(node.device, []).append(node.op)
    with open(os.path.join(os.environ["MIGRATE_LINT_TEST_CASE"], "devices.json"), "w") as file:
        json.dump([eager, placed, values], file)


class Scale(tf.Module):
    def __init__(self):
        self.kept = tf.Variable(tf.ones((3,)))

    def __call__(self, x):
        thread = threading.Thread(target=self.work)
        thread.start()
        thread.join()
        y = self.kept * x + tf.random.normal((3,))
        values["variable"] = self.kept.device
        values["thread"] = self.product.device
        if tf.executing_eagerly():
            values["tensor"] = y.device
        return y

    def work(self):
        with tf.init_scope():
            self.product = tf.ones((2, 2)) @ tf.ones((2, 2))


def build():
    op_callbacks.add_op_callback(look)
    context.enable_run_metadata()
    atexit.register(write)
    return Scale(), tf.ones((2, 3))
"""
PINNED = """\
import tensorflow as tf


def scale(x):
    with tf.device("/GPU:0"):  # asked
        return x * 2.0  # here


def build():
    return scale, tf.ones((2, 3))
"""
ABSENT = """\
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def helper(y):
    with tf.compat.v1.device(tf.DeviceSpec(device_type="CPU", device_index=3)):  # CPU:3
        return y + 1.0


class Net(tf.keras.layers.Layer):
    def build(self, shape):
        with tf.device("/GPU:1"):  # GPU:1
            self.w = self.add_weight(shape=(shape[-1], 2), name="w")

    @tf.function
    def call(self, x):
        with tf.device("/job:localhost/device:CPU:9"):  # CPU:9
            y = x @ self.w
        for number in range(3):
            with tf.device(f"CPU:{number}"):  # CPU:2
                y = y * 2.0
        with tf.device("/CPU:1"), tf.device(None):
            return helper(y)


def build():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    other = tf.distribute.MirroredStrategy(["CPU:1", "CPU:4", "CPU:5"])  # CPU:4 and CPU:5
    one = tf.distribute.OneDeviceStrategy("CPU:6")  # CPU:6
    for _ in tf.data.Dataset.range(4).apply(tf.data.experimental.prefetch_to_device("/CPU:7")):  # CPU:7
        pass
    with tf.Graph().as_default(), tf.device("/GPU:5"), tf.compat.v1.Session() as session:
        try:
            session.run(tf.ones(2))
        except tf.errors.InvalidArgumentError:
            print("a session says so")
    return Net(), tf.ones((2, 3))
"""
OF_KERAS = """\
import keras
import tensorflow as tf


def build():
    with keras.device("cpu:9"):  # CPU:9
        return keras.layers.Dense(1), tf.ones((2, 3))
"""
IN_GRAPH = """\
import tensorflow as tf


def build():
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default(), tf.device("/CPU:8"), tf.compat.v1.Session(config=config) as session:  # CPU:8
        session.run(tf.ones(2))
    tf.config.set_soft_device_placement(False)
    try:
        with tf.device("/CPU:9"):
            tf.ones(2) + 1.0
    except tf.errors.InvalidArgumentError:
        print("TensorFlow says so")
    return tf.identity, tf.ones((2, 3))
"""
CASES = {
    "absent, keras3": Case({"model.py": ABSENT}, options=("--target", "keras3")),
    "absent, keras2": Case({"model.py": ABSENT}, options=("--target", "keras2")),
    "by Keras": Case({"model.py": OF_KERAS}, options=("--target", "keras3")),
    "in a graph": Case({"model.py": IN_GRAPH}),
    "no GPU": Case({"model.py": PLAIN}, options=("--device", "GPU:0")),
    "no tenth CPU": Case({"model.py": PLAIN}, options=("--device", "CPU:9")),
    "the second of two": Case({"model.py": TWO_DEVICES}, options=("--device", "CPU:1")),
    "a pinned operation": Case({"model.py": PINNED}, options=("--device", "CPU:0")),
}


@pytest.mark.parametrize(("name", "device"), [("no GPU", "GPU:0"), ("no tenth CPU", "CPU:9")])
def test_absent_device(name: str, device: str, ran: Ran) -> None:
    """It is a usage error that says what there is, and nothing is left."""
    message = f"migrate-lint: --device {device}: there is no such device, only /device:CPU:0\n"

    assert (2, {}, message) == (ran.status, ran.report, ran.errors)
    assert [] == ran.left


@pytest.mark.parametrize("name", ["the second of two"])
def test_second_device(name: str, ran: Ran) -> None:
    """Every operation is there, eager, in functions and in threads; only Python's own values come from the first."""
    host, device = (f"/job:localhost/replica:0/task:0/device:CPU:{number}" for number in range(2))
    eager, placed, values = json.loads((ran.folder / "devices.json").read_text())

    assert {device} == set(eager)
    assert {host, device} >= set(placed)
    assert {"_DeviceArg", "_Send"} >= set(placed.get(host, ()))
    assert {"Mul", "RandomStandardNormal", "AddV2"} <= set(eager[device])
    assert {"Mul", "RandomStandardNormal", "MatMul"} <= set(placed[device])
    assert {"variable": device, "tensor": device, "thread": device} == values
    assert ("CPU:1", 0, []) == (ran.run["device"], ran.status, ran.found("TF908"))
    assert "ok" == ran.phases["second call in tf.function"][0]


@pytest.mark.parametrize("name", ["a pinned operation"])
def test_no_soft_placement(name: str, ran: Ran) -> None:
    """TensorFlow would compute on the CPU what the model pins to a GPU that is not there; here that is a failure."""
    (failed,) = ran.found("TF908")

    assert ("model.py", line_of(PINNED, "here"), 1) == (failed["path"], failed["line"], ran.status)
    assert "Could not satisfy device specification" in failed["message"]
    assert "Supported device types [CPU]" in failed["message"]


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        *((f"absent, {target}", ABSENT, "CPU:2;CPU:3;CPU:4 and CPU:5;CPU:6;CPU:7;CPU:9;GPU:1") for target in TARGETS),
        ("by Keras", OF_KERAS, "CPU:9"),
        ("in a graph", IN_GRAPH, "CPU:8"),
    ],
)
def test_absent_devices_of_the_program(name: str, text: str, asked: str, ran: Ran) -> None:
    """Each line that asks for one is a finding, whatever TensorFlow takes in its place; what it refuses is none."""
    found = {re.search(r"asks for (.*), and there is only", one["message"]): one for one in ran.found("TF907")}
    said = {match[1]: (one["path"], one["line"], one["severity"]) for match, one in found.items() if match}
    hidden = [one["line"] for one in ran.found("TF907") if "this run sees no GPUs: --device" in one["message"]]

    due = {name: ("model.py", line_of(text, name), "warning") for name in asked.split(";")}
    due |= {name: (*place[:2], "info") for name, place in due.items() if name.startswith("GPU")}
    assert due == said
    assert {"changes"} == {one["consequence"] for one in ran.found("TF907")}
    assert [] == ran.found("TF908")
    assert all("takes others without a word" in one["message"] for one in ran.found("TF907"))
    assert [place[1] for place in due.values() if place[2] == "info"] == hidden


@pytest.mark.parametrize("name", ["a pinned operation"])
def test_without_soft_placement_it_is_told_too(name: str, ran: Ran) -> None:
    """The run that keeps TensorFlow from it says what TensorFlow would do."""
    (found,) = ran.found("TF907")

    assert line_of(PINNED, "asked") == found["line"]
    assert "asks for GPU:0, and there is only CPU:0: TensorFlow would take others" in found["message"]
