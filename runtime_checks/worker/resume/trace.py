"""What a run of a loop leaves: a file with a line of JSON for everything that happened, written as it happens.

A process that is killed leaves all lines but perhaps half of the last one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import Any, Callable, ContextManager, Dict, List, Tuple

import numpy as np

__all__ = ["First", "State", "Trace", "digest", "first"]

State = Dict[str, List[Any]]
"""By key: kind, name for people, digest of the value, and the value where it is one number.

The digest is empty where there is no value yet.
"""

First = Tuple[str, bool]
"""The digest of the first value that a variable had, and whether all of its elements are the same number."""


def first(value: Any) -> First:
    """What is kept of the first value of a variable."""
    array = np.asarray(value)
    return digest(array), bool(array.size == 0 or (array == array.reshape(-1)[0]).all())


def digest(*values: Any) -> str:
    """A short hash of the dtypes, shapes and elements of arrays."""
    hashed = hashlib.blake2b(digest_size=8)
    for value in values:
        array = np.asarray(value)
        hashed.update(f"{array.dtype}{array.shape}".encode())
        if array.dtype.hasobject:
            hashed.update(repr(array.tolist()).encode())
        else:
            hashed.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
    return hashed.hexdigest()


class Trace:
    """Writes the lines; `path` is a new file.

    A ``step`` has ``begin``, the state before it, and ``weights``, by the number of each optimizer that is known by
    then a digest of all that it trains; ``data``, the digests of what iterators gave since the step before, and
    ``given``, those of the arrays that the step's function was called with, or the one of all that models were, null
    where there were none;
    ``applied``, the numbers of the optimizers that were applied in it, and ``updates``, how often; and ``loss``, null
    where it was not seen. ``owners`` says before a step what tells the optimizers from each other. Behind the first of
    them, ``firsts`` has by the key of the state what `first` kept of each variable, where that was asked for.
    """

    def __init__(self, path: str) -> None:
        self.around: Callable[[], ContextManager[Any]] = contextlib.ExitStack
        """Is entered around each write."""
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115  (it ends with the process)

    def add(self, row: str, **content: Any) -> None:
        """One line: what happened, and what is known of it."""
        with self.around():
            self._file.write(json.dumps(dict(content, row=row), default=str).encode() + b"\n")
