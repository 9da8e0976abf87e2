"""The device that is asked for is the one that is used, or nothing is run."""

from __future__ import annotations

import json
import sys

import pytest

from .command_runs import Case, Ran, line_of

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts processes by /proc"),
]

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
    with tf.device("/GPU:0"):
        return x * 2.0  # here


def build():
    return scale, tf.ones((2, 3))
"""
CASES = {
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
