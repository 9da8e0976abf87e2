"""TF101: a variable that is created at every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context, Target
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .constructors import FILLED, SEED_GENERATOR, VARIABLES, is_unproven, is_variable, reached, runs_each_call
from .hoisting import around, hoisted

if TYPE_CHECKING:
    import libcst

_REASON = "the variable keeps its value from one call to the next"
class VariableInCall(Rule):
    """The forward pass creates a variable: each call of the layer, model or module starts from a new one.

    ## Why
    Eagerly, `call` is plain Python: a `tf.Variable` in it is made anew at each call, starts from its initial value, and
    is neither trained nor saved.
    Under `fit`, as in any `tf.function`, the second trace raises
    `ValueError: tf.function only supports singleton tf.Variables created on the first call`.
    TF1 built its graph once, so the same code was right there.

    A variable that is made only while it is missing (`if self.v is None`, `if not hasattr(self, "v")`) is created once,
    however the test is written; an info says that it may be so.
    `tf.init_scope` is no such guard, and neither are `if training:`, `dict.setdefault(key, tf.Variable(...))`, whose
    argument is evaluated each time, nor the `track_tf1_style_variables` shim, which keeps `get_variable` only.

    ## Example
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def call(self, inputs):
            factor = tf.Variable(2.0)
            return inputs * factor
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight(name="factor", shape=(), initializer=tf.keras.initializers.Constant(2.0))

        def call(self, inputs):
            return inputs * self.factor
    ```

    ## Fix safety
    Unsafe: it keeps its value from one call to the next, as it was meant to, and is trained.
    It is offered where the forward pass makes it once and in no branch, with constants, names of the module and
    attributes that the constructor alone sets; with Keras 3, not for a `tf.Variable` in a layer,
    which would not track it.

    ## Source
    - https://www.tensorflow.org/guide/migrate/validate_correctness
    - https://www.tensorflow.org/guide/migrate/model_mapping
    - https://www.tensorflow.org/guide/function#creating_tfvariables
    """

    code = "TF101"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF109", "TF302")
    calls = (*sorted(VARIABLES), *FILLED, SEED_GENERATOR)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a variable's creation."""
        if not runs_each_call(call) or not is_variable(call):
            return
        kept = next((path for path in call.assigned_to if path.startswith("self.")), None)
        lost = (
            f"each call replaces `{kept}`, and what it had learned is lost"
            if kept and call.target is Target.KERAS2
            else "eagerly, each call starts from a new variable that is neither trained nor saved"
        )
        by_keras = call.runs(Context.FORWARD | Context.FIT)
        traced = "under `fit`" if by_keras else "in a `tf.function`"
        remedy = "in `build`, with `self.add_weight`" if by_keras else "in `__init__`"
        yield self.report(
            call,
            f"`{call.path}` creates a variable at every call, {reached(call, Context.FORWARD)}: {lost}; "
            f"{traced}, the second trace raises ValueError. Create it once, {remedy}.",
            Severity.INFO if is_unproven(call) else None,
            related=call.callers(Context.FORWARD),
        )

    def fixed_part(self, site: Call) -> ast.stmt | None:
        """The class."""
        return around(site)

    def fix(self, node: libcst.ClassDef, site: Call) -> Replacement | None:
        """Make it in the constructor."""
        if site.target is Target.KERAS3 and (site.cls is None or site.cls.is_keras):
            return None
        new = hoisted(node, site)
        return None if new is None else Replacement(new, Applicability.UNSAFE, _REASON)
