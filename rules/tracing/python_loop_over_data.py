"""TF220: a Python loop that a trace unrolls into a large graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Context, FunctionSite, Site, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .autograph import loops_in
from .traces import SYMBOLIC, trace_of

_MANY = 100
_FILLED = ("zeros", "ones", "empty", "full", "random.rand", "random.randn", "random.random", "random.normal")
"""Makers of arrays whose shape comes first, or is their ``size``."""


class PythonLoopOverData(Rule):
    """A Python loop of many rounds in traced code is unrolled into the graph.

    ## Why
    A loop over Python's `range`, a list or a NumPy array runs while tracing: the graph gets the operations of its body
    once for each round.
    A body of 4 operations in `range(100)` makes 405 nodes, in `tf.range(100)` 35, whatever the number; tracing and
    memory grow with it, and data that is looped over is stored in the graph.
    Only loops are reported whose number of rounds is in the code and at least 100, and whose body has an operation: a
    loop over layers, over a few steps or over what is not known is left alone.
    No run decides this: that the body is in the graph so often is certain, and whether that is too much is not.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def walk(x):
        for _ in range(1000):
            x = x + tf.random.normal(tf.shape(x))
        return x
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def walk(x):
        for _ in tf.range(1000):
            x = x + tf.random.normal(tf.shape(x))
        return x
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#looping_over_python_data
    """

    code = "TF220"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge the loops of a traced function by their number of rounds."""
        if not function.runs(Context.TRACED):
            return
        for site, loop in loops_in(function):
            rounds = _rounds(site, site.syntax) if isinstance(site.syntax, ast.Call | ast.Name | ast.Attribute) else 0
            if rounds < _MANY or not isinstance(loop, ast.For) or not _has_operation(function, loop):
                continue
            trace = trace_of(site)
            if trace is None or trace.made_once:
                continue
            yield self.report(
                site,
                f"{trace.under[:1].upper()}{trace.under[1:]}, this Python loop is unrolled: the graph holds its body "
                f"{rounds} times. Loop over `tf.range` or a `tf.data.Dataset`.",
                trace.severity(Severity.WARNING),
                subject=ast.unparse(site.syntax),
                related=trace.callers,
            )


def _has_operation(function: FunctionSite, loop: ast.For) -> bool:
    """Whether the body makes a tensor, other than in a loop that ends at once."""
    if any(isinstance(part, ast.Break | ast.Return) for part in ast.walk(loop)):
        return False
    return any(
        loop in call.loops and call.name.startswith(("tensorflow.", "keras.")) and call.is_tensor(call.call) in SYMBOLIC
        for call in function.calls
    )


def _rounds(site: Site, node: ast.AST) -> int:
    """How many items a loop goes through, as the code says; 0 where it does not."""
    if isinstance(node, ast.Name | ast.Attribute):
        value = _value(site, node)
        return _length(site, value) if isinstance(value, ast.Call) else 0
    if not isinstance(node, ast.Call):
        return 0
    name = next((n.canonical for n in site.names_of(node.func)), "")
    if name == "enumerate" and node.args:
        return _rounds(site, node.args[0])
    if name != "range":
        return _length(site, node)
    bounds = [_number(site, part) for part in node.args]
    if not bounds or len(bounds) > 3 or any(bound is None for bound in bounds):
        return 0
    numbers = [bound for bound in bounds if bound is not None]
    return len(range(*numbers)) if len(numbers) < 3 or numbers[2] else 0


def _length(site: Site, node: ast.Call) -> int:
    """The length of an array that a call of NumPy makes of numbers in the code."""
    name = next((n.canonical for n in site.names_of(node.func)), "")
    if not name.startswith("numpy."):
        return 0
    if name == "numpy.arange" and len(node.args) == 1:
        return _number(site, node.args[0]) or 0
    if name == "numpy.linspace" and len(node.args) > 2:
        return _number(site, node.args[2]) or 0
    if name.removeprefix("numpy.") not in _FILLED:
        return 0
    sizes = [k.value for k in node.keywords if k.arg in ("size", "shape")]
    if not sizes and not name.endswith(".normal"):
        sizes = node.args[:1]
    first = sizes[0].elts[0] if sizes and isinstance(sizes[0], ast.Tuple) and sizes[0].elts else next(iter(sizes), None)
    return (_number(site, first) or 0) if first is not None else 0


def _number(site: Site, node: ast.expr) -> int | None:
    """A number that the code states, itself or by the only value of a name."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _number(site, node.operand)
        return -number if number is not None else None
    value = _value(site, node) if isinstance(node, ast.Name | ast.Attribute) else None
    return _number(site, value) if isinstance(value, ast.Constant) else None


def _value(site: Site, node: ast.Name | ast.Attribute) -> ast.expr | None:
    """The only value that a name of the function or the module, or an attribute of ``self``, ever gets."""
    if isinstance(node, ast.Attribute):
        head = path_of(node.value)
        cls = site.file.index.class_of_self(site.scope, head) if head is not None else None
        values = site.file.attribute_values(cls, node.attr) if cls is not None else []
        return values[0] if len(values) == 1 else None
    found = site.file.index.lookup(site.scope, node.id)
    if found is None or len(found[1]) != 1:
        return None
    value = found[1][0].node
    changed = any(a.augmented and a.path == node.id for a in site.file.assignments)
    return value if isinstance(value, ast.expr) and not changed else None
