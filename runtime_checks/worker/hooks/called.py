"""Calls of the public functions that findings about numbers are about, at their lines: ``called`` events.

The detail has ``name``, the function's last name, ``args`` and ``kwargs`` with which it was called, a symbolic tensor
as its ``tf.TypeSpec``, and ``symbolic``, whether there is one. Of a class, the calls are those of its constructor.
The first calls of a line are kept, in each phase and mode.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Iterator

from ..kept import Memory, NotKeptError, kept_arguments
from ..patching import Patch, replaced
from ..recorder import Recorder
from .output import is_users

__all__ = ["holders", "patches"]

_SLUGS = frozenset(
    {
        "cosine-sign", "dropout-keep-prob", "embedding-partition", "image-resize", "initializer-default",
        "loss-reduction", "string-split", "where-broadcast",
    }
)  # fmt: skip
_LIBRARIES = frozenset({"keras", "tensorflow", "tf_keras"})
_MOST = 2


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Listen to what the findings of the run are about, by every name that it has.

    A module of TensorFlow that the program imports later, as ``from tensorflow.compat.v1 import image`` may, reads it
    from the one that defines it.
    """
    findings = [finding for finding in recorder.wanted if finding.slug in _SLUGS and finding.subject]
    calls = _Calls(recorder, findings)
    done: set[int] = set()
    for name in dict.fromkeys(finding.subject for finding in findings):
        for module, last in _owners(name):
            value = getattr(module, last)
            if id(value) in done:
                continue
            done.add(id(value))
            if isinstance(value, type) and "__init__" in vars(value):
                yield replaced(value, "__init__", _telling(vars(value)["__init__"], last, True, calls))
                continue
            telling = _telling(value, last, False, calls)
            for owner, attribute in holders(value, {last, str(getattr(value, "__name__", last))}):
                yield replaced(owner, attribute, telling)


def _owners(name: str) -> Iterator[tuple[Any, str]]:
    """The modules in which a canonical name is found, in TensorFlow, its TF1 and Keras, with the last part."""
    import tensorflow as tf

    first, *parts, last = name.split(".")
    loaded = [sys.modules[library] for library in ("keras", "tf_keras") if library in sys.modules]
    roots = [tf, tf.compat.v1] if first == "tensorflow" else [tf.keras, *loaded]
    for root in roots:
        owner: Any = root
        for part in parts:
            owner = getattr(owner, part, None)
        if hasattr(owner, last):
            yield owner, last


def holders(value: Any, names: set[str]) -> list[tuple[Any, str]]:
    """The modules of TensorFlow and Keras that have a function, each with its name there."""
    loaded = [module for key, module in list(sys.modules.items()) if key.partition(".")[0] in _LIBRARIES]
    return [(module, name) for module in loaded for name in names if getattr(module, "__dict__", {}).get(name) is value]


def _telling(original: Any, name: str, is_constructor: bool, calls: _Calls) -> Any:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        calls.record(name, args[is_constructor:], kwargs, sys._getframe(1))
        return original(*args, **kwargs)

    call.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph leaves it as it is
    return call


class _Calls:
    """What is kept of calls, and how much that is."""

    def __init__(self, recorder: Recorder, findings: list[Any]) -> None:
        self._recorder = recorder
        self._findings = findings
        self._seen: dict[Any, int] = {}
        self._memory = Memory()

    def record(self, name: str, args: Any, kwargs: Any, caller: Any) -> None:
        """Keep a call of the user's, if a finding is about it and few of its kind were seen."""
        if self._recorder.phase is not None and is_users(self._recorder, caller):
            self._recorder.record("called", lambda: self._described(name, args, kwargs))

    def _described(self, name: str, args: Any, kwargs: Any) -> Any:
        frames, phase = self._recorder.code.stack(), self._recorder.phase
        key = (name, frames[:1], phase is not None and phase.mode)
        if self._seen.get(key, 0) >= _MOST or not any(finding.holds_first(frames) for finding in self._findings):
            raise NotKeptError
        self._seen[key] = self._seen.get(key, 0) + 1
        return frames, {"name": name, **self._memory.detail(kept_arguments(args, kwargs))}, lambda: None
