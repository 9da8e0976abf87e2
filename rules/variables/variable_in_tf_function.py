"""TF105: a variable that is created while a graph is traced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .constructors import (
    FILLED,
    SEED_GENERATOR,
    VARIABLES,
    for_absent_argument,
    in_lambda_layer,
    inside_other,
    is_called,
    is_layer,
    is_variable,
    may_be_guarded,
    reached,
)
from .hoisting import is_known_to_module, moved_before

if TYPE_CHECKING:
    import libcst


class VariableInTfFunction(Rule):
    """Traced code creates a variable, or a layer with variables, each time it is traced.

    ## Why
    A `tf.function` may create variables at its first call only, and its first call traces twice if it creates any: the
    second trace raises
    `ValueError: tf.function only supports singleton tf.Variables created on the first call`.
    The same holds for all that Keras and tf.data trace: `train_step`, custom losses and metrics, `Dataset.map`.
    `tf.init_scope` alone does not help, since the second trace creates the variable again.
    In a forward pass this is `variable-in-call` or `layer-in-call`.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def scaled(x):
        factor = tf.Variable(2.0)
        return x * factor
    ```

    ## Fix
    ```python
    import tensorflow as tf

    factor = tf.Variable(2.0)

    @tf.function
    def scaled(x):
        return x * factor
    ```

    ## Fix safety
    Unsafe: the variable is made when the module is imported, outside of any strategy's scope that is opened later, and
    keeps its value from one call to the next, as it did in a graph of TF1.
    There is one for a local name of a function of the module, set once and in no branch to what the module knows by
    then.

    ## Source
    - https://www.tensorflow.org/guide/function#creating_tfvariables
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF105"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    fixes_function = True
    calls = (*sorted(VARIABLES), *FILLED, SEED_GENERATOR, "keras.layers.*", "keras.applications.*", "keras.Sequential")
    creates = ("layer", "module")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the creation of a variable or a layer."""
        if call.in_forward or call.guarded or not call.runs(Context.TRACED, without=Context.ONCE):
            return
        layer = is_layer(call)
        if not layer and not is_variable(call):
            return
        runs = for_absent_argument(call, Context.TRACED)
        if runs is False or in_lambda_layer(call) or (layer and inside_other(call)):
            return
        what = "makes a layer with variables" if layer else "creates a variable"
        unproven = runs is None or may_be_guarded(call, Context.TRACED)
        by_keras = not call.runs(Context.TRACED, without=Context.FIT | Context.ONCE)
        when = "under `fit`, the second trace" if by_keras else "the second trace"
        yield self.report(
            call,
            f"`{call.path}` {what} in every trace, {reached(call, Context.TRACED)}: {when} raises ValueError (only "
            "singleton tf.Variables created on the first call). Create it outside, or only while it is missing.",
            Severity.INFO if unproven or (layer and not is_called(call, Context.TRACED)) else None,
            related=call.callers(Context.TRACED),
        )

    def fix(self, node: libcst.FunctionDef, site: Call) -> Replacement | None:
        """Make it before the function."""
        if may_be_guarded(site, Context.TRACED) or not is_known_to_module(site):
            return None
        moved = moved_before(node, site)
        reason = "it is made when the module is imported, and keeps its value from one call to the next"
        return None if moved is None else Replacement(moved, Applicability.UNSAFE, reason)
