"""Checkpoints: ``reader`` events where one is opened for reading, ``restore`` where objects are restored.

A ``reader`` has ``path``, ``reads`` (how many tensors were read since, as a number in a list) and no subject.
A ``restore`` has ``path`` (an empty string for None) and ``status``, what the restore returned: it is kept, because
only it knows later what was not restored.
``initialized`` is a variable, or the parts of one, that `tf.compat.v1.train.init_from_checkpoint` gives a value.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Iterator

from ..patching import Patch, telling, wrapped, wrapped_everywhere
from ..recorder import Recorder


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record readers and restores."""
    yield from _readers(recorder)
    yield from _restores(recorder)
    yield _initialized(recorder)


def _readers(recorder: Recorder) -> Iterator[Patch]:
    from tensorflow.python.training import py_checkpoint_reader

    counters: dict[int, list[int]] = {}

    def opening(original: Any) -> Any:
        def open_reader(*args: Any, **kwargs: Any) -> Any:
            reader = original(*args, **kwargs)
            count = counters[id(reader)] = [0]

            def described() -> Any:
                return recorder.code.stack(), {"path": _path(args, kwargs), "reads": count}, None

            recorder.record("reader", described)
            return reader

        return open_reader

    def reading(original: Any) -> Any:
        def read(reader: Any, *args: Any, **kwargs: Any) -> Any:
            if id(reader) in counters:
                counters[id(reader)][0] += 1
            return original(reader, *args, **kwargs)

        return read

    yield wrapped_everywhere(py_checkpoint_reader, "NewCheckpointReader", opening)
    yield wrapped(py_checkpoint_reader.CheckpointReader, "get_tensor", reading)


def _restores(recorder: Recorder) -> Iterator[Patch]:
    import tensorflow as tf

    inside = threading.local()

    def restoring(original: Any) -> Any:
        def restore(checkpoint: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(inside, "on", False):
                return original(checkpoint, *args, **kwargs)
            inside.on = True
            try:
                status = original(checkpoint, *args, **kwargs)
            finally:
                inside.on = False

            def described() -> Any:
                return recorder.code.stack(), {"path": _path(args, kwargs), "status": status}, None

            recorder.record("restore", described)
            return status

        return restore

    for owner in (tf.train.Checkpoint, tf.compat.v1.train.Checkpoint):
        yield wrapped(owner, "restore", restoring)
        yield wrapped(owner, "read", restoring)


def _initialized(recorder: Recorder) -> Patch:
    from tensorflow.python.training import checkpoint_utils

    def tell(args: tuple[Any, ...], error: str) -> None:
        recorder.record("initialized", lambda: (recorder.code.stack(), {"error": error}, None))

    return wrapped(checkpoint_utils, "_set_variable_or_list_initializer", lambda original: telling(original, tell))


def _path(args: Any, kwargs: Any) -> str:
    """The path that a function is called with, its only required argument; empty for None."""
    path = next(iter([*args, *kwargs.values()]))
    return "" if path is None else os.fsdecode(path)
