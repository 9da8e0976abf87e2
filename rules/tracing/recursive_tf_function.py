"""TF217: a `tf.function` that calls itself and leaves the end to a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, FunctionSite, Site
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .autograph import is_tensor
from .traces import trace_of

_BRANCHING = frozenset({"tensorflow.cond", "tensorflow.case", "tensorflow.switch_case", "tensorflow.while_loop"})
_HARMLESS = frozenset({"body", "with"})


class RecursiveTfFunction(Rule):
    """A `tf.function` calls itself under a test of a tensor, and is traced without end.

    ## Why
    A graph has no calls that depend on a value: both branches of a tensor's `if`, and both functions of `tf.cond`, are
    traced, and in one of them the function traces itself again.
    TensorFlow ends that with a `StagingError` for the maximum recursion depth.
    Recursion that a Python number, a static shape, the length of a list or a `None` ends is unrolled and works.
    What is tested must surely be a tensor; a circle of several functions is not looked for.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def factorial(n: tf.Tensor):
        if n > 1:
            return n * factorial(n - 1)
        return n
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def factorial(n: tf.Tensor):
        result = tf.ones_like(n)
        while n > 1:
            result = result * n
            n = n - 1
        return result
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#recursive_tffunctions_are_not_supported
    """

    code = "TF217"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge the calls of itself in a function that is decorated."""
        if not function.body.decorators or isinstance(function.syntax, ast.Lambda):
            return
        if not any(name.canonical.removesuffix("()") == "tensorflow.function" for name in function.decorators):
            return
        for call in _calls_of(function):
            why = _end_of(call, function)
            trace = trace_of(call) if why is not None else None
            if why is None or trace is None:
                continue
            yield self.report(
                call,
                f"`{function.name}` calls itself {why}: a `tf.function` is then traced without end, and this raises "
                "for the recursion depth. Write a loop, or recurse over a Python value.",
                trace.severity(Severity.ERROR),
                subject=function.name,
            )
            return


def _calls_of(function: FunctionSite) -> Iterator[Call]:
    """The calls of a function in its own body, and in what it gives to `tf.cond` and its like."""
    for call in function.calls:
        if any(entity.kind == "function" and entity.key == function.key for entity in call.found):
            yield call
        if call.name not in _BRANCHING:
            continue
        for value in call.arguments:
            if isinstance(value, ast.Lambda):
                inner = function.file.function_of(function.file.index.lambda_scope(value))
                for other in inner.calls:
                    if any(entity.kind == "function" and entity.key == function.key for entity in other.found):
                        yield other


def _end_of(call: Call, function: FunctionSite) -> str | None:
    """What decides about a call, if that is no Python value: nothing at all, or a tensor."""
    tested = call.scope.function() is not function.body
    for level in call.block.chain():
        if level.kind in _HARMLESS:
            continue
        if level.parent is None or level.kind not in ("if", "else") or not isinstance(level.node, ast.expr):
            return None
        if not is_tensor(Site(call.file, level.node, level.scope, level.parent), level.node):
            return None
        tested = True
    if tested:
        return "where a tensor decides, which traces both branches"
    return "in any case" if len(call.found) == 1 else None
