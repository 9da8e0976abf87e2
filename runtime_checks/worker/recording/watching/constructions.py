"""The user's lines that make what a training step is configured by: optimizers, schedules, losses, regularizers."""

from __future__ import annotations

import contextlib
import inspect
import sys
import weakref
from types import FrameType
from typing import Any, Iterator

from ...frames import UserCode
from ...patching import wrapped
from ..format.rows import Place
from ..tensors import Function
from .classes import descending, in_keras, optimizers

__all__ = ["made_at", "watching", "written_at"]

_KINDS = ("losses.Loss", "regularizers.Regularizer", "optimizers.schedules.LearningRateSchedule")
_LIBRARIES = ("keras", "tf_keras", "tensorflow", "tensorflow_core")
_places: dict[int, tuple[Any, Place]] = {}
"""By identity, what was made, weakly, and where."""


@contextlib.contextmanager
def watching(code: UserCode) -> Iterator[None]:
    """Remember in the body where each object of these kinds is made; classes that are loaded later are not heard."""

    def telling(original: Function) -> Function:
        def construct(one: Any, *args: Any, **kwargs: Any) -> None:
            if made_at(one) is None:
                place = _caller(one, sys._getframe(1), code)
                if place is not None:
                    _places[id(one)] = weakref.ref(one), place
            original(one, *args, **kwargs)

        construct.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return construct

    with contextlib.ExitStack() as stack:
        for cls in _classes():
            stack.enter_context(wrapped(cls, "__init__", telling))
        try:
            yield
        finally:
            _places.clear()


def made_at(one: object) -> Place | None:
    """The line that makes an object; None where that is not known."""
    made, place = _places.get(id(one), (None, None))
    return place if made is not None and made() is one else None


def written_at(function: Any, code: UserCode) -> Place | None:
    """The line that a function of the user's begins at; None for any other."""
    function = getattr(function, "python_function", function)
    written = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
    path = None if written is None else code.path(written.co_filename)
    return None if path is None or written is None else (path, int(written.co_firstlineno))


def _caller(one: object, frame: FrameType | None, code: UserCode) -> Place | None:
    """The innermost line of the user's that is not in a constructor of the object itself."""
    while frame is not None:
        found = code.origin(frame.f_code.co_filename, frame.f_lineno)
        if found is not None:
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
            if not names or frame.f_locals.get(names[0]) is not one:
                return found
        frame = frame.f_back
    return None


def _classes() -> list[type]:
    """The classes of the libraries that have a constructor of their own."""
    found = descending(in_keras(*_KINDS), optimizers())
    return [cls for cls in found if "__init__" in vars(cls) and cls.__module__.partition(".")[0] in _LIBRARIES]
