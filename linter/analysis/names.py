"""Canonical names: one spelling for the many ways in which a public symbol can be written.

``tf.compat.v1.layers.dense``, ``tensorflow.layers.dense`` and ``tensorflow.compat.v1.layers.dense`` are all
``tensorflow.layers.dense``; everything of Keras, from whichever package, is ``keras...``; slim, from tf_slim or
from contrib, is ``slim...``.
What was really written stays in `Name.spelled`, since rules differ on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

_KERAS_ROOTS = (
    "tensorflow.compat.v1.keras",
    "tensorflow.compat.v2.keras",
    "tensorflow.python.keras.api._v1.keras",
    "tensorflow.python.keras.api._v2.keras",
    "tensorflow.keras.api._v2.keras",
    "tensorflow.contrib.keras",
    "tensorflow.python.keras",
    "tensorflow.keras",
    "tf_keras.src",
    "tf_keras",
    "keras.src",
    "keras",
)
_TENSORFLOW_ROOTS = (
    "tensorflow.compat.v1",
    "tensorflow.compat.v2",
    "tensorflow._api.v1",
    "tensorflow._api.v2",
    "tensorflow",
)
_SLIM_ROOTS = (
    "tensorflow.contrib.slim.python.slim",
    "tensorflow.contrib.slim",
    "tensorflow.contrib.layers.python.layers",
    "tensorflow.contrib.layers",
    "tensorflow.contrib.framework",
    "tf_slim",
)
_SLIM_MODULES = frozenset(
    {"layers", "ops", "arg_scope", "initializers", "regularizers", "variables", "losses", "model_variable"}
)
_PRIVATE = {
    "tensorflow.python.ops.variable_scope": "tensorflow",
    "tensorflow.python.ops.variables": "tensorflow",
    "tensorflow.python.ops.array_ops": "tensorflow",
    "tensorflow.python.ops.math_ops": "tensorflow",
    "tensorflow.python.ops.rnn_cell_impl": "tensorflow.nn.rnn_cell",
    "tensorflow.python.ops.rnn_cell": "tensorflow.nn.rnn_cell",
    "tensorflow.python.layers.base": "tensorflow.layers",
    "tensorflow.python.layers.layers": "tensorflow.layers",
    "tensorflow.python.layers.core": "tensorflow.layers",
    "tensorflow.python.layers.convolutional": "tensorflow.layers",
    "tensorflow.python.layers.normalization": "tensorflow.layers",
    "tensorflow.python.eager.context": "tensorflow",
    "tensorflow.python.eager.def_function": "tensorflow",
    "tensorflow.python.framework.ops": "tensorflow",
    "tensorflow.python.module.module": "tensorflow",
    "tensorflow.contrib.rnn": "tensorflow.nn.rnn_cell",
    "tensorflow_estimator.python.estimator.estimator": "tensorflow.estimator",
    "tensorflow_estimator.estimator": "tensorflow.estimator",
    "tensorflow_estimator": "tensorflow",
}
_PRIVATE_STARTS = tuple(_PRIVATE)
_KERAS_ALIASES = {
    "engine.base_layer": "layers",
    "engine.topology": "layers",
    "engine.input_layer": "layers",
    "engine.training": "models",
    "engine.network": "models",
    "engine.sequential": "models",
    "engine": "layers",
}
_KERAS_TOP = {
    "models.Model": "Model",
    "models.Sequential": "Sequential",
    "models.Functional": "Model",
    "layers.Model": "Model",
    "layers.Input": "Input",
    "Layer": "layers.Layer",
    "Loss": "losses.Loss",
    "Metric": "metrics.Metric",
    "Optimizer": "optimizers.Optimizer",
    "Callback": "callbacks.Callback",
    "experimental.Functional": "Model",
    "layers.Network": "Model",
    "models.Network": "Model",
    "layers.Container": "Model",
}
_KERAS_FLAT = frozenset({"layers", "optimizers", "losses", "metrics", "callbacks", "models"})
_KEPT_SUBMODULES = frozenset({"legacy", "experimental", "schedules", "preprocessing"})
PLACEHOLDERS = {
    "tensorflow.placeholder": ("dtype", "shape"),
    "tensorflow.sparse_placeholder": ("dtype", "shape"),
    "tensorflow.sparse.placeholder": ("dtype", "shape"),
    "tensorflow.placeholder_with_default": ("input", "shape"),
}
"""What makes a placeholder, with its first two parameters."""


@dataclass(frozen=True, slots=True)
class Name:
    """A resolved name."""

    canonical: str
    spelled: str
    """The absolute name as it was written, after aliases: ``tensorflow.compat.v1.layers.dense``."""

    @property
    def is_compat_v1(self) -> bool:
        """Whether it was reached through ``compat.v1``."""
        return self.spelled.startswith(("tensorflow.compat.v1", "tensorflow._api.v1"))


@lru_cache(maxsize=65536)
def canonical(absolute: str) -> str:
    """Return the canonical spelling of an absolute dotted name; call marks and items stay where they are."""
    if absolute.startswith("builtins."):
        return absolute[9:]
    name = absolute
    if name.startswith(_PRIVATE_STARTS):
        for private, public in _PRIVATE.items():
            if below(name, private):
                name = public + name[len(private) :]
                break
    if name.startswith(_KERAS_ROOTS):
        for root in _KERAS_ROOTS:
            if below(name, root):
                return _keras(name[len(root) + 1 :])
    if name.startswith(_SLIM_ROOTS):
        for root in _SLIM_ROOTS:
            if below(name, root):
                return _slim(name[len(root) + 1 :])
    for root in _TENSORFLOW_ROOTS:
        if below(name, root):
            rest = name[len(root) :]
            return f"tensorflow{rest}" if root == "tensorflow" or not rest else canonical(f"tensorflow{rest}")
    return name


def below(name: str, root: str) -> bool:
    """Whether `name` is `root` or stands below it."""
    return name.startswith(root) and (len(name) == len(root) or name[len(root)] in ".([")


def _keras(rest: str) -> str:
    for module, public in _KERAS_ALIASES.items():
        if below(rest, module):
            rest = public + rest[len(module) :]
            break
    head, _, tail = rest.partition(".")
    if head in _KERAS_FLAT and tail:
        # keras.layers.core.dense.Dense is keras.layers.Dense; keras.optimizers.legacy.SGD is something else
        parts = tail.split(".")
        while len(parts) > 1 and parts[0].islower() and "(" not in parts[0] and parts[0] not in _KEPT_SUBMODULES:
            parts.pop(0)
        rest = f"{head}.{'.'.join(parts)}"
    for alias, public in _KERAS_TOP.items():
        if below(rest, alias):
            rest = public + rest[len(alias) :]
            break
    return f"keras.{rest}" if rest else "keras"


def _slim(rest: str) -> str:
    parts = rest.split(".")
    while len(parts) > 1 and parts[0] in _SLIM_MODULES:
        parts.pop(0)
    return f"slim.{'.'.join(parts)}" if rest else "slim"
