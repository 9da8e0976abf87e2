"""``tf.function``: where each is made (``function`` events) and each time it is traced (``trace`` events).

A ``function`` event's detail has ``code`` (of the Python function, or None), ``users`` (whether it is in a file of the
user's), ``at`` (how many events there were when it was made) and ``calls``, its `Calls`.
A ``trace`` event's detail has ``function`` (its name), ``number`` (how many times it was traced now), ``changed`` (what
is different from the arguments of the trace before, in one line) and ``made`` (the ``function`` event, or None).
A ``hollow`` event is a call that TensorFlow answers with None, without running anything, since the function's first
trace made variables and raised (TensorFlow 2.15 to 2.21); its detail has ``function``.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import weakref
from typing import Any, Iterator

from ..patching import Patch, replaced
from ..recorder import Event, Recorder

__all__ = ["Calls", "Serials", "describe_change", "patches"]


class Calls:
    """How often a function was called, and how many events there were the last time; it goes on counting."""

    def __init__(self) -> None:
        self.number, self.last = 0, -1

    def add(self, events: int) -> None:
        """Count a call."""
        self.number, self.last = self.number + 1, events


class Serials:
    """Tells objects apart also where a later one lies at the address of one that is gone."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[Any, int]] = {}
        self._next = itertools.count(1)

    def of(self, value: Any) -> int:
        """A number that no other object has had; of what cannot be referred to weakly, its address."""
        reference, number = self._numbers.get(id(value), (_unseen, 0))
        if reference() is value:
            return number
        try:
            reference = weakref.ref(value)
        except TypeError:
            return id(value)
        number = next(self._next)
        self._numbers[id(value)] = (reference, number)
        return number


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record constructions and traces of every ``tf.function``."""
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

    constructor = Function.__init__
    # Around it is what filters tracebacks, which the worker turns off: it then calls again what raised a NameError.
    call = getattr(Function.__call__, "__wrapped__", Function.__call__)
    made: dict[int, tuple[Any, Event | None]] = {}
    arguments_of: Any = weakref.WeakKeyDictionary()
    serials = Serials()

    @functools.wraps(constructor)
    def initialize(function: Any, *arguments: Any, **keywords: Any) -> None:
        constructor(function, *arguments, **keywords)
        event = recorder.record("function", lambda: _made(function, recorder))
        if event is not None:
            made[id(function)] = (weakref.ref(function), event)

    @functools.wraps(call)
    def trace(function: Any, *arguments: Any, **keywords: Any) -> Any:
        traced = _traces(function)
        reference, event = made.get(id(function), _UNSEEN)
        if event is not None and reference() is function:
            event.detail["calls"].add(len(recorder.events))
        if _is_hollow(function):
            recorder.record("hollow", lambda: (recorder.code.stack(), {"function": _name(function)}, lambda: None))
        try:
            return call(function, *arguments, **keywords)
        finally:
            now = _traces(function)
            if now > traced:
                recorder.record("trace", lambda: _described(function, now, arguments, keywords))

    def _described(function: Any, number: int, arguments: Any, keywords: Any) -> Any:
        python_function = getattr(function, "python_function", None)
        described = _describe(python_function, arguments, keywords, serials)
        earlier = arguments_of.get(function, [])
        changed = describe_change(earlier[-1], described) if earlier else ""
        arguments_of[function] = [*earlier[-3:], described]
        reference, event = made.get(id(function), _UNSEEN)
        detail = {
            "function": _name(function),
            "number": number,
            "changed": changed,
            "made": event if reference() is function else None,
        }
        return recorder.code.stack(), detail, weakref.ref(function)

    yield replaced(Function, "__init__", initialize)
    yield replaced(Function, "__call__", trace)


def _unseen() -> None:
    return None


_UNSEEN = (_unseen, None)


def _made(function: Any, recorder: Recorder) -> Any:
    code = getattr(getattr(function, "python_function", None), "__code__", None)
    users = code is not None and recorder.code.path(code.co_filename) is not None
    detail = {"code": code, "users": users, "at": len(recorder.events), "calls": Calls()}
    return recorder.code.stack(), detail, weakref.ref(function)


def _name(function: Any) -> str:
    return str(getattr(getattr(function, "python_function", None), "__name__", "?"))


def _is_hollow(function: Any) -> bool:
    """Whether the first trace made variables, and nothing was traced for the calls that follow."""
    return bool(getattr(function, "_created_variables", None)) and all(
        getattr(function, name, None) is None for name in ("_no_variable_creation_config", "_no_variable_creation_fn")
    )


def _traces(function: Any) -> int:
    count = getattr(function, "experimental_get_tracing_count", None)
    return int(count()) if count is not None else 0


def _describe(
    function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], serials: Serials
) -> list[tuple[str, str, str]]:
    """Name, kind and value of each leaf argument; the kind says what a new value of it does."""
    import tensorflow as tf

    try:
        bound = inspect.signature(function).bind(*arguments, **keywords).arguments
    except (TypeError, ValueError):
        bound = dict(enumerate(arguments), **keywords)  # type: ignore[arg-type]
    described = []
    for name, value in bound.items():
        leaves = tf.nest.flatten(value)
        for number, leaf in enumerate(leaves):
            where = str(name) if len(leaves) == 1 else f"{name}[{number}]"
            described.append((where, *_leaf(leaf, serials)))
    return described


def _leaf(value: Any, serials: Serials) -> tuple[str, str]:
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return "Python value", repr(value)[:60]
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        dtype = getattr(value.dtype, "name", str(value.dtype))
        return "tensor", "shape {} {}".format(tuple(value.shape) if value.shape is not None else "?", dtype)
    return "object", f"{type(value).__name__} at {serials.of(value):#x}"


def describe_change(before: list[tuple[str, str, str]], after: list[tuple[str, str, str]]) -> str:
    """In one line, which argument made the function be traced again; empty if none differs."""
    changes = []
    earlier = {name: (kind, value) for name, kind, value in before}
    for name, kind, value in after:
        if name not in earlier:
            changes.append(f"argument `{name}` is new")
        elif kind == "object" and earlier[name] != (kind, value):
            changes.append("argument `{}` is another object, of `{}`".format(name, value.partition(" at ")[0]))
        elif earlier[name] != (kind, value):
            changes.append(f"argument `{name}` changed: {kind} {earlier[name][1]} -> {value}")
    changes += [f"argument `{name}` is gone" for name in earlier if name not in {one[0] for one in after}]
    return "; ".join(changes)
