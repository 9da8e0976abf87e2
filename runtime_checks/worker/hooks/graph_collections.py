"""``collection`` events: each access to a graph's collection, with ``name``, ``write`` and ``size`` after it."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from ..patching import wrapped
from ..recorder import Recorder

__all__ = ["install"]

_READS = ("get_collection", "get_collection_ref")
_WRITE = "add_to_collection"


@contextlib.contextmanager
def install(recorder: Recorder) -> Iterator[None]:
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

    with contextlib.ExitStack() as stack:
        for name in _READS:
            stack.enter_context(wrapped(Graph, name, reading))
        stack.enter_context(wrapped(Graph, _WRITE, writing))
        yield


def _record(recorder: Recorder, name: Any, write: bool, size: int) -> None:
    if not isinstance(name, str):  # TensorFlow's own state of a graph has tuples for names
        return
    detail = {"name": name, "write": write, "size": size}
    recorder.record("collection", lambda: (recorder.code.stack(), detail, None))
