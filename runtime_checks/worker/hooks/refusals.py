"""Creations of variables that ``tf.function`` refuses in its second trace: ``refused`` events.

The detail has ``owners``: the constructions of the layers, optimizers and metrics whose methods were running. The
program may swallow the error; the event stays.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Iterator

from ..patching import Patch, replaced
from ..recorder import Event, Recorder
from .layers import first_argument

__all__ = ["patches"]

_REFUSING = "invalid_creator_scope"
_CONSTRUCTIONS = ("layer", "stateful")


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Listen where a function graph gets the creator that refuses, which is a local of ``tf.function``."""
    from tensorflow.python.framework.ops import Graph

    original = Graph._variable_creator_scope

    @functools.wraps(original)
    def scope(graph: Any, creator: Any, *arguments: Any, **keywords: Any) -> Any:
        if getattr(creator, "__name__", "") == _REFUSING:
            creator = _announcing(creator, recorder)
        return original(graph, creator, *arguments, **keywords)

    yield replaced(Graph, "_variable_creator_scope", scope)


def _announcing(creator: Any, recorder: Recorder) -> Any:
    def refuse(*arguments: Any, **keywords: Any) -> Any:
        recorder.record("refused", lambda: (recorder.code.stack(), {"owners": _owners(recorder)}, lambda: None))
        return creator(*arguments, **keywords)

    return refuse


def _owners(recorder: Recorder) -> list[Event]:
    running = set()
    frame: Any = sys._getframe(1)
    while frame is not None:
        running.add(id(first_argument(frame)))
        frame = frame.f_back
    found = []
    for event in recorder.of_kind(*_CONSTRUCTIONS):
        if event.subject() is not None and id(event.subject()) in running:
            found.append(event)
    return found
