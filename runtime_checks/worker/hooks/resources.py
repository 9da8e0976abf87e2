"""Lookup tables, summary writers and other resources that are made (``resource`` events), and iterators over datasets.

The detail has ``class``. A loop over a dataset makes an iterator each time, as it should, so iterators are events of
their own kind, ``iterator``. Datasets, which are resources to a SavedModel, are left out.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Iterator

from ..recorder import Recorder

__all__ = ["install"]

_RAW = (
    "HashTable",
    "HashTableV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "MutableHashTable",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableHashTableV2",
)


@contextlib.contextmanager
def install(recorder: Recorder) -> Iterator[None]:
    """Record constructions of TensorFlow's classes of resources, and calls of the raw operations for tables."""
    import tensorflow as tf
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator
    from tensorflow.python.ops.summary_ops_v2 import _ResourceSummaryWriter
    from tensorflow.python.trackable.resource import CapturableResource

    with contextlib.ExitStack() as stack:
        stack.enter_context(_initializing(CapturableResource, "resource", recorder))
        stack.enter_context(_initializing(_ResourceSummaryWriter, "resource", recorder))
        stack.enter_context(_initializing(OwnedIterator, "iterator", recorder))
        for name in _RAW:
            if hasattr(tf.raw_ops, name):
                stack.enter_context(_called(tf.raw_ops, name, recorder))
        yield


def _record(recorder: Recorder, kind: str, name: str) -> None:
    recorder.record(kind, lambda: (recorder.code.stack(), {"class": name}, lambda: None))


@contextlib.contextmanager
def _initializing(cls: Any, kind: str, recorder: Recorder) -> Iterator[None]:
    original = cls.__init__

    @functools.wraps(original)
    def initialize(made: Any, *arguments: Any, **keywords: Any) -> None:
        if type(made).__module__ != "tensorflow.python.data.ops.dataset_ops":
            _record(recorder, kind, type(made).__name__.lstrip("_"))
        original(made, *arguments, **keywords)

    cls.__init__ = initialize
    try:
        yield
    finally:
        cls.__init__ = original


@contextlib.contextmanager
def _called(module: Any, name: str, recorder: Recorder) -> Iterator[None]:
    original = getattr(module, name)

    @functools.wraps(original)
    def operation(*arguments: Any, **keywords: Any) -> Any:
        _record(recorder, "resource", name)
        return original(*arguments, **keywords)

    setattr(module, name, operation)
    try:
        yield
    finally:
        setattr(module, name, original)
