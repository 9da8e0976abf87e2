"""TF312: a weight whose name is given where Keras 3 takes a shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, File, Target
from ...linter.rule_api.rewriting import keyworded
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_ADDERS = ("add_weight", "add_variable")
_KINDS = frozenset({"layer", "model", "metric"})
_TEXTS = frozenset({"format", "join", "lower", "replace", "upper"})
_ORDER = ("name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint")


class AddWeightPositionalName(Rule):
    """`add_weight` is given a name first, where Keras 3 takes a shape.

    ## Why
    Keras 2 declares `add_weight(name, shape, dtype, initializer, ...)`, Keras 3 `add_weight(shape, initializer, ...)`.
    A name that is given by position raises when the layer is built: `ValueError: name must be passed as a keyword
    argument`, for metrics and `add_variable` another ValueError or TypeError.
    So does any first argument beside `shape=...`, which is then given twice.
    With all arguments by keyword, the call works with both.

    ## Example
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight("factor", [input_shape[-1]])

        def call(self, inputs):
            return inputs * self.factor
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight(name="factor", shape=[input_shape[-1]])

        def call(self, inputs):
            return inputs * self.factor
    ```

    ## Fix safety
    Safe: the arguments are given by the names that Keras 2 has for them, in its order.
    There is no fix where a metric is given more than a name and a shape: Keras 2 has another order of the rest there.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/api/layers/base_layer/#addweight-method
    """

    code = "TF312"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL
    targets = frozenset({Target.KERAS3})
    methods = _ADDERS
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the first argument of a layer's, model's or metric's own method."""
        receiver, _, method = (call.path or "").rpartition(".")
        owner = call.class_of_self(receiver) if receiver.isidentifier() else None
        first = call.call.args[0] if call.call.args else None
        if owner is None or owner.kinds.isdisjoint(_KINDS) or owner.defines(method) or call.version_checked:
            return
        if first is None or isinstance(first, ast.Starred):
            return
        if _is_text(call, first):
            given = [f"{name}=..." for name, _ in zip(_ORDER, call.call.args, strict=False)]
            yield self.report(
                call,
                f"`{call.path}` is given its name first, where Keras 3 takes a shape: that raises. Give "
                f"{' and '.join(f'`{one}`' for one in given)} by keyword.",
            )
        elif "shape" in call.keywords:
            yield self.report(
                call,
                f"`{call.path}` is given `{ast.unparse(first)}` first, which is the shape for Keras 3, and `shape=` "
                "too: that raises. Give all arguments by keyword.",
            )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give all arguments by keyword."""
        owner = site.class_of_self((site.path or "").rpartition(".")[0])
        order = _ORDER[:2] if owner is None or "metric" in owner.kinds else _ORDER
        new = keyworded(node, order)
        given = [one.keyword.value for one in new.args if one.keyword is not None] if new is not None else []
        return Replacement(new) if new is not None and len(set(given)) == len(given) else None


def _is_text(call: Call, value: ast.expr) -> bool:
    """Whether a value is surely a text."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.Add | ast.Mod) and (_is_text(call, value.left) or _is_text(call, value.right))
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in _TEXTS and _is_text(call, value.func.value)
    if isinstance(value, ast.Name):
        assigned = call.file.once("assignments by name", lambda: _assigned(call.file))
        made = assigned.get((call.scope.id, value.id), [])
        return bool(made) and all(not isinstance(one, ast.Name) and _is_text(call, one) for one in made)
    return isinstance(value, ast.JoinedStr)


def _assigned(file: File) -> dict[tuple[int, str], list[ast.expr]]:
    """What is assigned to names, by the scope."""
    found: dict[tuple[int, str], list[ast.expr]] = {}
    for assignment in file.assignments:
        if assignment.kind == "name" and assignment.path is not None:
            value = assignment.value if assignment.value is not None else assignment.syntax
            if isinstance(value, ast.expr):
                found.setdefault((assignment.scope.id, assignment.path), []).append(value)
    return found
