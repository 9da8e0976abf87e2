"""Modules that are made: ``module`` events for every ``tf.Module`` that is no layer, the module as subject (weakly).

Its frames begin where the construction was written, not in the constructor.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any, Iterator

from ..patching import Patch, wrapped
from ..recorder import Recorder
from .layers import first_argument, layer_classes


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record in ``tf.Module.__init__``: a class that does not call it is not seen."""
    import tensorflow as tf

    layers = tuple(layer_classes())

    def announcing(original: Any) -> Any:
        def initialize(module: Any, *arguments: Any, **keywords: Any) -> None:
            if not isinstance(module, layers):
                recorder.record("module", lambda: _described(module, recorder))
            original(module, *arguments, **keywords)

        return initialize

    yield wrapped(tf.Module, "__init__", announcing)


def _described(module: Any, recorder: Recorder) -> Any:
    frame: Any = sys._getframe(1)
    outside: Any = None
    while frame is not None:
        if frame.f_code.co_name == "__init__" and first_argument(frame) is module:
            outside = frame.f_back
        frame = frame.f_back
    return recorder.code.stack(outside), {"class": type(module).__name__}, weakref.ref(module)
