"""Inference of both sides, measured in turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from migrate_lint.runtime_checks.benchmark import Times

PAIR = """\
import time
import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair

print("not an answer")


def old(features, mode):
    if mode == "infer":
        raise ValueError("no such mode")
    return tf.multiply(features, tf.compat.v1.get_variable("w", [2]))


def slowly(values):
    time.sleep(0.05)
    return values


class Slow(tf.Module):
    def __init__(self):
        self.w = tf.Variable([1.0, 2.0], name="w")

    def __call__(self, features):
        return tf.numpy_function(slowly, [features], tf.float32) * self.w


def broken():
    raise RuntimeError("no weights are here")


pair = Pair(tf1=old, tf2=Slow, inputs=np.float32([[1, 2]]))
other = Pair(tf1=old, tf2=broken, inputs=np.float32([[1, 2]]))
"""
ASK = """\
import json, sys
from migrate_lint.runtime_checks.benchmark import BenchmarkError, inference_times
try:
    times = inference_times(sys.argv[1], 4)
    print(json.dumps([times.tf1, times.tf2, times.ratio]))
except BenchmarkError as error:
    print(json.dumps(str(error)))
"""


def asked(folder: Path, pair: str) -> object:
    (folder / "pair.py").write_text(PAIR)
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    ran = subprocess.run(
        [sys.executable, "-c", ASK, pair], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert 0 == ran.returncode, ran.stderr
    return json.loads(ran.stdout)


def test_the_ratio_is_that_of_the_medians() -> None:
    """A call that the machine held up does not count."""
    assert 3.0 == Times((1.0, 1.0, 90.0), (3.0, 0.5, 3.0)).ratio


@pytest.mark.tensorflow
def test_a_slow_side_is_measured_as_slow(tmp_path: Path) -> None:
    """A TF1 function that refuses inference is measured in evaluation; what a program prints is no answer."""
    tf1, tf2, ratio = asked(tmp_path, "pair.py")  # type: ignore[misc]

    assert (4, 4) == (len(tf1), len(tf2))
    assert 0.05 <= min(tf2)
    assert 1 < ratio


@pytest.mark.tensorflow
def test_a_side_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """With its last words."""
    assert "the TF2 side cannot be measured: RuntimeError: no weights are here" == asked(tmp_path, "pair.py:other")
