"""The objects of a program that hold state: variables, layers, metrics, optimizers, generators, as they are made."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import weakref
from typing import Any, Callable, Iterator

from ..patching import wrapped
from ..recording.tensors import Function, Nest, Variable
from ..recording.watching.classes import descending, in_keras
from ..recording.watching.variable_creation import initial_values
from .trace import First, first

__all__ = ["Objects", "raw"]

_CALLERS = 12
"""Frames that lie between Keras and the generator that it makes."""


class Objects:
    """What has been made and still lives, in the order in which it was made."""

    def __init__(self, streams: Callable[[], None], firsts: bool = False) -> None:
        self._made: dict[str, list[Any]] = {}
        self._streams = streams
        self.firsts: dict[int, First] | None = {} if firsts else None
        """By its identity, the value that a variable was made with, or the first one read; where that is asked for."""
        self.callbacks: list[Any] = []
        """Of the ``fit`` that runs."""
        self.epoch: Any = None
        """That ``fit`` is in."""

    def of(self, kind: str) -> list[Any]:
        """Those of a kind that live.

        A ``variable``, ``layer``, ``metric``, ``scaler`` of losses, moving ``average``, ``checkpoint``, ``generator``
        of random numbers, or such a generator that is a layer's ``own``.
        """
        found = [reference() for reference in self._made.get(kind, ())]
        return [one for one in found if one is not None]

    def add(self, kind: str, one: Any) -> None:
        """Keep an object for as long as it lives."""
        known = self._made.setdefault(kind, [])
        if not any(reference() is one for reference in known[-8:]):
            known.append(weakref.ref(one))
        if kind == "own":
            self._streams()

    def _variable(self, variable: Variable, _: Nest) -> None:
        import tensorflow as tf

        self.add("variable", variable)
        if self.firsts is not None and tf.executing_eagerly():
            self.firsts.pop(id(variable), None)  # of one that is no more
            with contextlib.suppress(Exception):
                self.firsts[id(variable)] = first(variable.read_value().numpy())

    def forget(self, one: Any) -> None:
        """Leave an object out, with its variable: it is no part of the program."""
        state = raw(one.state)
        for kind, known in self._made.items():
            self._made[kind] = [found for found in known if found() is not one and found() is not state]

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Hear of what is made in the body."""
        import tensorflow as tf

        with contextlib.ExitStack() as stack:
            stack.enter_context(initial_values(self._variable))
            classes = [("average", tf.train.ExponentialMovingAverage), ("checkpoint", tf.train.Checkpoint)]
            classes += [("layer", cls) for cls in in_keras("layers.Layer")]
            classes += [("metric", cls) for cls in in_keras("metrics.Metric")]
            classes += [("scaler", cls) for cls in _scalers()]
            classes += [("own", cls) for cls in in_keras("random.SeedGenerator")]
            for kind, cls in classes:
                stack.enter_context(wrapped(cls, "__init__", functools.partial(self._telling, kind)))
            generator = getattr(tf.random, "Generator", None)  # TensorFlow 1 has none
            if generator is not None:
                stack.enter_context(wrapped(generator, "__init__", functools.partial(self._telling, "")))
            for cls in in_keras("callbacks.CallbackList"):
                stack.enter_context(wrapped(cls, "on_epoch_begin", self._epochs))
                stack.enter_context(wrapped(cls, "on_train_end", self._ending))
            yield

    def _telling(self, kind: str, original: Function) -> Function:
        objects = self

        def __init__(self: Any, *arguments: Nest, **named: Nest) -> None:  # noqa: N807
            original(self, *arguments, **named)
            objects.add(kind or ("own" if _by_keras(sys._getframe(1)) else "generator"), self)

        with contextlib.suppress(TypeError, ValueError):
            # Keras 3 makes a configuration of it, and does not look behind a wrapper.
            __init__.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return __init__

    def _epochs(self, original: Function) -> Function:
        def on_epoch_begin(callbacks: Any, epoch: Any, *arguments: Nest, **named: Nest) -> Nest:
            self.callbacks, self.epoch = list(callbacks.callbacks), epoch
            return original(callbacks, epoch, *arguments, **named)

        return on_epoch_begin

    def _ending(self, original: Function) -> Function:
        def on_train_end(callbacks: Any, *arguments: Nest, **named: Nest) -> Nest:
            self.callbacks, self.epoch = [], None
            return original(callbacks, *arguments, **named)

        return on_train_end


def _scalers() -> list[type]:
    """The optimizers that scale losses: in Keras 2 each kind of optimizer has one of its own."""
    known = [base for cls in in_keras("mixed_precision.LossScaleOptimizer") for base in cls.__mro__]
    return descending([base for base in known if "LossScale" in base.__name__])


def _by_keras(frame: Any) -> bool:
    """Whether Keras makes an object, for one of its layers."""
    for _ in range(_CALLERS):
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in ("keras", "tf_keras"):
            return True
        if package not in ("tensorflow", "_migrate_lint_worker", "migrate_lint") or frame.f_back is None:
            return False
        frame = frame.f_back
    return False


def raw(variable: Variable) -> Variable:
    """The variable of TensorFlow in one of Keras 3, or in one that is cast by itself."""
    for name in ("_value", "_variable"):
        inside = getattr(variable, name, None)
        if hasattr(inside, "read_value"):
            return raw(inside)
    return variable
