"""``collection`` events: each access to a graph's collection, with ``name``, ``write`` and ``size`` after it."""

from __future__ import annotations

from typing import Any, Iterator

from ..patching import Patch, wrapped
from ..recorder import Recorder

__all__ = ["patches"]

_READS = ("get_collection", "get_collection_ref")
_WRITE = "add_to_collection"


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record accesses to the collections of every graph; the graph of eager code is the default one."""
    from tensorflow.python.framework.ops import Graph

    reference = Graph.get_collection_ref

    def reading(original: Any) -> Any:
        def read(graph: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
            values = original(graph, name, *args, **kwargs)
            _record(recorder, name, False, len(values))
            return values

        return read

    def writing(original: Any) -> Any:
        def write(graph: Any, name: Any, value: Any) -> None:
            original(graph, name, value)
            _record(recorder, name, True, len(reference(graph, name)))

        return write

    for name in _READS:
        yield wrapped(Graph, name, reading)
    yield wrapped(Graph, _WRITE, writing)


def _record(recorder: Recorder, name: Any, write: bool, size: int) -> None:
    if not isinstance(name, str):  # TensorFlow's own state of a graph has tuples for names
        return
    detail = {"name": name, "write": write, "size": size}
    recorder.record("collection", lambda: (recorder.code.stack(), detail, None))
