"""TF315: metrics, updates and losses that are added to a layer or a model."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from ..tf1_api.signatures import is_tried
from .members import member_of

_KINDS = ("Layer", "Metric", "Model")
_HANDLED = frozenset({"AttributeError", "NotImplementedError", "Exception", "BaseException"})


class LayerAddMetricUpdate(Rule):
    """`add_metric` or `add_update` is called on a layer or a model, or `add_loss` on a functional model.

    ## Why
    With Keras 3 `add_metric` raises NotImplementedError and `add_update` AttributeError; `add_loss` of a functional
    model raises NotImplementedError, too.
    `self.add_loss(tensor)` in the `call` or `build` of a layer works.
    Metrics are made in `__init__` and updated in `call`; a state that is to change is assigned in `call`.

    ## Example
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def call(self, x):
            self.add_metric(tf.reduce_mean(x), name="mean")
            return 2 * x
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.mean = tf.keras.metrics.Mean(name="mean")

        def call(self, x):
            self.mean.update_state(x)
            return 2 * x
    ```

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    """

    code = "TF315"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    targets = frozenset({Target.KERAS3})
    supersedes = ("TF309", "TF310")
    methods = ("add_loss", "add_metric", "add_update")
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a method that is Keras's own, of a layer, a metric or a model."""
        if call.version_checked or is_tried(call, _HANDLED) or any(entity.kind != "external" for entity in call.found):
            return
        kinds = {member.kind for name in call.names for member in [member_of(name)] if member is not None}
        if not kinds or not kinds <= set(_KINDS) or len(kinds) != len(call.names):
            return
        if any(name.spelled.startswith("tf_keras") for name in call.names):
            return
        if call.method == "add_metric" and "Metric" not in kinds:
            yield self.report(
                call,
                f"`{call.path}` raises NotImplementedError with Keras 3. Make a metric in `__init__`, and call its "
                "`update_state`.",
            )
        elif call.method == "add_update":
            yield self.report(
                call, f"`{call.path}` raises AttributeError with Keras 3. Assign to the variable in `call`."
            )
        elif call.method == "add_loss" and _is_functional(call):
            yield self.report(
                call,
                f"`{call.path}` raises NotImplementedError with Keras 3: the model is a functional one. Add the loss "
                "in the `call` of a layer.",
            )


def _is_functional(call: Call) -> bool:
    """Whether the receiver is a name for what `keras.Model(inputs, outputs)` itself gives."""
    receiver = (call.path or "").rpartition(".")[0]
    around = call.file.assignments_by_function.get(call.scope.function().id, [])
    made = [assignment.value_call for assignment in around if assignment.path == receiver]
    return bool(made) and all(one is not None and one.name == "keras.Model" and one.arguments for one in made)
