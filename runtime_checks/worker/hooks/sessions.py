"""Sessions of TF1: ``session`` events where one is made, ``session run`` where it runs, ``default session``.

The subject of the first two is the session, weakly. A ``session`` has ``operations``, how many its graph had then, and
``default``, whether nobody gave it that graph; a ``session run`` has ``error``, empty if it gave its values.
A ``default session`` is what ``get_default_session`` gave, with ``found``.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import Any, Iterator

from ..criteria import one_line
from ..recorder import Recorder
from ..wrapping import around, everywhere

__all__ = ["install"]


@contextlib.contextmanager
def install(recorder: Recorder) -> Iterator[None]:
    """Record what sessions do, the monitored ones through the session that they hold."""
    from tensorflow.python.client.session import BaseSession
    from tensorflow.python.framework import ops

    def making(original: Any) -> Any:
        def make(session: Any, *args: Any, **kwargs: Any) -> None:
            original(session, *args, **kwargs)
            recorder.record("session", lambda: (recorder.code.stack(), _graph(session), weakref.ref(session)))

        return make

    def running(original: Any) -> Any:
        def run(session: Any, *args: Any, **kwargs: Any) -> Any:
            error = ""
            try:
                return original(session, *args, **kwargs)
            except BaseException as raised:
                error = one_line(f"{type(raised).__name__}: {raised}")
                raise
            finally:
                detail = {"error": error}
                recorder.record("session run", lambda: (recorder.code.stack(), detail, weakref.ref(session)))

        return run

    def looking(original: Any) -> Any:
        def look() -> Any:
            found = original()
            detail = {"found": found is not None}
            recorder.record("default session", lambda: (recorder.code.stack(), detail, None))
            return found

        return look

    with contextlib.ExitStack() as stack:
        stack.enter_context(around(BaseSession, "__init__", making))
        for name in ("run", "partial_run", "make_callable"):
            stack.enter_context(around(BaseSession, name, running))
        stack.enter_context(everywhere(ops, "get_default_session", looking))
        yield


def _graph(session: Any) -> dict[str, Any]:
    from tensorflow.python.framework import ops

    graph = session.graph
    return {"operations": len(graph.get_operations()), "default": graph is ops.get_default_graph()}
