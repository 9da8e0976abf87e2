"""Optimizers and metrics that are made: ``stateful`` events, with the object as subject (weakly).

The detail has ``class``, ``type``, ``what``, which is ``optimizer`` or ``metric``, ``given``, the keywords
that come to the base class, with their numbers, and ``rate``, what an optimizer's own class was given as its learning
rate: of a variable a weak reference, of a symbolic tensor None.
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
        detail = {
            "class": type(made).__name__,
            "type": type(made),
            "what": what,
            "given": {name: value for name, value in keywords.items() if isinstance(value, (int, float))},
            "rate": _kept(sys._getframe(1).f_locals.get("learning_rate")) if what == "optimizer" else None,
        }
        recorder.record("stateful", lambda: (recorder.code.stack(), detail, weakref.ref(made)))
        original(made, *arguments, **keywords)

    return initialize


def _kept(rate: Any) -> Any:
    import tensorflow as tf

    if isinstance(rate, tf.Variable):
        return weakref.ref(rate)
    return None if tf.is_tensor(rate) and not hasattr(rate, "numpy") else rate
