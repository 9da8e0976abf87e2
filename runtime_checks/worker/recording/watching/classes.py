"""Classes of TensorFlow and Keras, as far as they are there."""

from __future__ import annotations

import contextlib
from typing import Callable, Sequence

from ..tensors import Optimizer

__all__ = ["derived", "loaded", "rule_of"]


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
