"""Rung 0: input pipelines of TF1 and of TF2, sound ones and ones with a fault, and what is said of the fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.results import Rung, Status
from migrate_lint.runtime_checks.worker.frames import UserCode
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.attempts import attempt
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording
from migrate_lint.runtime_checks.worker.recording.pairs.batches import PairError
from migrate_lint.runtime_checks.worker.recording.pairs.pair import Pair
from migrate_lint.runtime_checks.worker.recording.pipelines import record_pipeline

from ....interpreters import Children

pytestmark = pytest.mark.tensorflow

SOURCE = np.random.default_rng(0)
IMAGES = SOURCE.integers(256, size=(22, 4, 4, 3)).astype(np.uint8)
ROWS = SOURCE.normal(size=(22, 3)).astype(np.float32)
CLASSES = SOURCE.integers(5, size=22)
TEXTS = np.array([f"Text {number}" for number in range(22)])

Pipeline = Callable[[ModuleType], Any]


def of(*arrays: Any, size: int = 4, **options: Any) -> Pipeline:
    """A dataset of arrays in batches."""

    def make(tf: ModuleType) -> Any:
        return tf.data.Dataset.from_tensor_slices(arrays if arrays[1:] else arrays[0]).batch(size, **options)

    return make


def then(pipeline: Pipeline, change: Callable[[ModuleType, Any], Any]) -> Pipeline:
    return lambda tf: change(tf, pipeline(tf))


def shuffled(window: int, *arrays: Any, seed: int | None = None) -> Pipeline:
    def make(tf: ModuleType) -> Any:
        return tf.data.Dataset.from_tensor_slices(arrays).shuffle(window, seed=seed).batch(4)

    return make


def tensors(tf: ModuleType) -> Any:
    """As an ``input_fn`` gives them."""
    iterator = tf.compat.v1.data.make_one_shot_iterator(of(ROWS, CLASSES)(tf))
    features, classes = iterator.get_next()
    return {"rows": features}, classes


def initialized(tf: ModuleType) -> Any:
    return tf.compat.v1.data.make_initializable_iterator(of(ROWS, CLASSES)(tf)).get_next()


def queued(tf: ModuleType) -> Any:
    """As programs had it before ``tf.data``."""
    row, label = tf.compat.v1.train.slice_input_producer([ROWS, CLASSES], num_epochs=1, shuffle=False)
    return tf.compat.v1.train.batch([row, label], 4, allow_smaller_final_batch=True)


def read_by_threads(tf: ModuleType, window: int = 0) -> Any:
    """One of four threads or another comes first; beside it something else is shuffled, which is not read."""
    tf.compat.v1.train.string_input_producer(["a", "b"])
    row, label = tf.compat.v1.train.slice_input_producer([ROWS, CLASSES], num_epochs=1, shuffle=bool(window))
    row = tf.compat.v1.py_func(lambda one: time.sleep(SystemRandom().uniform(0.0, 0.02)) or one, [row], tf.float32)
    row.set_shape([3])
    return tf.compat.v1.train.batch([row, label], 4, num_threads=4, allow_smaller_final_batch=True)


def fed(tf: ModuleType) -> Any:
    """What a loop feeds to its placeholders."""
    x = tf.compat.v1.placeholder(tf.float32, [None, 3], name="x")
    y = tf.compat.v1.placeholder(tf.int64, [None], name="y")
    return ({x: ROWS[at : at + 4], y: CLASSES[at : at + 4]} for at in range(0, 22, 4))


def looked_up(tf: ModuleType) -> Any:
    """With a table, which has to be initialized."""
    table = tf.compat.v1.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(list(map(str, TEXTS)), np.arange(22, dtype=np.int64)), 1
    )
    return {"id": table.lookup(tf.compat.v1.data.make_one_shot_iterator(of(TEXTS)(tf)).get_next())}


def sequence(tf: ModuleType) -> Any:
    base = getattr(tf.keras.utils, "PyDataset", tf.keras.utils.Sequence)

    class Batches(base):  # type: ignore[misc, valid-type]
        def __len__(self) -> int:
            return 6

        def __getitem__(self, number: int) -> Any:
            return ROWS[4 * number : 4 * number + 4], CLASSES[4 * number : 4 * number + 4]

    return Batches()


def generated(tf: ModuleType) -> Iterator[Any]:
    for at in range(0, 22, 4):
        yield {"x": ROWS[at : at + 4], "y": CLASSES[at : at + 4]}


def drawn(tf: ModuleType) -> Iterator[Any]:
    """By numpy, which both sides seed alike."""
    for _ in range(3):
        yield ROWS[np.random.permutation(22)[:4]]


def ragged(tf: ModuleType) -> Any:
    return tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3], [4, 5, 6]])).batch(2)


SOUND: dict[str, tuple[Pipeline, Pipeline]] = {
    "datasets": (of(ROWS, CLASSES), of(ROWS, CLASSES)),
    "tensors of an input_fn": (tensors, of(ROWS, CLASSES)),
    "an iterator that is initialized": (initialized, of(ROWS, CLASSES)),
    "queues": (queued, of(ROWS, CLASSES)),
    "queues that several threads read": (read_by_threads, of(ROWS, CLASSES)),
    "feeds": (fed, generated),
    "a table": (looked_up, of(np.arange(22, dtype=np.int64))),
    "a sequence of Keras": (of(ROWS, CLASSES), sequence),
    "a generator that draws": (drawn, drawn),
    "texts": (of(TEXTS), of(TEXTS)),
    "ragged": (ragged, ragged),
    "narrower numbers": (of(ROWS, CLASSES), of(ROWS, CLASSES.astype(np.int32))),
    "another order, shuffled on both sides": (shuffled(22, ROWS, CLASSES), shuffled(100, ROWS, CLASSES, seed=3)),
    "no end": (
        then(of(ROWS), lambda tf, data: data.repeat()),
        then(of(ROWS), lambda tf, data: data.repeat()),
    ),
}
PICTURES = of(IMAGES)


def changed(change: Callable[[ModuleType, Any], Any], pipeline: Pipeline = PICTURES) -> Pipeline:
    return then(pipeline, lambda tf, data: data.map(lambda value: change(tf, value)))


def as_float(tf: ModuleType, value: Any) -> Any:
    return tf.cast(value, tf.float32)


FLOATS = changed(as_float)
BUGS: dict[str, tuple[Pipeline, Pipeline, str]] = {
    "the remainder": (of(ROWS), of(ROWS, drop_remainder=True), "TF2 drops the last one, of 2"),
    "another size": (of(ROWS), of(ROWS, size=8), "the same examples in batches of another size"),
    "not scaled": (changed(lambda tf, x: as_float(tf, x) / 255.0), FLOATS, "TF2's are TF1's * 255"),
    "scaled to -1": (
        changed(lambda tf, x: as_float(tf, x) / 255.0),
        changed(lambda tf, x: as_float(tf, x) / 127.5 - 1.0),
        "TF2's are TF1's * 2 - 1",
    ),
    "scaled by the dtype": (
        FLOATS,
        changed(lambda tf, x: tf.image.convert_image_dtype(x, tf.float32)),
        "TF2's are TF1's / 255",
    ),
    "a mean for each channel": (
        FLOATS,
        changed(lambda tf, x: (as_float(tf, x) - [123.0, 117.0, 104.0]) / [2.0, 3.0, 4.0]),
        "of its own for each of the 3 channels",
    ),
    "colours": (PICTURES, changed(lambda tf, x: x[..., ::-1]), "the last axis is reversed, as between RGB and BGR"),
    "channels first": (
        PICTURES,
        changed(lambda tf, x: tf.transpose(x, [0, 3, 1, 2])),
        "the axes [0, 3, 1, 2] of TF1's",
    ),
    "cut off": (of(ROWS), changed(lambda tf, x: tf.clip_by_value(x, -0.5, 0.5), of(ROWS)), "cut off at both ends"),
    "one off": (of(CLASSES), of(CLASSES + 1), "TF2's are TF1's + 1"),
    "a batch late": (of(ROWS), then(of(ROWS), lambda tf, data: data.skip(1)), "what TF1 gives in batch 1"),
    "not shuffled, and read by several threads": (
        lambda tf: read_by_threads(tf, 22), of(ROWS, CLASSES), "TF1 shuffles, and TF2 gives the same order"
    ),
    "not shuffled": (shuffled(22, ROWS, CLASSES), of(ROWS, CLASSES), "TF1 shuffles, and TF2 gives the same order"),
    "shuffled among few": (
        shuffled(22, ROWS, CLASSES),
        shuffled(4, ROWS, CLASSES),
        "TF1 shuffles among 22 examples at a time, TF2 among 4",
    ),
    "shuffled apart": (
        shuffled(22, ROWS, CLASSES),
        lambda tf: tf.data.Dataset.zip((shuffled(22, ROWS)(tf), shuffled(22, CLASSES)(tf))).map(lambda x, y: (*x, *y)),
        "no longer belong together",
    ),
    "shuffled, and not scaled": (
        shuffled(22, IMAGES / np.float32(255)),
        shuffled(22, IMAGES.astype(np.float32)),
        "lies between 0 and 1 on TF1, between 0 and 255 on TF2",
    ),
    "sorted": (of(ROWS), of(ROWS[::-1].copy()), "the same examples come in another order"),
    "another dtype": (of(CLASSES), of(CLASSES.astype(np.float32)), "int64 on TF1, float32 on TF2"),
    "no labels": (of(ROWS, CLASSES), of(ROWS), "TF1 gives 2 values a batch (0, 1), TF2 1 (batch)"),
    "nothing": (of(ROWS), then(of(ROWS), lambda tf, data: data.take(0)), "TF2 gives no batch"),
    "small letters": (of(TEXTS), changed(lambda tf, x: tf.strings.lower(x), of(TEXTS)), "other texts"),
    "repeated": (
        of(ROWS),
        then(of(ROWS), lambda tf, data: data.repeat(2)),
        "TF1 ends after 6 batches; TF2 ends after 12",
    ),
}


def recorded(folder: str) -> None:
    """In a child: record both sides of everything above."""
    import tensorflow as tf

    for number, sides in enumerate([*SOUND.values(), *BUGS.values()]):
        pipelines = [lambda make=make: make(tf) for make in sides[:2]]
        pair = Pair(None, None, None, data=pipelines)
        for side in ("tf1", "tf2"):
            recording = Recording(f"{folder}/{number}/{side}", side)
            code = UserCode([str(Path(__file__).parent)])
            attempt(
                recording,
                code,
                scenarios.DATA,
                lambda chapter, side=side, pair=pair, code=code: record_pipeline(chapter, pair, side, 42, code),
            )


@dataclass(frozen=True)
class Compared:
    """The rung of each pair, by name."""

    rungs: dict[str, Rung]


@pytest.fixture(scope="module", params=[target.value for target in Target])
def compared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, children: Children) -> Compared:
    """Everything, under one Keras."""
    folder = tmp_path_factory.mktemp("pipelines")
    children.call(Target(request.param), recorded, str(folder))
    rungs = {}
    for number, name in enumerate([*SOUND, *BUGS]):
        report = compare(read(folder / str(number) / "tf1"), read(folder / str(number) / "tf2"), until="data")
        rungs[name] = report.rung("data")
    return Compared(rungs)


@pytest.mark.parametrize("name", SOUND)
def test_sound_pipelines_are_equal(name: str, compared: Compared) -> None:
    """Whatever each side is made of."""
    rung = compared.rungs[name]

    assert Status.PASS is rung.status, rung.detail


@pytest.mark.parametrize("name", BUGS)
def test_what_became_of_the_batches_is_told(name: str, compared: Compared) -> None:
    """By what turns the values of TF1 into those of TF2."""
    rung = compared.rungs[name]
    told = [rung.detail, *rung.notes, *(check.problem for check in rung.failures)]

    assert Status.FAIL is rung.status
    assert BUGS[name][2] in "\n".join(told)


def test_what_is_no_pipeline_is_refused(tmp_path: Path, children: Children) -> None:
    """A number, say; the sentence says what is wanted."""
    said = children.call(Target.KERAS3, refused, str(tmp_path))

    assert said.startswith("data gave an object of type int: wanted is a dataset")


def refused(folder: str) -> str:
    """In a child: record a pipeline that is a number."""
    recording = Recording(f"{folder}/tf2", "tf2")
    pair = Pair(None, None, None, data=[lambda: 3, lambda: 3])
    try:
        with recording.scenario(scenarios.DATA) as chapter:
            record_pipeline(chapter, pair, "tf2", 42, UserCode([]))
    except PairError as error:
        return str(error)
    return ""
