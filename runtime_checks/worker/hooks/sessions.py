"""Sessions of TF1: ``session`` events where one is made, ``session run`` where it runs, ``default session``.

The subject of the first two is the session, weakly. A ``session`` has ``operations``, how many its graph had then, and
``default``, whether nobody gave it that graph, and ``soft``, whether it may take another device for one that is not
there; a ``session run`` has ``error``, empty if it gave its values.
A ``default session`` is what ``get_default_session`` gave, with ``found``.
"""

from __future__ import annotations

import weakref
from typing import Any, Iterator

from ..patching import Patch, telling, wrapped, wrapped_everywhere
from ..recorder import Recorder


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record what sessions do, the monitored ones through the session that they hold."""
    from tensorflow.python.client.session import BaseSession
    from tensorflow.python.framework import ops

    def making(original: Any) -> Any:
        def make(session: Any, *args: Any, **kwargs: Any) -> None:
            original(session, *args, **kwargs)
            recorder.record("session", lambda: (recorder.code.stack(), _graph(session), weakref.ref(session)))

        return make

    def ran(args: tuple[Any, ...], error: str) -> None:
        recorder.record("session run", lambda: (recorder.code.stack(), {"error": error}, weakref.ref(args[0])))

    def looking(original: Any) -> Any:
        def look() -> Any:
            found = original()
            detail = {"found": found is not None}
            recorder.record("default session", lambda: (recorder.code.stack(), detail, None))
            return found

        return look

    yield wrapped(BaseSession, "__init__", making)
    for name in ("run", "partial_run", "make_callable"):
        yield wrapped(BaseSession, name, lambda original: telling(original, ran))
    yield wrapped_everywhere(ops, "get_default_session", looking)


def _graph(session: Any) -> dict[str, Any]:
    from tensorflow.python.framework import ops

    graph = session.graph
    soft = bool(session._config and session._config.allow_soft_placement)
    return {"operations": len(graph.get_operations()), "default": graph is ops.get_default_graph(), "soft": soft}
