"""Classes of TensorFlow and Keras, as far as they are there."""

from __future__ import annotations

import contextlib
from typing import Callable, Sequence

__all__ = ["derived", "loaded"]


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
