"""TF303: callbacks that print what has no value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...linter.rule_api.model import Call, ClassSite, FunctionSite, Target, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity

_PRINTS = ("print", "tensorflow.print", "tensorflow.Print")
_SYMBOLIC = re.compile(
    r"(?:keras\.(?:Model|Sequential|layers\.[A-Z]\w*)\(\)|keras\.callbacks\.\w+\(\)\.model)"
    r"(?:\.layers\[\]|\.get_layer\(\))*\.(?:inputs?|outputs?)(?:\[\])*"
    r"|keras\.Input\(\)|keras\.layers\.(?!Input\b)[A-Z]\w*\(\)\(\)"
)
"""Canonical names of what a functional model is made of: its inputs, and what its layers give."""


class PrintInLambdaCallback(Rule):
    """A callback prints a symbolic tensor of the model, which has a shape and no value.

    ## Why
    `model.output`, `layer.output` and the result of `keras.Input` describe a graph of layers.
    When a callback runs they hold no numbers of the batch: `print`, and `tf.print` on Keras 3, show the same
    `<KerasTensor shape=...>` every time, and `tf.print` raises TypeError on Keras 2.
    So intermediate outputs cannot be printed from a `LambdaCallback`; weights and `logs` can.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    show = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: tf.print(model.output))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Show(tf.keras.layers.Layer):
        def call(self, inputs):
            tf.print(inputs)
            return inputs

    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1), Show()])
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/migration_debugging
    - https://www.tensorflow.org/api_docs/python/tf/keras/callbacks/LambdaCallback
    """

    code = "TF303"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    calls = ("keras.callbacks.LambdaCallback",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the functions given to a `LambdaCallback`."""
        seen: set[int] = set()
        for keyword in call.keywords:
            function = call.function_given(keyword)
            if function is not None and function.body.id not in seen:
                seen.add(function.body.id)
                yield from self._prints(function, f"the `{keyword}` function")

    def on_class(self, cls: ClassSite) -> Iterator[Diagnostic]:
        """Judge the methods of a callback."""
        if "callback" in cls.kinds:
            for name, method in cls.methods.items():
                if name.startswith("on_"):
                    yield from self._prints(method, f"`{cls.name}.{name}`")

    def _prints(self, function: FunctionSite, place: str) -> Iterator[Diagnostic]:
        for call in function.calls:
            if call.name not in _PRINTS or len(call.found) != len(call.names):
                continue
            for argument in call.arguments:
                shown = next((part for part in _parts(argument) if _is_symbolic(call, part)), None)
                if shown is not None:
                    raises = call.name != "print" and call.target is Target.KERAS2
                    happens = "raises TypeError" if raises else "shows the same `<KerasTensor ...>` each time"
                    yield self.report(
                        call,
                        f"{place} prints `{ast.unparse(shown)}`, which is symbolic: it has no value when a callback "
                        f"runs, and this {happens}. Print in the `call` of a layer instead.",
                        Severity.ERROR if raises else None,
                        consequence=Consequence.BREAKS if raises else None,
                        subject=ast.unparse(shown),
                    )
                    break


def _parts(argument: ast.expr) -> Iterator[ast.expr]:
    """What is shown as it is: the argument, its items, and what a formatted string holds."""
    stack = [argument]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Tuple | ast.List):
            stack.extend(node.elts)
        elif isinstance(node, ast.JoinedStr):
            stack.extend(value.value for value in node.values if isinstance(value, ast.FormattedValue))
        elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant):
            stack.append(node.right)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            stack.extend(node.args)
        else:
            yield node


def _is_symbolic(call: Call, node: ast.expr) -> bool:
    names = call.file.names(call.scope, path_of(node))
    return bool(names) and all(_SYMBOLIC.fullmatch(name.canonical) for name in names)
