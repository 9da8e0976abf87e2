"""What tf_slim 1.1.0 needs to run on TensorFlow >= 2.15: two names that have moved.

tf_slim's batch normalization goes through ``tensorflow.python.layers.normalization``, which imports
``tf_keras.legacy_tf_layers.normalization``; what is meant is ``legacy_tf_layers.normalization`` below ``tf_keras.src``
or, where Keras 2 is built in, ``keras.src``.
tf_slim also reads ``tensorflow.python.framework.ops.Tensor``, which is ``tf.Tensor``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, Callable, Iterator

__all__ = ["for_slim", "target"]

_SLIM = "tf_slim"
_ALIAS = "tf_keras.legacy_tf_layers.normalization"
_REAL = "{}.src.legacy_tf_layers.normalization"


def target() -> str:
    """Which Keras this process has: ``keras2``, ``keras3``, or ``tf1`` for that of TensorFlow 1."""
    import tensorflow as tf

    if tf.__version__.startswith("1."):
        return "tf1"
    keras = importlib.import_module(tf.keras.layers.Layer.__module__.partition(".")[0])
    return "keras3" if str(getattr(keras, "__version__", "2")).startswith("3") else "keras2"


@contextlib.contextmanager
def for_slim(keras: str, heard: Callable[[str], None]) -> Iterator[None]:
    """Put the names that are missing in place as soon as tf_slim is imported in the body, and say so.

    Keras 3 has nothing that they could lead to and TensorFlow 1 has them all, so there nothing is done. What was put
    in place stays.

    Args:
        keras: as `target` gives it.
        heard: gets the sentence.
    """
    if keras != "keras2":
        yield
        return

    def apply() -> None:
        done = _apply()
        if done:
            heard("{} was imported through {}: {}".format(_version(), _counted(done), "; ".join(done)))

    if _SLIM in sys.modules:
        apply()
        yield
        return
    finder = _Finder(apply)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


class _Finder:
    """Finds nothing: it hears of the import, and leaves it to the finders behind."""

    def __init__(self, heard: Callable[[], None]) -> None:
        self._heard: Callable[[], None] | None = heard

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == _SLIM and self._heard is not None:
            heard, self._heard = self._heard, None
            heard()


class _Alias(ModuleType):
    """A module that is imported under its real name when something is first asked of it."""

    def __init__(self, name: str, real: str) -> None:
        super().__init__(name, f"Stands for {real}.")
        self._real = real

    def __getattr__(self, name: str) -> Any:
        # `inspect` and `warnings` ask every loaded module for such names.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._real), name)


def _apply() -> list[str]:
    """Put in place what is missing; in words, what is in place."""
    done = []
    real = _normalization()
    if real is not None:
        done.append(f"{_ALIAS} is {real}")
    from tensorflow.python.framework import ops

    if not hasattr(ops, "Tensor"):
        import tensorflow as tf

        ops.Tensor = tf.Tensor
    if getattr(ops.Tensor, "__module__", ops.__name__) != ops.__name__:
        done.append(f"{ops.__name__}.Tensor is tf.Tensor")
    return done


def _normalization() -> str | None:
    """Make the name that TensorFlow imports lead to the real module, whose name is given back; None if it is real."""
    import tensorflow as tf

    installed = importlib.util.find_spec("tf_keras")
    for folder in (installed.submodule_search_locations or ()) if installed is not None else ():
        if os.path.exists(os.path.join(folder, "legacy_tf_layers")):
            return None
    real = _REAL.format(tf.keras.layers.Layer.__module__.partition(".")[0])
    # An entry is found by its full name, so that it needs no parent: TF 2.15 has no tf_keras.
    sys.modules.setdefault(_ALIAS, _Alias(_ALIAS, real))
    return real


def _counted(done: list[str]) -> str:
    return "one shim" if len(done) == 1 else "two shims"


def _version() -> str:
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7
        return _SLIM
    for distribution in ("tf_slim", "tf-slim"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            return f"{_SLIM} {metadata.version(distribution)}"
    return _SLIM
