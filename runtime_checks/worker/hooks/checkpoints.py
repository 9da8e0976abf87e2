"""Checkpoints: ``reader`` events where one is opened for reading, ``restore`` where objects are restored.

A ``reader`` has ``path``, ``reads`` (how many tensors were read since, as a number in a list) and no subject.
A ``restore`` has ``path`` (an empty string for None) and ``status``, what the restore returned: it is kept, because
only it knows later what was not restored.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any, Iterator

from ..patching import wrapped, wrapped_everywhere
from ..recorder import Recorder

__all__ = ["install"]


@contextlib.contextmanager
def install(recorder: Recorder) -> Iterator[None]:
    """Record readers and restores."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(_readers(recorder))
        stack.enter_context(_restores(recorder))
        yield


@contextlib.contextmanager
def _readers(recorder: Recorder) -> Iterator[None]:
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

    with contextlib.ExitStack() as stack:
        stack.enter_context(wrapped_everywhere(py_checkpoint_reader, "NewCheckpointReader", opening))
        stack.enter_context(wrapped(py_checkpoint_reader.CheckpointReader, "get_tensor", reading))
        yield


@contextlib.contextmanager
def _restores(recorder: Recorder) -> Iterator[None]:
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

    with contextlib.ExitStack() as stack:
        for owner in (tf.train.Checkpoint, tf.compat.v1.train.Checkpoint):
            stack.enter_context(wrapped(owner, "restore", restoring))
            stack.enter_context(wrapped(owner, "read", restoring))
        yield


def _path(args: Any, kwargs: Any) -> str:
    """The path that a function is called with, its only required argument; empty for None."""
    path = next(iter([*args, *kwargs.values()]))
    return "" if path is None else os.fsdecode(path)
