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

from ..recorder import Recorder
from ..wrapping import around

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

    reader_class = py_checkpoint_reader.CheckpointReader
    counters: dict[int, list[int]] = {}

    def opening(original: Any) -> Any:
        def open_reader(path: Any) -> Any:
            reader = original(path)
            counters[id(reader)] = [0]
            detail = {"path": _text(path), "reads": counters[id(reader)]}
            recorder.record("reader", lambda: (recorder.code.stack(), detail, None))
            return reader

        return open_reader

    def reading(original: Any) -> Any:
        def read(reader: Any, *args: Any, **kwargs: Any) -> Any:
            if id(reader) in counters:
                counters[id(reader)][0] += 1
            return original(reader, *args, **kwargs)

        return read

    with around(py_checkpoint_reader, "CheckpointReader", opening), around(reader_class, "get_tensor", reading):
        yield


@contextlib.contextmanager
def _restores(recorder: Recorder) -> Iterator[None]:
    from tensorflow.python.checkpoint.checkpoint import Checkpoint, CheckpointV1

    inside = threading.local()

    def restoring(original: Any) -> Any:
        def restore(checkpoint: Any, save_path: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(inside, "on", False):
                return original(checkpoint, save_path, *args, **kwargs)
            inside.on = True
            try:
                status = original(checkpoint, save_path, *args, **kwargs)
            finally:
                inside.on = False
            detail = {"path": "" if save_path is None else _text(save_path), "status": status}
            recorder.record("restore", lambda: (recorder.code.stack(), detail, None))
            return status

        return restore

    with contextlib.ExitStack() as stack:
        for owner in (Checkpoint, CheckpointV1):
            stack.enter_context(around(owner, "restore", restoring))
            stack.enter_context(around(owner, "read", restoring))
        yield


def _text(path: Any) -> str:
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
