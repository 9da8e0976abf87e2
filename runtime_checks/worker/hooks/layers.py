"""Layers that are made: ``layer`` events, with the layer as subject (weakly); name and type of its class.

``given`` is the number of its positional arguments, and the keywords, with those among them that are texts.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from typing import Any, Iterator

from ..patching import Patch, replaced
from ..recorder import Recorder

__all__ = ["first_argument", "layer_classes", "patches"]


def layer_classes() -> list[type[Any]]:
    """The base classes of layers: of what ``tf.keras`` is, and of keras and tf_keras where a program mixes them."""
    found: list[type[Any]] = []
    import tensorflow as tf

    candidates = [tf.keras.layers.Layer]
    for name in ("keras", "tf_keras"):
        module = sys.modules.get(name)
        with contextlib.suppress(Exception):
            candidates.append(module.layers.Layer)  # type: ignore[union-attr]
    for candidate in candidates:
        if candidate not in found:
            found.append(candidate)
    return found


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record the construction of every layer."""
    for cls in layer_classes():
        yield _announcing(cls, recorder)


def _announcing(cls: type[Any], recorder: Recorder) -> Patch:
    """``__new__``, not ``__init__``: Keras 3 makes a config of the arguments, by the signature of the constructor."""
    original = cls.__new__

    def construct(made: type[Any], *args: Any, **kwargs: Any) -> Any:
        layer = original(made, *args, **kwargs)
        given = (len(args), {name: value if isinstance(value, str) else None for name, value in kwargs.items()})
        detail = {"class": made.__name__, "type": made, "given": given}
        recorder.record("layer", lambda: (recorder.code.stack(), detail, weakref.ref(layer)))
        return layer

    return replaced(cls, "__new__", construct)


def first_argument(frame: Any) -> Any | None:
    """``self`` of a method that runs, by position."""
    names = frame.f_code.co_varnames
    return frame.f_locals.get(names[0]) if frame.f_code.co_argcount and names else None
