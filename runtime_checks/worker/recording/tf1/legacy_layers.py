"""``tf.compat.v1.layers`` and ``rnn_cell`` of tf_keras for TF1 graphs in a process of Keras 3, which has none."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from typing import Callable, Iterator

from ... import shims
from ...patching import replaced
from ..tensors import Module

__all__ = ["legacy_layers"]

_API = "tf_keras.api._v1.keras.__internal__.legacy."
_V1 = ("tensorflow.compat.v1", "tensorflow._api.v2.compat.v1")


class _Legacy:
    """A module of tf_keras that is imported, and told of, when something is first asked of it."""

    def __init__(self, name: str, adapted: Callable[[str], None]) -> None:
        self._name = name
        self._adapted = adapted

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "Layer":  # of `layer_calls`, which looks for base classes
            return getattr(importlib.import_module(_API + self._name), name)
        value = getattr(importlib.import_module(_API + self._name), name)
        public = self._name if self._name == "layers" else "nn." + self._name
        self._adapted(f"Keras 3 has no tf.compat.v1.{public}: that of tf_keras was used")
        return value


@contextlib.contextmanager
def legacy_layers(adapted: Callable[[str], None]) -> Iterator[None]:
    """In a process of Keras 3, put the layers and cells of tf_keras, where it is installed, in their old places."""
    if shims.target() != "keras3" or importlib.util.find_spec("tf_keras") is None:
        yield
        return
    owners = _owners()
    # For the listeners, which look for base classes of layers among what is loaded. The import of tf_keras puts
    # another object in the place of tf.compat.v1.
    importlib.import_module(_API + "layers")
    owners += [owner for owner in _owners() if not any(owner[0] is known for known, _ in owners)]
    with contextlib.ExitStack() as stack:
        for owner, name in owners:
            stack.enter_context(replaced(owner, name, _Legacy(name, adapted)))
        yield


def _owners() -> list[tuple[Module, str]]:
    """The modules that have a name of a legacy module, with that name."""
    import tensorflow as tf

    v1 = [tf.compat.v1, *(sys.modules[name] for name in _V1 if name in sys.modules)]
    found: list[tuple[Module, str]] = []
    for module, name in [(one, "layers") for one in v1] + [(one.nn, "rnn_cell") for one in v1]:
        if not any(module is known for known, _ in found):
            found.append((module, name))
    return found
