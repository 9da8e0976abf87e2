"""TF201: `print` where Python runs once per trace."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .traces import SYMBOLIC, is_failing, is_static, trace_of, values_in

_MARKS = ("trac", "compil", "build")


class PrintInTfFunction(Rule):
    """`print` in traced code prints once per trace, and shows a symbolic tensor.

    ## Why
    The body of a `tf.function`, of what Keras traces under `fit`, and of what a `tf.data` transformation is given runs
    in Python only while the graph is built.
    `print` therefore shows `Tensor("add:0", shape=(1,), dtype=float32)` once, and nothing at the calls that follow.
    A print of nothing but text is an idiomatic way to see when a function is traced, and is only mentioned.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def add(num):
        num = tf.add(num, 1)
        print(num)
        return num
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def add(num):
        num = tf.add(num, 1)
        tf.print(num)
        return num
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    - https://www.tensorflow.org/guide/migrate/migration_debugging
    """

    code = "TF201"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    calls = ("print", "pprint.pprint", "pprint.pp")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a print by what it shows."""
        trace = trace_of(call)
        if trace is None or is_failing(call):
            return
        shown = [value for argument in call.call.args for value in values_in(argument)]
        if not shown and (trace.made_once or any(mark in call.text.lower() for mark in _MARKS)):
            return  # a marker of the trace itself
        writer = call.method or "print"
        tensors = [value for value in shown if call.is_tensor(value) in SYMBOLIC]
        if trace.made_once or all(is_static(call, value) for value in shown):
            yield self.report(
                call,
                f"This `{writer}` runs {trace.once}. If it is not meant to mark the trace, use `tf.print`.",
                Severity.INFO,
                related=trace.callers,
            )
            return
        symbolic = ", and shows a symbolic tensor instead of its value" if tensors else ""
        yield self.report(
            call,
            f"This `{writer}` runs {trace.once}{symbolic}. Use `tf.print`, which is part of the graph.",
            trace.severity(Severity.WARNING),
            related=trace.callers,
        )
