"""TensorBoard summaries of both sides' training, and of what a step takes."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from migrate_lint.runtime_checks.interpreter import default_target, describe
from migrate_lint.runtime_checks.worker.recording import summaries
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from ...interpreters import Children

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


Event = tuple[int, str, float, list[float]]
"""Step, tag, scalar; of a histogram number, least and largest value, and the sum of its buckets."""
TIMING = {"what": "training step", "seconds": [0.5, 0.25], "memory": [3 << 20, 4 << 20]}
Summarized = Callable[[int], tuple[int, list[Event], list[Event]]]


def written(folder: str, times: int) -> tuple[int, list[Event], list[Event]]:
    """In a child: how many summaries of two recordings were written, and what both sides hold."""
    tf1, tf2 = recorded(Path(folder, "a"), "tf1", "w/kernel"), recorded(Path(folder, "b"), "tf2", "dense/kernel")
    for _ in range(times):
        number = summaries.write(tf1, None, f"{folder}/out/tf1", TIMING)
        number += summaries.write(tf2, tf1, f"{folder}/out/tf2", TIMING)
    return number, list(events(Path(folder, "out", "tf1"))), list(events(Path(folder, "out", "tf2")))


def events(folder: Path) -> Iterator[Event]:
    import tensorflow as tf

    (file,) = folder.iterdir()
    for record in tf.data.TFRecordDataset(str(file)):
        event = tf.compat.v1.Event.FromString(record.numpy())
        for value in event.summary.value:
            histogram = [value.histo.num, value.histo.min, value.histo.max, sum(value.histo.bucket)]
            yield event.step, value.tag, value.simple_value, histogram


@pytest.fixture
def summarized(children: Children, tmp_path: Path) -> Summarized:
    """The same, for a number of times that the summaries are written."""
    return lambda times: children.call(default_target(describe()), written, str(tmp_path), times)


def test_both_sides_are_runs_with_the_same_tags(summarized: Summarized) -> None:
    """A renamed weight has its TF1 name in both, so that TensorBoard lays one over the other."""
    number, *sides = summarized(1)
    tags = [{tag for _, tag, *_ in side} for side in sides]

    assert {
        "loss",
        "learning rate",
        "metric/accuracy",
        "gradients/w/kernel",
        "gradients/global norm",
        "weights/w/kernel",
        "time of a training step in ms",
        "memory after a training step in MiB",
    } == tags[0]
    assert tags[0] == tags[1]
    assert 34 == number


def test_scalars_and_norms_are_those_of_the_steps(summarized: Summarized) -> None:
    """In the order of the steps."""
    _, found, _ = summarized(1)

    assert [(0, 0.5), (1, -0.5)] == [(step, value) for step, tag, value, _ in found if tag == "loss"]
    assert [(0, 500.0), (1, 250.0)] == [(step, value) for step, tag, value, _ in found if tag.startswith("time")]
    assert [(0, 3.0), (1, 4.0)] == [(step, value) for step, tag, value, _ in found if tag.startswith("memory")]
    assert [(0, 5.0), (1, 5.0)] == [(step, value) for step, tag, value, _ in found if tag == "gradients/global norm"]


def test_weights_are_histograms_from_the_initial_ones_on(summarized: Summarized) -> None:
    """What is no number is left out of them."""
    _, found, _ = summarized(1)
    weights = [(step, *histogram) for step, tag, _, histogram in found if tag.startswith("weights")]

    assert [(0, 2, 1, 2, 2), (1, 1, 0, 0, 1), (2, 1, 1, 1, 1)] == weights


def test_summaries_can_be_written_again(summarized: Summarized) -> None:
    """The earlier ones are replaced."""
    _, found, _ = summarized(2)

    assert 17 == len(found)


def as_tensorboard_reads(folder: str) -> list[object]:
    """In a child: the scalars of two runs, how many histograms each has, and the runs that there are."""
    from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer

    written(folder, 1)
    runs = EventMultiplexer(size_guidance={"histograms": 0}).AddRunsFromDirectory(f"{folder}/out")
    runs.Reload()
    tags = {run: runs.GetAccumulator(run).Tags() for run in runs.Runs()}
    shown = {
        run: {tag: [[one.step, one.value] for one in runs.Scalars(run, tag)] for tag in sorted(found["scalars"])}
        for run, found in tags.items()
    }
    return [shown, {run: len(runs.Histograms(run, "weights/w/kernel")) for run in tags}]


@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="TensorBoard is not installed")
def test_tensorboard_reads_both_runs(children: Children, tmp_path: Path) -> None:
    """One chart a tag, with a line for each side."""
    shown, histograms = children.call(default_target(describe()), as_tensorboard_reads, str(tmp_path))

    assert {"tf1", "tf2"} == set(shown)
    assert shown["tf1"] == shown["tf2"]
    assert [[0, 0.5], [1, -0.5]] == shown["tf1"]["loss"]
    assert [[0, 500.0], [1, 250.0]] == shown["tf1"]["time of a training step in ms"]
    assert {"tf1": 3, "tf2": 3} == histograms
