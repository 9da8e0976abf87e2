"""TF102: a layer that is created at every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .constructors import SEEDED, inside_other, is_called, is_layer, is_unproven, reached, runs_each_call
from .hoisting import around, hoisted

if TYPE_CHECKING:
    import libcst

_REASON = "the layer keeps its weights from one call to the next"


class LayerInCall(Rule):
    """The forward pass makes a layer: each call computes with fresh weights that nothing trains.

    ## Why
    A layer that is made in `call`, or in a function that `call` runs, has new initial weights at each eager call.
    The outputs differ from call to call, the weights are in no `model.weights`, and no optimizer or checkpoint knows
    them.
    Under `fit` the second trace raises
    `ValueError: tf.function only supports singleton tf.Variables created on the first call`.

    Layers that have no variables (`Flatten`, `ReLU`, `Concatenate`, ...) may be made anywhere.
    `Dropout` and its kind have none with Keras 2, but a seed generator's state with Keras 3.
    A layer that is made only while it is missing is made once.
    One that is handed on, instead of being called on the spot, may have another fate: that is informational.

    ## Example
    ```python
    import tensorflow as tf

    class Block(tf.keras.layers.Layer):
        def call(self, inputs):
            return tf.keras.layers.Dense(64)(inputs)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Block(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(64)

        def call(self, inputs):
            return self.dense(inputs)
    ```

    ## Fix safety
    Unsafe: it keeps its weights from one call to the next, as it was meant to, and is made in the constructor.
    It is offered where the forward pass makes it once and in no branch, with constants, names of the module and
    attributes that the constructor alone sets.


    ## Source
    - https://www.tensorflow.org/guide/migrate/validate_correctness
    - https://www.tensorflow.org/guide/migrate/model_mapping
    - https://keras.io/guides/migrating_to_keras_3/
    """

    code = "TF102"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF103", "TF104", "TF106", "TF109", "TF302")
    calls = ("keras.layers.*", "keras.applications.*", "keras.Sequential")
    creates = ("layer", "module")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a layer's construction."""
        if not runs_each_call(call) or not is_layer(call) or inside_other(call):
            return
        where = reached(call, Context.FORWARD)
        if call.name.rpartition(".")[2] in SEEDED:
            message = (
                f"`{call.path}` is made at every call, {where}: with Keras 3 it creates the state of a seed "
                "generator, so that each call repeats or restarts its random numbers, and under `fit` the second "
                "trace raises ValueError. Make it once, in `__init__`."
            )
        else:
            traced = "under `fit`" if call.runs(Context.FORWARD | Context.FIT) else "in a `tf.function`"
            message = (
                f"`{call.path}` is made at every call, {where}: eagerly, each call has fresh weights that nothing "
                f"tracks or trains; {traced}, the second trace raises ValueError. Make it once, in `__init__`."
            )
        severity = Severity.INFO if is_unproven(call) or not is_called(call, Context.FORWARD) else None
        yield self.report(call, message, severity, related=call.callers(Context.FORWARD))

    def fixed_part(self, site: Call) -> ast.stmt | None:
        """The class."""
        return around(site)

    def fix(self, node: libcst.ClassDef, site: Call) -> Replacement | None:
        """Make it in the constructor."""
        new = hoisted(node, site)
        return None if new is None else Replacement(new, Applicability.UNSAFE, _REASON)
