"""Optimizers and metrics that are made: ``stateful`` events, with the object as subject (weakly).

The detail has ``class`` and ``what``, which is ``optimizer`` or ``metric``.
"""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any, Iterator

from ..patching import Patch, replaced
from ..recorder import Recorder


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record the construction of every optimizer and metric, of Keras and of TF1."""
    for what, cls in _classes():
        yield replaced(cls, "__init__", _announcing(cls.__init__, what, recorder))


def _classes() -> list[tuple[str, type[Any]]]:
    import tensorflow as tf

    roots = [tf.keras, *(sys.modules[name] for name in ("keras", "tf_keras") if name in sys.modules)]
    found: list[tuple[str, type[Any]]] = [("optimizer", tf.compat.v1.train.Optimizer)]
    for root in roots:
        for what, path in (
            ("optimizer", "optimizers.Optimizer"),
            ("optimizer", "optimizers.legacy.Optimizer"),
            ("metric", "metrics.Metric"),
        ):
            cls = _attribute(root, path)
            if isinstance(cls, type) and cls not in [known for _, known in found]:
                found.append((what, cls))
    return found


def _attribute(root: Any, path: str) -> Any:
    try:
        for part in path.split("."):
            root = getattr(root, part)
    except (AttributeError, ImportError):
        return None
    return root


def _announcing(original: Any, what: str, recorder: Recorder) -> Any:
    @functools.wraps(original)
    def initialize(made: Any, *arguments: Any, **keywords: Any) -> None:
        detail = {"class": type(made).__name__, "what": what}
        recorder.record("stateful", lambda: (recorder.code.stack(), detail, weakref.ref(made)))
        original(made, *arguments, **keywords)

    return initialize
