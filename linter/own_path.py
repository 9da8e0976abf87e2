"""Where our imports look while another program hosts us: not in what that program put on ``sys.path`` since.

pylint puts the root of what it lints first, and a ``sqlite3.py`` there would run at our next import.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["own_path"]

_STANDARD = os.path.dirname(os.__file__)


def _found() -> list[str]:
    """The absolute entries that are there now; an empty one is the working folder.

    A worker that pylint spawned has the linted folders by now: they stand before the standard library, where else only
    PYTHONPATH puts anything that is needed here.
    """
    found = [entry for entry in sys.path if os.path.isabs(entry)]
    if multiprocessing.parent_process() is None or _STANDARD not in found:
        return found
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    before = found[: found.index(_STANDARD)]
    return [*(entry for entry in before if entry in named), *found[len(before) :]]


_FOUND = frozenset(_found())


@contextmanager
def own_path() -> Iterator[None]:
    """Take off whatever was put on ``sys.path`` since this module was loaded, and then put it back as it was."""
    hosts = sys.path[:]
    sys.path[:] = [entry for entry in hosts if entry in _FOUND]
    try:
        yield
    finally:
        sys.path[:] = hosts
