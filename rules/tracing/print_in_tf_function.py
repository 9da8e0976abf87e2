"""TF201: `print` where Python runs once per trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Target
from ...linter.rule_api.rewriting import with_function
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .traces import SYMBOLIC, Trace, is_failing, is_static, trace_of, values_in

if TYPE_CHECKING:
    import libcst

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

    ## Fix safety
    Safe where the print surely stands in the trace of a `tf.function` or a `tf.data` transformation and shows a
    symbolic tensor: nothing that is computed changes, and `tf.print` shows the value, on the standard error.
    Unsafe where it shows no tensor for sure, and may be meant to mark the trace.
    Unsafe under the `fit` of Keras 3: XLA, which that uses on a GPU by itself, cannot print.
    There is no fix for a tensor within a text (an f-string, `%` or `format`), nor where `file=` or `flush=` is given.

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

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Print with TensorFlow."""
        trace = trace_of(site)
        written = site.importable("tensorflow.print")
        shown = [value for argument in site.call.args for value in values_in(argument)]
        if trace is None or written is None or site.name != "print" or not site.discarded or not shown:
            return None
        if site.has_stars or not set(site.keywords) <= {"sep", "end"} or not all(map(_is_passed_on, site.call.args)):
            return None
        if any(not isinstance(site.literal(keyword), str) for keyword in site.keywords):
            return None
        reason = _doubt(site, trace, any(site.is_tensor(value) in SYMBOLIC for value in shown))
        new = with_function(node, written[0])
        return Replacement(new, Applicability.UNSAFE if reason else Applicability.SAFE, reason, written[1])


def _is_passed_on(argument: ast.expr) -> bool:
    """Whether what is printed is itself, and no text that is made of it while the graph is traced."""
    if isinstance(argument, ast.Tuple | ast.List):
        return all(map(_is_passed_on, argument.elts))
    return [*values_in(argument)] in ([], [argument])


def _doubt(site: Call, trace: Trace, shows_tensor: bool) -> str:
    """Why a person has to look at a print that becomes TensorFlow's, or an empty text."""
    if trace.how == "fit" and site.target is Target.KERAS3:
        return "XLA, which `fit` uses on a GPU by itself, cannot print"
    if not shows_tensor or not trace.proven or trace.made_once:
        return "it may be meant to mark the trace"
    return ""
