"""Lookup tables, summary writers and other resources that are made (``resource`` events), and iterators over datasets.

The detail has ``class``. A loop over a dataset makes an iterator each time, as it should, so iterators are events of
their own kind, ``iterator``. Datasets, which are resources to a SavedModel, are left out.
"""

from __future__ import annotations

from typing import Any, Iterator

from ..patching import Patch, Wrap, wrapped
from ..recorder import Recorder

__all__ = ["patches"]

_RAW = (
    "HashTable", "HashTableV2", "MutableDenseHashTable", "MutableDenseHashTableV2", "MutableHashTable",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableHashTableV2"
)


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record constructions of TensorFlow's classes of resources, and calls of the raw operations for tables."""
    import tensorflow as tf
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator
    from tensorflow.python.ops.summary_ops_v2 import _ResourceSummaryWriter
    from tensorflow.python.trackable.resource import CapturableResource

    for cls in (CapturableResource, _ResourceSummaryWriter):
        yield wrapped(cls, "__init__", _initializing("resource", recorder))
    yield wrapped(OwnedIterator, "__init__", _initializing("iterator", recorder))
    for name in _RAW:
        yield wrapped(tf.raw_ops, name, _calling(name, recorder))


def _record(recorder: Recorder, kind: str, name: str) -> None:
    recorder.record(kind, lambda: (recorder.code.stack(), {"class": name}, lambda: None))


def _initializing(kind: str, recorder: Recorder) -> Wrap:
    def announcing(original: Any) -> Any:
        def initialize(made: Any, *arguments: Any, **keywords: Any) -> None:
            if type(made).__module__ != "tensorflow.python.data.ops.dataset_ops":
                _record(recorder, kind, type(made).__name__.lstrip("_"))
            original(made, *arguments, **keywords)

        return initialize

    return announcing


def _calling(name: str, recorder: Recorder) -> Wrap:
    def announcing(original: Any) -> Any:
        def operation(*arguments: Any, **keywords: Any) -> Any:
            _record(recorder, "resource", name)
            return original(*arguments, **keywords)

        return operation

    return announcing
