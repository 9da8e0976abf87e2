"""TF610: a training step that calls its model as for inference."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call
from ...linter.rule_api.rewriting import with_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Replacement, Rule, Severity
from .models import Parts, parts_of, tape_of

if TYPE_CHECKING:
    import libcst

_NOISE = (
    "AlphaDropout", "BatchNormalization", "Dropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D",
    "SpatialDropout2D", "SpatialDropout3D",
)  # fmt: skip
_REASON = "dropout and batch normalization act from then on"
_MINDFUL = frozenset(f"keras.layers.{name}" for name in _NOISE)


class MissingTrainingFlag(Rule):
    """A training step calls its model without `training=True`, so dropout and batch normalization do not train.

    ## Why
    Outside of `fit`'s own step nothing tells a Keras layer that it is being trained, and a tape does not either.
    `model(x)` is inference: Dropout drops nothing, and BatchNormalization normalizes with its moving averages, which
    it never updates.
    That holds in a `train_step` of one's own too, for both targets.

    The rule speaks where the gradients of a tape are taken of a model's variables and applied, and the file shows that
    the model has such a layer.
    It does not see models that a step gets as an argument, layers that are made elsewhere, and layers in a list.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Fix safety
    Unsafe: what is trained is another model from then on, the one that was meant.
    None is offered for a class whose `call` takes no `training`, which decides by other means.

    ## Source
    - https://www.tensorflow.org/guide/effective_tf2
    - https://www.tensorflow.org/guide/migrate/model_mapping
    """

    code = "TF610"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    calls = ("tensorflow.GradientTape",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the calls of the models that a tape trains."""
        tape = tape_of(call)
        if tape is None or call.version_checked or not tape.is_training:
            return
        if call.file.project.uses("keras.backend.set_learning_phase", "keras.backend.learning_phase"):
            return
        trained = tape.trained
        for inner in tape.inner:
            path = (inner.path or "").removesuffix(".call")
            if path not in trained or len(inner.call.args) != 1 or inner.call.keywords or inner.has_stars:
                continue
            parts = parts_of(inner, path)
            layer = _mindful(parts) if parts is not None else None
            if layer is not None:
                kind = layer.name.rpartition(".")[2]
                what = "does not update its moving averages" if kind == "BatchNormalization" else "does nothing"
                yield self.report(
                    inner,
                    f"`{path}` is called as for inference in a training step: its {kind} {what}. Pass "
                    "`training=True`.",
                    related=(layer.location("the layer"),),
                )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Say that it trains."""
        parts = parts_of(site, (site.path or "").removesuffix(".call"))
        forward = parts.cls.methods.get("call") if parts is not None and parts.cls is not None else None
        if forward is not None and "training" not in forward.parameters:
            return None
        return Replacement(with_argument(node, "training", "True"), Applicability.UNSAFE, _REASON)


def _mindful(parts: Parts) -> Call | None:
    """A layer that behaves otherwise in training, and that the model leaves to its caller."""
    if parts.cls is not None:
        forward = parts.cls.methods.get("call")
        if forward is None or _is_decided(forward.defaults.get("training")):
            return None
        handed = [call.value("training") for call in forward.calls]
        if any(isinstance(value, ast.Constant) and value.value for value in handed) or "__call__" in parts.cls.methods:
            return None
    for call in parts.calls:
        if call.name not in _MINDFUL or call.literal("trainable", default=True) is not True:
            continue
        if call.literal("rate", 0, default=0.5) == 0 or _is_told(call):
            continue
        if parts.cls is None or _is_used(call, parts):
            return call
    return None


def _is_told(call: Call) -> bool:
    """Whether the layer is called at once, and told whether it trains: ``Dropout(0.5)(x, training=True)``."""
    around = call.file.parent_of(call.call)
    return isinstance(around, ast.Call) and around.func is call.call and any(k.arg != "mask" for k in around.keywords)


def _is_used(call: Call, parts: Parts) -> bool:
    """Whether `call` of the class calls the layer and leaves it to its own caller whether it trains."""
    kept = call.assigned_to
    forward = parts.cls.methods["call"] if parts.cls is not None else None
    uses = [one for one in forward.calls if one.path in kept] if forward is not None else []
    given = [keyword for one in uses for keyword in one.call.keywords]
    return (
        bool(uses)
        and all(len(one.call.args) == 1 for one in uses)
        and all(keyword.arg == "training" and isinstance(keyword.value, ast.Name) for keyword in given)
    )


def _is_decided(default: ast.expr | None) -> bool:
    return default is not None and not (isinstance(default, ast.Constant) and not default.value)
