"""TF212: a Python list that grows in a loop which AutoGraph makes an operation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, FunctionSite, Site, nodes_below, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .autograph import converted_trace_of, is_tensor
from .traces import is_container

_GROWING = ("append", "extend", "insert")


class ListAppendInTensorLoop(Rule):
    """A list from outside grows in a loop over a tensor, whose body is traced once.

    ## Why
    AutoGraph makes `for i in tf.range(n)`, a loop over a tensor or a dataset and `while tensor` one operation.
    Its body runs once in Python, so that the list gets one entry, which belongs to the graph of the body: using it
    after the loop raises `InaccessibleTensorError`.
    An entry that was made before the loop raises nothing, and is there once.
    A loop over Python's `range` is unrolled, and its list is as expected; a `tf.TensorArray` works in both.
    `tf.autograph.experimental.set_element_type`, which older guides name, is not in TensorFlow 2.21.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def powers(x):
        found = []
        for i in tf.range(3):
            x = x * x
            found.append(x)
        return tf.stack(found)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def powers(x):
        found = tf.TensorArray(tf.float32, size=3)
        for i in tf.range(3):
            x = x * x
            found = found.write(i, x)
        return found.stack()
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#accumulating_values_in_a_loop
    """

    code = "TF212"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF205", "TF209")
    methods = _GROWING

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a method of a local list by the loop around it."""
        function, receiver = call.function, call.receiver
        if function is None or not isinstance(receiver, ast.Name) or not call.discarded or not call.loops:
            return
        if not call.runs(Context.TRACED) or call.scope is not function.body:
            return
        made = call.file.changes.values(function.body, receiver.id)
        if not made or not all(is_container(call, value) for value in made):
            return
        loop = _tensor_loop(call)
        if loop is None or _is_made_in(function, receiver.id, loop) or not _is_read_after(function, receiver.id, loop):
            return
        trace = converted_trace_of(call)
        if trace is None:
            return
        yield self.report(
            call,
            f"{trace.under[:1].upper()}{trace.under[1:]}, this loop is one operation whose body is traced once: "
            f"`{receiver.id}` gets one entry, which raises InaccessibleTensorError after the loop. Use a "
            "`tf.TensorArray`.",
            trace.severity(Severity.ERROR if trace.raises else Severity.WARNING),
            subject=receiver.id,
            related=trace.callers,
        )


def _tensor_loop(call: Call) -> ast.For | ast.While | None:
    """The innermost loop around a call that surely becomes an operation."""
    for level in call.block.holders():
        if level.kind != "loop" or level.parent is None:
            continue
        site = Site(call.file, level.node, level.scope, level.parent)
        if isinstance(level.node, ast.For) and _is_symbolic(site, level.node.iter):
            return level.node
        if isinstance(level.node, ast.While) and is_tensor(
            Site(call.file, level.node, level.scope, level), level.node.test
        ):
            return level.node
    return None


def _is_symbolic(site: Site, node: ast.expr) -> bool:
    """Whether AutoGraph makes a loop over it an operation: a tensor, a dataset, `range` of a tensor."""
    if isinstance(node, ast.Call) and path_of(node.func) == "range":
        return any(is_tensor(site, part) for part in node.args)
    if isinstance(node, ast.Call) and path_of(node.func) == "enumerate" and node.args:
        return _is_dataset(site, node.args[0])
    return is_tensor(site, node) or _is_dataset(site, node)


def _is_dataset(site: Site, node: ast.expr) -> bool:
    names = site.names_of(node)
    return bool(names) and all(
        name.canonical.startswith("tensorflow.data.Dataset.") and name.canonical.endswith("()") for name in names
    )


def _is_made_in(function: FunctionSite, name: str, loop: ast.AST) -> bool:
    """Whether the list begins anew in each iteration."""
    inside = {id(node) for node in nodes_below(loop)}
    return any(a.path == name and not a.augmented and id(a.syntax) in inside for a in function.assignments)


def _is_read_after(function: FunctionSite, name: str, loop: ast.stmt) -> bool:
    """Whether something after the loop uses the list, other than to grow it or to ask for its length."""
    end = loop.end_lineno or loop.lineno
    return any(
        reference.line > end
        and (reference.path or "").partition(".")[0].partition("[")[0] == name
        and not (reference.called and (reference.path or "").rpartition(".")[2] in _GROWING)
        for reference in function.references
    )
