"""Classes of TensorFlow and Keras, as far as they are there."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Callable, Sequence

from ..tensors import Optimizer

__all__ = ["derived", "descending", "in_keras", "loaded", "optimizers", "rule_of"]


def loaded(finders: Sequence[Callable[[], type]]) -> list[type]:
    """The classes that can be had in this process."""
    found: list[type] = []
    for find in finders:
        with contextlib.suppress(Exception):
            found.append(find())
    return found


def derived(finders: Sequence[Callable[[], type]]) -> list[type]:
    """Classes of optimizers, their bases and everything derived from them."""
    found: list[type] = []
    waiting = loaded(finders)
    waiting += [base for root in waiting for base in root.__mro__]
    while waiting:
        cls = waiting.pop(0)
        if cls is not object and cls not in found:
            found.append(cls)
            if any("ptimizer" in base.__name__ for base in cls.__mro__):
                waiting += type.__subclasses__(cls)
    return found


def optimizers() -> list[type]:
    """The optimizers of TF1 and of each Keras that is loaded, with their bases."""
    import tensorflow as tf

    return derived(
        [
            lambda: tf.keras.optimizers.Optimizer,
            lambda: tf.keras.optimizers.legacy.Optimizer,
            lambda: tf.compat.v1.train.Optimizer,
            lambda: sys.modules["keras"].optimizers.Optimizer,
            lambda: sys.modules["tf_keras"].optimizers.Optimizer,
            lambda: sys.modules["tf_keras"].optimizers.legacy.Optimizer,
        ]
    )


def in_keras(*paths: str) -> list[type]:
    """Classes by their place in a package of Keras: of ``tf.keras``, and of those that are imported beside it."""
    import tensorflow as tf

    found: list[type] = []
    for keras in (lambda: tf.keras, lambda: sys.modules["keras"], lambda: sys.modules["tf_keras"]):
        for path in paths:
            with contextlib.suppress(Exception):
                cls = functools.reduce(getattr, path.split("."), keras())
                if isinstance(cls, type) and cls not in found:
                    found.append(cls)
    return found


def descending(classes: Sequence[type], known: Sequence[type] = ()) -> list[type]:
    """The known classes, these, and everything derived from these, each once."""
    found, waiting = list(known), list(classes)
    while waiting:
        cls = waiting.pop()
        if cls not in found:
            found.append(cls)
            waiting += type.__subclasses__(cls)
    return found


def rule_of(optimizer: Optimizer) -> str | None:
    """The class of TensorFlow or Keras whose update an optimizer makes.

    None where it has only their base class, or a method of its own that makes the update, or a part of it.
    """
    for cls in type(optimizer).__mro__:
        if cls.__module__.partition(".")[0] in ("keras", "tf_keras", "tensorflow", "tensorflow_core"):
            return None if cls.__name__ in _BASES else cls.__name__
        if any(name in vars(cls) for name in _UPDATES):
            return None
    return None


_UPDATES = ("update_step", "_apply_dense", "_apply_sparse", "_resource_apply_dense", "_resource_apply_sparse")
_BASES = ("Optimizer", "OptimizerV2", "BaseOptimizer", "TFOptimizer", "_BaseOptimizer")
