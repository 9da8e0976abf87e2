"""Trainable variables that the program reads: one ``read`` event for each variable and phase, its subject weakly.

Eager operations read variables in C++, unheard: it is the traced calls that are complete.
"""

from __future__ import annotations

import weakref
from typing import Any, Iterator

from ..patching import Patch, replaced
from ..phases import Phase
from ..recorder import Recorder


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Listen where TensorFlow itself tells a gradient tape that a variable was read."""
    from tensorflow.python.eager import tape

    original = tape.variable_accessed
    seen: set[tuple[Phase | None, int]] = set()

    def variable_accessed(variable: Any) -> None:
        original(variable)
        key = (recorder.phase, id(variable))
        if key not in seen and getattr(variable, "trainable", False):
            seen.add(key)
            recorder.record("read", lambda: (recorder.code.stack(), {}, weakref.ref(variable)))

    yield replaced(tape, "variable_accessed", variable_accessed)
