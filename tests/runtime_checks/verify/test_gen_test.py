"""The unit test that is written from a run: what is in it, and whether it passes and fails as it should."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks import interpreter, verifying
from migrate_lint.runtime_checks.comparison import gen_test
from migrate_lint.runtime_checks.comparison.points import points
from migrate_lint.runtime_checks.worker.recording.format.reading import RecordingError
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from ...interpreters import Children
from .workers import in_children

ASKED = {"pair": "old.package", "attribute": "pair", "until": None, "policy": "noise", "steps": 2, "seed": 7}
PAIR = """\
import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair


def old(features, labels, mode):
    v1 = tf.compat.v1
    kernel = v1.get_variable("kernel", [3, 2], initializer=v1.glorot_uniform_initializer())
    logits = tf.matmul(features, kernel)
    if mode == "infer":
        return logits
    loss = v1.losses.softmax_cross_entropy(labels, logits)
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)


def new():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, use_bias=False, name="dense")])
    model.compile(tf.keras.optimizers.SGD(0.1), tf.keras.losses.CategoricalCrossentropy(from_logits=True))
    return model


pair = Pair(
    tf1=old,
    tf2=new,
    inputs=np.float32([[1, 2, 3], [-1, 0, 2]]),
    labels=np.float32([[1, 0], [0, 1]]),
    renames={"kernel": "dense/kernel"},
)
"""


def run(folder: Path, *, trains: bool = True, size: int = 6, second: float = 1.0, target: str = "keras2") -> Path:
    """The recordings of both sides, made by hand: `second` is what the TF2 side multiplies its outputs with."""
    for side, factor in (("tf1", 1.0), ("tf2", second)):
        recording = Recording(str(folder / side), side)
        recording.content["versions"] = {"target": target}
        recording.content["variables"] = [
            {"name": "w", "shape": [2], "dtype": "float32", "trainable": True, "tracked": True, "place": None}
        ]
        with recording.scenario("structure"):
            pass
        for name in ("constant", "fingerprint"):
            with recording.scenario(name) as chapter:
                chapter.add("input", "input", np.float32([[1, 2]]))
                values = np.linspace(0.5, 1.5, size, dtype=np.float32) * (1 if name == "constant" else 2)
                chapter.add("output", "output", values * np.float32(factor))
        if trains:
            with recording.scenario("steps") as chapter:
                for step in range(2):
                    chapter.add("input", "input", np.float32([[1, 2]]), step)
                    chapter.add("loss", "loss", np.float32(1 - 0.1 * step), step)
                    chapter.add("evaluation", "output", np.float32([0.25, step]) * np.float32(factor), step)
        recording.save()
    return folder


def written(folder: Path, beside: Path | None = None, **asked: Any) -> tuple[str, dict[str, Any]]:
    """The text, and the constants in it."""
    text = gen_test.generate(folder, ASKED | asked, beside)
    head, _, _ = text.partition("@functools")
    constants: dict[str, Any] = {"__file__": "/there/test_it.py"}
    exec(compile(head, "test_it.py", "exec"), constants)
    compile(text, "test_it.py", "exec")
    return text, constants


def test_all_four_kinds_of_test_are_written(tmp_path: Path) -> None:
    """The forward pass, training, the speed of inference, and right predictions."""
    text, _ = written(run(tmp_path))
    names = ["test_forward_pass", "test_training_steps", "test_inference_time", "test_predictions_on_fixed_points"]

    assert names == [line.split()[1].split("(")[0] for line in text.splitlines() if "def test_" in line]
    assert "skip" not in text


def test_the_rungs_are_those_that_were_run(tmp_path: Path) -> None:
    """One that was not run cannot be asked for later."""
    _, constants = written(run(tmp_path))

    assert {"variables", "constant", "fingerprint"} <= set(constants["FORWARD"])
    assert not {"checkpoint", "random"} & set(constants["FORWARD"])
    assert ("step", "steps") == constants["TRAINING"]


def test_predictions_are_those_after_training(tmp_path: Path) -> None:
    """Of the TF1 side, with what went in."""
    _, constants = written(run(tmp_path, second=2.0))

    assert True is constants["TRAINED"]
    assert {"input": ((1, 2), 1, [1.0, 2.0])} == constants["INPUTS"]
    assert {"output": ((2,), 1, [0.25, 1.0])} == constants["PREDICTIONS"]


def test_without_training_the_weights_follow_from_their_names(tmp_path: Path) -> None:
    """And the test of training says why it is left out."""
    text, constants = written(run(tmp_path, trains=False))

    assert (False, ()) == (constants["TRAINED"], constants["TRAINING"])
    assert np.allclose([1, 1.4, 1.8, 2.2, 2.6, 3], constants["PREDICTIONS"]["output"][2])
    assert '@unittest.skip("the pair was verified without training steps")' in text


def test_of_large_outputs_an_even_sample_is_kept(tmp_path: Path) -> None:
    """A test file is to be read."""
    text, constants = written(run(tmp_path, trains=False, size=100_000))
    shape, every, values = constants["PREDICTIONS"]["output"]

    assert ((100_000,), 500, 200) == (shape, every, len(values))
    assert np.array_equal(np.linspace(1, 3, 100_000, dtype=np.float32)[::500], np.float32(values))
    assert 10_000 > len(text)


def test_the_pair_is_found_from_where_the_test_lies(tmp_path: Path) -> None:
    """Wherever the project is moved to."""
    folder = run(tmp_path / "run")
    inside = {"pair": str(tmp_path / "checks" / "pair.py"), "attribute": None}
    _, constants = written(folder, tmp_path / "tests", **inside)
    _, named = written(folder, tmp_path, **inside | {"attribute": "small"})
    _, module = written(folder)

    assert os.path.join("/there", "..", "checks", "pair.py") == constants["PAIR"]
    assert os.path.join("/there", "checks", "pair.py") + ":small" == named["PAIR"]
    assert "old.package:pair" == module["PAIR"]


def test_each_keras_is_run_as_it_was(tmp_path: Path) -> None:
    """Keras 2 in the process of the test, Keras 3 in a process beside that of the TF1 side."""
    keras2, _ = written(run(tmp_path / "a"))
    keras3, _ = written(run(tmp_path / "b", target="keras3"))

    assert 'os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")' in keras2
    assert "report = verify(" in keras2
    assert "report = run(request)" in keras3
    assert "os.environ" not in keras3


def test_points_are_none_where_nothing_was_computed(tmp_path: Path) -> None:
    """The test says so, and is skipped."""
    for side in ("tf1", "tf2"):
        Recording(str(tmp_path / side), side)
    text, constants = written(tmp_path)

    assert points(tmp_path / "tf1") is None
    assert {} == constants["PREDICTIONS"]
    assert '@unittest.skip("the TF1 side recorded no outputs")' in text


def test_a_folder_without_recordings_is_refused(tmp_path: Path) -> None:
    """The text names the file that is missing."""
    with pytest.raises(RecordingError, match=r"record\.json"):
        gen_test.generate(tmp_path, ASKED)


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    environment.pop("TF_USE_LEGACY_KERAS", None)
    return subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_the_test_passes_until_the_model_computes_something_else(
    children: Children, tmp_path: Path, target: str
) -> None:
    """A learning rate that is doubled is seen in training and in predictions, not in the forward pass."""
    refused = interpreter.unsupported(interpreter.describe(), Target(target))
    if refused is not None:
        pytest.skip(refused)
    pair = tmp_path / "pair.py"
    pair.write_text(PAIR)
    request = verifying.Request(
        str(pair), until="step", policy="guide", target=Target(target), output=str(tmp_path / "run")
    )
    with in_children(children):
        assert 0 == verifying.run(request).status
    asked = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "test_pair.py").write_text(gen_test.generate(tmp_path / "run", asked, tmp_path))

    passed = command(tmp_path, "-m", "unittest", "-v", "test_pair")
    assert 0 == passed.returncode, passed.stderr
    assert re.search(r"Ran 4 tests in .*\n\nOK\n", passed.stderr)  # none of them skipped

    pair.write_text(PAIR.replace("SGD(0.1)", "SGD(0.2)"))
    failed = command(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not time", "test_pair.py")
    assert 1 == failed.returncode, failed.stdout + failed.stderr
    assert "test_training_steps" in failed.stdout
    assert "test_predictions_on_fixed_points" in failed.stdout
    assert "MigratedModelTest.test_forward_pass" not in failed.stdout
