"""What the user's code prints and logs: ``output`` events, with ``text`` in the detail, and who wrote it.

Only what a line of the user's calls itself counts: TensorFlow and Keras log below the user's lines, too.
"""

from __future__ import annotations

import builtins
import functools
import logging
import sys
from typing import Any, Iterator

from ..patching import Patch, replaced
from ..recorder import Recorder

__all__ = ["is_users", "patches"]

_PASSED = ("/logging/__init__.py", "/absl/logging/", "/tensorflow/python/autograph/", "/tf_logging.py", __file__)
_OWN_LOGS = "/tensorflow/python/autograph/utils/ag_logging"
"""What AutoGraph itself has to say, of the user's code too."""
_PLAIN = (bool, int, float, str, bytes, type(None))


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Listen to ``print`` and to every logger of ``logging``, absl's and TensorFlow's among them."""
    original_print, original_make = builtins.print, logging.Logger.makeRecord

    @functools.wraps(original_print)
    def print_(*values: Any, **keywords: Any) -> None:
        original_print(*values, **keywords)
        if is_users(recorder, sys._getframe(1)):
            _record(recorder, "printed", lambda: " ".join(map(_shown, values)))

    @functools.wraps(original_make)
    def make(logger: Any, name: Any, level: Any, fn: Any, lno: Any, msg: Any, args: Any, *more: Any, **kw: Any) -> Any:
        if is_users(recorder, sys._getframe(1)):
            _record(recorder, "logged", lambda: _formatted(msg, args))
        return original_make(logger, name, level, fn, lno, msg, args, *more, **kw)

    make.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph leaves it as it is
    yield replaced(builtins, "print", print_)
    yield from _converted(print_, recorder)
    yield replaced(logging.Logger, "makeRecord", make)


def _converted(print_: Any, recorder: Recorder) -> Iterator[Patch]:
    """Let AutoGraph convert it as it converts ``print``, where ``Feature.BUILTIN_FUNCTIONS`` asks for that.

    Each time it makes an operation of it is a ``converted`` event.
    """
    from tensorflow.python.autograph.operators import py_builtins
    from tensorflow.python.autograph.pyct import inspect_utils

    overloads = getattr(py_builtins, "BUILTIN_FUNCTIONS_MAP", {})
    if "print" in overloads:
        original = overloads["print"]

        def converted(*values: Any, **keywords: Any) -> Any:
            result = original(*values, **keywords)
            if result is not None:
                recorder.record("converted", lambda: (recorder.code.stack(), {}, lambda: None))
            return result

        yield replaced(py_builtins, "BUILTIN_FUNCTIONS_MAP", {**overloads, "print": converted})
    known = getattr(py_builtins, "SUPPORTED_BUILTINS", ())
    yield replaced(py_builtins, "SUPPORTED_BUILTINS", (*known, print_))
    numbers = getattr(inspect_utils, "_BUILTIN_FUNCTION_IDS", ())
    yield replaced(inspect_utils, "_BUILTIN_FUNCTION_IDS", {*numbers, id(print_)})


def is_users(recorder: Recorder, frame: Any) -> bool:
    """Whether a frame is of the user's code, or of what calls for it: AutoGraph, loggers and the hooks here."""
    while frame is not None:
        filename = frame.f_code.co_filename
        if recorder.code.origin(filename, frame.f_lineno) is not None:
            return True
        is_passed = recorder.code.is_generated(filename) or any(part in filename for part in _PASSED)
        if not is_passed or _OWN_LOGS in filename:
            return False
        frame = frame.f_back
    return False


def _record(recorder: Recorder, verb: str, text: Any) -> None:
    recorder.record("output", lambda: (recorder.code.stack(), {"verb": verb, "text": text()}, lambda: None))


def _formatted(message: Any, args: Any) -> str:
    if not isinstance(args, tuple) or not args:
        return _shown(message)
    shown = tuple(map(_shown, args))
    try:
        return str(message) % shown
    except (TypeError, ValueError):
        return ", ".join([_shown(message), *shown])


def _shown(value: Any) -> str:
    """A value as it is printed, where that cannot run the user's code or copy much."""
    import tensorflow as tf

    if isinstance(value, _PLAIN):
        return str(value)[:200]
    if isinstance(value, tf.Tensor) and not hasattr(value, "numpy"):
        return str(value)
    return f"<{type(value).__name__}>"
