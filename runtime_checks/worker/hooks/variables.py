"""Variables that are made and read.

``variable`` events: the variable as subject (weakly); name, shape, dtype, trainable, and ``owners``: the constructions
(``layer``, ``module`` and ``template`` events) of what had its methods running, innermost first.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from typing import Any, Iterator, Sequence

from ..frames import Frame
from ..recorder import Event, Recorder
from ..scopes import creations
from .layers import first_argument

__all__ = ["install"]

_CONSTRUCTIONS = ("layer", "module", "template")
_MAKERS = ("__init__", "__call__", "build", "call", "add_weight", "_add_variable_with_custom_getter")


@contextlib.contextmanager
def install(recorder: Recorder) -> Iterator[None]:
    """Record every variable of any thread and graph."""

    def created(variable: Any) -> None:
        recorder.record("variable", lambda: _described(variable, recorder))

    with creations(created):
        yield


def _described(variable: Any, recorder: Recorder) -> tuple[Sequence[Frame], dict[str, Any], Any]:
    dtype = getattr(variable, "dtype", "")
    detail = {
        "name": str(getattr(variable, "name", "")),
        "shape": str(getattr(variable, "shape", "")),
        "dtype": str(getattr(dtype, "name", dtype)),
        "trainable": bool(getattr(variable, "trainable", False)),
        "owners": _makers(recorder),
        "by": _library(),
    }
    return recorder.code.stack(), detail, weakref.ref(variable)


def _makers(recorder: Recorder) -> list[Event]:
    """The constructions of the layers, modules and templates that are making a variable now, innermost first."""
    selves: list[Any] = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _MAKERS:
            one = first_argument(frame)
            if one is not None and not any(one is other for other in selves):
                selves.append(one)
        frame = frame.f_back
    made: dict[int, Event] = {}
    for event in recorder.events:
        if event.kind in _CONSTRUCTIONS and event.subject() is not None:
            made[id(event.subject())] = event
    return [made[id(one)] for one in selves if id(one) in made]


def _library() -> list[str]:
    """Words for the machinery that is making a variable, by which framework state is told from the user's."""
    found = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        for word, part in _MACHINERY:
            if part in filename and word not in found:
                found.append(word)
        if frame.f_code.co_name == "_init_batch_counters" and "counter" not in found:
            found.append("counter")
        if frame.f_code.co_name == "get_variable" and "variable_scope" in filename and "getter" not in found:
            found.append("getter")
        frame = frame.f_back
    return found


_MACHINERY = (
    ("optimizer", "/optimizers/"),
    ("optimizer", "/optimizer"),
    ("metric", "/metrics/"),
    ("template", "/ops/template.py"),
    ("seed", "/seed_generator.py"),
    ("trainer", "/trainer"),
)
