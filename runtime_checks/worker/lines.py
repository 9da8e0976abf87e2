"""Which lines of the user's files ran, in which phase, and whether TensorFlow was tracing them."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any, Callable, Iterator, Tuple

from .frames import UserCode

__all__ = ["EAGER", "GRAPH", "TRACE", "Lines", "context_now"]

EAGER = "eager"
TRACE = "trace"
GRAPH = "graph"

Ran = Tuple[str, int, str]
"""A path, a line and the context: `EAGER`, `TRACE` (a function graph is being built) or `GRAPH` (a tf.Graph is)."""

_Tracer = Callable[[Any, str, Any], Any]


def context_now() -> str:
    """What TensorFlow does with an operation that is made now, on this thread."""
    import tensorflow as tf

    if tf.executing_eagerly():
        return EAGER
    return TRACE if tf.inside_function() else GRAPH


class Lines:
    """Records lines by ``sys.settrace``, in the user's files alone.

    The cost for all other code is one dictionary lookup a call.
    """

    def __init__(self, code: UserCode) -> None:
        self._code = code
        self._now: set[Ran] = set()
        self._wanted: dict[str, bool] = {}
        self._by_context = {context: self._recorder(context) for context in (EAGER, TRACE, GRAPH)}

    def take(self) -> set[Ran]:
        """What ran since the last call, with AutoGraph's lines mapped back."""
        ran = set()
        for filename, line, context in self._now.copy():
            place = self._code.origin(filename, line)
            if place is not None:
                ran.add((place[0], place[1], context))
        self._now.clear()
        return ran

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record on this thread, on threads that Python starts, and in ``py_function``, which TensorFlow runs."""
        with self._in_py_functions():
            threading.settrace(self._on_call)
            sys.settrace(self._on_call)
            try:
                yield
            finally:
                sys.settrace(None)
                threading.settrace(None)

    def _on_call(self, frame: Any, event: str, argument: Any) -> _Tracer | None:
        filename = frame.f_code.co_filename
        wanted = self._wanted.get(filename)
        if wanted is None:
            wanted = self._code.is_generated(filename) or self._code.path(filename) is not None
            self._wanted[filename] = wanted
        if not wanted:
            return None
        return self._by_context[context_now()]

    def _recorder(self, context: str) -> _Tracer:
        add = self._now.add

        def on_line(frame: Any, event: str, argument: Any) -> _Tracer:
            if event == "line":
                add((frame.f_code.co_filename, frame.f_lineno, context))
            return on_line

        return on_line

    @contextlib.contextmanager
    def _in_py_functions(self) -> Iterator[None]:
        """TensorFlow calls these on threads of its own, which ``threading.settrace`` does not know."""
        try:
            from tensorflow.python.ops.script_ops import FuncRegistry
        except ImportError:
            yield
            return
        original = FuncRegistry.__call__
        on_call = self._on_call

        def call(registry: Any, *arguments: Any, **keywords: Any) -> Any:
            if sys.gettrace() is not None:
                return original(registry, *arguments, **keywords)
            sys.settrace(on_call)
            try:
                return original(registry, *arguments, **keywords)
            finally:
                sys.settrace(None)

        FuncRegistry.__call__ = call
        try:
            yield
        finally:
            FuncRegistry.__call__ = original
