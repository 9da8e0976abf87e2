"""TF320: functions for variables of TensorFlow that are given a variable of Keras 3."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..tf1_api.signatures import is_tried
from .members import kind_of

_ASSIGN = "Use its own `assign`"
_VALUE = "Give it the `value` of each, which is one; or `use_ema=True` to the optimizer, for what it trains"
_FUNCTIONS = {
    "tensorflow.GradientTape().watch": "A tape watches it anyway",
    "tensorflow.assign": _ASSIGN,
    "tensorflow.assign_add": "Use its own `assign_add`",
    "tensorflow.assign_sub": "Use its own `assign_sub`",
    "tensorflow.scatter_add": _ASSIGN,
    "tensorflow.scatter_nd_update": _ASSIGN,
    "tensorflow.scatter_update": _ASSIGN,
    "tensorflow.train.ExponentialMovingAverage().apply": _VALUE,
    "tensorflow.train.ExponentialMovingAverage().average": _VALUE,
    "keras.backend.batch_set_value": _ASSIGN,
    "keras.backend.dtype": "Use its `dtype`, which is a text",
    "keras.backend.mean": "Use `keras.ops.mean`",
    "keras.backend.set_value": _ASSIGN,
    "keras.backend.std": "Use `keras.ops.std`",
    "keras.backend.update": _ASSIGN,
    "keras.backend.update_add": "Use its own `assign_add`",
    "keras.backend.update_sub": "Use its own `assign_sub`",
    "keras.backend.var": "Use `keras.ops.var`",
}
_HANDLED = frozenset({"AttributeError", "ValueError", "Exception", "BaseException"})


class TfFunctionOnKeras3Variable(Rule):
    """A weight or a learning rate of Keras 3 is given to a function that takes variables of TensorFlow alone.

    ## Why
    What `add_weight` gives, the weights of a layer and the learning rate of an optimizer are `keras.Variable` in
    Keras 3, no `tf.Variable`.
    `tf.keras.backend.set_value(optimizer.learning_rate, 0.01)`, `K.update`, `tf.compat.v1.assign` and
    `tape.watch` raise AttributeError or ValueError for one.
    `isinstance(weight, tf.Variable)` is False, without a word.
    The variables' own methods, `assign`, `assign_add` and `numpy`, work with both Kerases.

    ## Example
    ```python
    import tensorflow as tf

    class Slower(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            tf.keras.backend.set_value(self.model.optimizer.learning_rate, 0.01)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Slower(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.optimizer.learning_rate.assign(0.01)
    ```

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/api/ops/
    """

    code = "TF320"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL
    targets = frozenset({Target.KERAS3})
    supersedes = ("TF309", "TF406")
    calls = (*_FUNCTIONS, "isinstance")
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the first argument, and the items of a list."""
        if call.version_checked or is_tried(call, _HANDLED) or any(entity.kind != "external" for entity in call.found):
            return
        asks = call.name == "isinstance"
        given = next((n for n in _variables(call) if _is_variable(call, n) or (not asks and _is_list(call, n))), None)
        if given is None:
            return
        shown = f"`{ast.unparse(given)}`"
        shown = shown if len(shown) < 50 else "what it is given"
        if asks:
            if _asks_for_tensorflow(call):
                yield self.report(
                    call,
                    f"{shown} is a variable of Keras 3 and no `tf.Variable`: the test is always False.",
                    consequence=Consequence.CHANGES,
                )
        elif all(name.canonical in _FUNCTIONS for name in call.names):
            is_gone = all(name.spelled.startswith("keras.backend.") for name in call.names)
            what = "which holds variables" if _is_list(call, given) else "which is a variable"
            why = f"raises for {shown}, {what} of Keras 3 and none of TensorFlow"
            why = f"is gone from Keras 3, and {shown} is a variable of it" if is_gone else why
            yield self.report(call, f"`{call.path}` {why}. {_FUNCTIONS[call.name]}.")


def _variables(call: Call) -> Iterator[ast.expr]:
    """What is judged: the first argument, the items of one that is a list, and the first of their pairs."""
    first = call.arguments[0] if call.arguments else None
    if isinstance(first, ast.List | ast.Tuple):
        for item in first.elts:
            yield item.elts[0] if isinstance(item, ast.Tuple) and item.elts else item
    while isinstance(first, ast.BinOp):
        first = first.left  # of several lists
    if first is not None and not isinstance(first, ast.List | ast.Tuple):
        yield first


def _is_variable(call: Call, node: ast.expr, part: str = "") -> bool:
    names = call.names_of(node)
    return bool(names) and all(
        kind_of(name.canonical + part) == "Variable" and not name.spelled.startswith("tf_keras") for name in names
    )


def _is_list(call: Call, node: ast.expr) -> bool:
    """Whether it gives the variables of a layer or model."""
    return _is_variable(call, node, "[]")


def _asks_for_tensorflow(call: Call) -> bool:
    """Whether the test is for `tf.Variable` alone."""
    names = call.names_of(call.call.args[1]) if len(call.call.args) == 2 else ()
    return bool(names) and all(name.canonical == "tensorflow.Variable" for name in names)
