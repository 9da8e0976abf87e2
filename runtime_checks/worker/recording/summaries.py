"""What a side recorded, as summaries for TensorBoard: a run for each side, one over the other.

Scalars: losses, learning rates, metrics, the norms of gradients, and what a step takes; histograms: the weights. A tag
is the TF1 name, so that both runs meet in one chart.

The files are written record by record: ``tf.summary`` needs an installed TensorBoard, which TensorFlow 2.21 does not
bring along.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from typing import Iterable, Iterator, Mapping

import numpy as np

from .format.reading import Record, Recorded, RecordingError, Scenario, read
from .format.scenarios import STEPS
from .pairs import mapping
from .tensors import Array, Json, Protobuf

__all__ = ["write"]

_SCALARS = ("loss", "regularization", "metric", "learning_rate")
_BUCKETS = 30
_FILE = "events.out.tfevents.0.migrate-lint"


def write(folder: str, tf1: str | None, out: str, timing: Mapping[str, Json] | None = None) -> int:
    """Write the summaries of a side's training steps, in place of earlier ones; gives back how many there are.

    Args:
        folder: of the side's recording.
        tf1: the folder of the TF1 side's recording, where this is the other one; without one its names are kept.
        out: the folder of the run.
        timing: what a step takes, as in `Content`.

    Raises:
        RecordingError: if there is no recording in `folder`.
        OSError: if `out` cannot be written.
    """
    recorded = read(folder)
    names: Mapping[str, str] = {}
    if tf1 is not None:
        with contextlib.suppress(RecordingError):
            names = _names(read(tf1), recorded)
    os.makedirs(out, exist_ok=True)
    begun = os.path.join(out, "summaries~")  # a name that TensorBoard does not read
    written = _events(itertools.chain(_values(recorded.scenario(STEPS), names), _times(timing or {})), begun)
    os.replace(begun, os.path.join(out, _FILE))
    return written


def _names(first: Recorded, second: Recorded) -> dict[str, str]:
    """The TF1 names of the variables by TF2 name."""
    pair = first.content.get("pair", {})
    matching = mapping.match(
        first.content["variables"], second.content["variables"], pair.get("renames"), pair.get("ignore", ())
    )
    return {str(match.tf2["name"]): str(match.tf1["name"]) for match in matching.pairs}


def _events(values: Iterable[tuple[int, Protobuf]], path: str) -> int:
    import tensorflow as tf

    written = 0
    with tf.io.TFRecordWriter(path) as file:
        file.write(tf.compat.v1.Event(wall_time=time.time(), file_version="brain.Event:2").SerializeToString())
        for step, value in values:
            event = tf.compat.v1.Event(wall_time=time.time(), step=step, summary=tf.compat.v1.Summary(value=[value]))
            file.write(event.SerializeToString())
            written += 1
    return written


def _values(scenario: Scenario, names: Mapping[str, str]) -> Iterator[tuple[int, Protobuf]]:
    """The summaries with their steps; weights count from the step that uses them: the initial ones are step 0."""
    import tensorflow as tf

    summary = tf.compat.v1.Summary.Value
    for record in scenario.records:
        if not record.kept or not _is_number(record):
            continue
        name = names.get(record.name, record.name)
        if record.kind in _SCALARS and record.value.size == 1:
            yield record.step, summary(tag=_tag(record, name), simple_value=float(record.value.reshape(())))
        elif record.kind == "gradient":
            yield record.step, summary(tag="gradients/" + name, simple_value=_norm(record.value))
        elif record.kind == "variable" and record.value.size:
            yield record.step + 1, summary(tag="weights/" + name, histo=_histogram(record.value))
    for step, norm in _norms(scenario):
        yield step, summary(tag="gradients/global norm", simple_value=norm)


def _times(timing: Mapping[str, Json]) -> Iterator[tuple[int, Protobuf]]:
    """What a step takes, by the number of the step that was timed, and what of the process is in memory behind it."""
    import tensorflow as tf

    summary = tf.compat.v1.Summary.Value
    for number, seconds in enumerate(timing.get("seconds", ())):
        yield number, summary(tag=f"time of a {timing['what']} in ms", simple_value=seconds * 1000)
    for number, size in enumerate(timing.get("memory", ())):
        yield number, summary(tag=f"memory after a {timing['what']} in MiB", simple_value=size / (1 << 20))


def _histogram(value: Array) -> Protobuf:
    """Of the finite values."""
    import tensorflow as tf

    array = np.asarray(value, np.float64).ravel()
    array = array[np.isfinite(array)]
    if not array.size:
        return tf.compat.v1.HistogramProto()
    counts, edges = np.histogram(array, _BUCKETS)
    return tf.compat.v1.HistogramProto(
        min=array.min(),
        max=array.max(),
        num=array.size,
        sum=array.sum(),
        sum_squares=(array**2).sum(),
        bucket_limit=list(edges[1:]),
        bucket=list(counts),
    )


def _tag(record: Record, name: str) -> str:
    kind = record.kind.replace("_", " ")
    return kind if name in (record.kind, kind) else kind + "/" + name


def _is_number(record: Record) -> bool:
    return record.dtype.startswith(("float", "bfloat", "int", "uint", "bool"))


def _norm(value: Array) -> float:
    return float(np.linalg.norm(np.asarray(value, np.float64).ravel()))


def _norms(scenario: Scenario) -> Iterator[tuple[int, float]]:
    """The norm of all gradients of each step together."""
    for step in scenario.steps:
        gradients = [record for record in scenario.of_kind("gradient", step) if record.kept]
        if gradients:
            yield step, float(np.sqrt(sum(_norm(record.value) ** 2 for record in gradients)))
