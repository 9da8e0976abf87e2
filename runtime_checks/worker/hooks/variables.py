"""Variables that are made and read.

``variable`` events: the variable as subject (weakly); name, shape, dtype, trainable, and ``owners``: the constructions
(``layer``, ``module`` and ``template`` events) of what had its methods running, innermost first.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any, Iterator, Sequence

from ..frames import Frame
from ..patching import Patch
from ..recorder import Event, Recorder
from ..scopes import creations
from .layers import first_argument

__all__ = ["attempted", "library", "patches", "stack_of"]

_CONSTRUCTIONS = ("layer", "module", "template")
_MAKERS = ("__init__", "__call__", "build", "call", "add_weight", "_add_variable_with_custom_getter")


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record every variable of any thread and graph."""

    def created(variable: Any) -> None:
        recorder.record("variable", lambda: _described(variable, recorder))

    yield creations(created)


def _described(variable: Any, recorder: Recorder) -> tuple[Sequence[Frame], dict[str, Any], Any]:
    dtype = getattr(variable, "dtype", "")
    stack = stack_of(sys._getframe(1))
    detail = {
        "name": str(getattr(variable, "name", "")),
        "shape": str(getattr(variable, "shape", "")),
        "dtype": str(getattr(dtype, "name", dtype)),
        "trainable": bool(getattr(variable, "trainable", False)),
        "owners": _makers(recorder, stack),
        "by": library(stack),
    }
    return recorder.code.stack(), detail, weakref.ref(variable)


def attempted(error: BaseException, recorder: Recorder) -> tuple[Sequence[Frame], dict[str, Any], Any]:
    """The same for a variable that was not made, because `assert_no_variable_creations` raised `error` instead."""
    stack = _raised_through(error)
    refusal = next((frame for frame in stack if "arguments" in frame.f_locals), None)
    arguments = {} if refusal is None else refusal.f_locals["arguments"]
    value = _converted(arguments.get("initial_value"))
    dtype = arguments.get("dtype") or getattr(value, "dtype", "")
    shape = arguments.get("shape")
    detail = {
        "name": str(arguments.get("name") or "Variable"),
        "shape": str(getattr(value, "shape", "?") if shape is None else shape),
        "dtype": str(getattr(dtype, "name", dtype)) or "?",
        "trainable": bool(arguments.get("trainable", True)),
        "owners": _makers(recorder, stack),
        "by": library(stack),
    }
    return recorder.code.of_error(error), detail, lambda: None


def _converted(value: Any) -> Any:
    """A number or an array as a tensor; a function that would make one is left alone."""
    if value is None or callable(value) or hasattr(value, "dtype"):
        return value
    import tensorflow as tf

    return tf.convert_to_tensor(value)


def stack_of(frame: Any) -> list[Any]:
    """That frame and those that called it, innermost first."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def _raised_through(error: BaseException) -> list[Any]:
    """The frames that an exception came through, innermost first."""
    found = []
    step = error.__traceback__
    while step is not None:
        found.append(step.tb_frame)
        step = step.tb_next
    return found[::-1]


def _makers(recorder: Recorder, stack: Sequence[Any]) -> list[Event]:
    """The constructions of the layers, modules and templates that are making a variable, innermost first."""
    selves: list[Any] = []
    for frame in stack:
        name = frame.f_code.co_name
        if (name[4:] if name.startswith("tf__") else name) in _MAKERS:
            one = first_argument(frame)
            if one is not None and not any(one is other for other in selves):
                selves.append(one)
    made: dict[int, Event] = {}
    for event in recorder.of_kind(*_CONSTRUCTIONS):
        if event.subject() is not None:
            made[id(event.subject())] = event
    return [made[id(one)] for one in selves if id(one) in made]


def library(stack: Sequence[Any]) -> list[str]:
    """Words for the machinery that is making a variable, by which framework state is told from the user's."""
    found: dict[str, None] = {}
    for frame in stack:
        module, function = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        if not module.startswith(_FRAMEWORKS):
            continue
        for word, part in _MACHINERY:
            if part in module:
                found[word] = None
        if function == "_init_batch_counters":
            found["counter"] = None
        if function == "get_variable" and module.endswith("variable_scope"):
            found["getter"] = None
    return list(found)


_FRAMEWORKS = ("keras.", "tf_keras.", "tensorflow.")
_MACHINERY = (
    ("optimizer", ".optimizers."),
    ("optimizer", ".optimizer"),
    ("optimizer", ".loss_scale_optimizer"),
    ("optimizer", ".slot_creator"),
    ("metric", ".metrics."),
    ("template", ".ops.template"),
    ("seed", ".seed_generator"),
    ("trainer", ".trainer"),
)
