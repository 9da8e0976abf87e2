"""TensorBoard summaries of both sides' training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.worker.recording import summaries
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

pytestmark = pytest.mark.tensorflow


def recorded(folder: Path, side: str, kernel: str) -> str:
    """Two training steps of one weight."""
    recording = Recording(str(folder), side)
    recording.content["variables"] = [{"name": kernel, "shape": [2], "dtype": "float32", "trainable": True}]
    recording.content["pair"] = {"renames": {"w/kernel": "dense/kernel"}}
    with recording.scenario("steps") as chapter:
        chapter.add("variable", kernel, np.float32([1, 2]), -1)
        for step in range(2):
            chapter.add("loss", "loss", np.float32(0.5 - step), step)
            chapter.add("learning_rate", "learning_rate", np.float32(0.1), step)
            chapter.add("metric", "accuracy", np.float32(0.25), step)
            chapter.add("gradient", kernel, np.float32([3, 4]), step)
            chapter.add("variable", kernel, np.float32([np.nan, step]), step)
            chapter.add("tap", "words", np.array(["a"]), step)
            chapter.flush()
    return str(folder)


def events(folder: Path) -> Iterator[tuple[int, Any]]:
    import tensorflow as tf

    (file,) = folder.iterdir()
    for written in tf.data.TFRecordDataset(str(file)):
        event = tf.compat.v1.Event.FromString(written.numpy())
        yield from ((event.step, value) for value in event.summary.value)


def test_both_sides_are_runs_with_the_same_tags(tmp_path: Path) -> None:
    """A renamed weight has its TF1 name in both, so that TensorBoard lays one over the other."""
    tf1, tf2 = recorded(tmp_path / "a", "tf1", "w/kernel"), recorded(tmp_path / "b", "tf2", "dense/kernel")
    number = summaries.write(tf1, tf2, str(tmp_path / "out"))
    tags = [{value.tag for _, value in events(tmp_path / "out" / side)} for side in ("tf1", "tf2")]

    assert {
        "loss",
        "learning rate",
        "metric/accuracy",
        "gradients/w/kernel",
        "gradients/global norm",
        "weights/w/kernel",
    } == tags[0]
    assert tags[0] == tags[1]
    assert 26 == number


def test_scalars_and_norms_are_those_of_the_steps(tmp_path: Path) -> None:
    """In the order of the steps."""
    tf1 = recorded(tmp_path / "a", "tf1", "w/kernel")
    summaries.write(tf1, recorded(tmp_path / "b", "tf2", "dense/kernel"), str(tmp_path / "out"))
    found = list(events(tmp_path / "out" / "tf1"))

    assert [(0, 0.5), (1, -0.5)] == [(step, value.simple_value) for step, value in found if value.tag == "loss"]
    assert [(0, 5.0), (1, 5.0)] == [
        (step, value.simple_value) for step, value in found if value.tag == "gradients/global norm"
    ]


def test_weights_are_histograms_from_the_initial_ones_on(tmp_path: Path) -> None:
    """What is no number is left out of them."""
    tf1 = recorded(tmp_path / "a", "tf1", "w/kernel")
    summaries.write(tf1, recorded(tmp_path / "b", "tf2", "dense/kernel"), str(tmp_path / "out"))
    found = [(step, value.histo) for step, value in events(tmp_path / "out" / "tf1") if value.tag.startswith("weights")]

    assert [(0, 2, 1, 2), (1, 1, 0, 0), (2, 1, 1, 1)] == [(step, one.num, one.min, one.max) for step, one in found]
    assert [2, 1, 1] == [sum(one.bucket) for _, one in found]


def test_summaries_can_be_written_again(tmp_path: Path) -> None:
    """The earlier ones are replaced."""
    tf1, tf2 = recorded(tmp_path / "a", "tf1", "w/kernel"), recorded(tmp_path / "b", "tf2", "dense/kernel")
    for _ in range(2):
        summaries.write(tf1, tf2, str(tmp_path / "out"))

    assert 13 == len(list(events(tmp_path / "out" / "tf1")))
