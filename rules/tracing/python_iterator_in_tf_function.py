"""TF211: a Python iterator that a traced function takes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, ChangeSite, Context, FunctionSite, Site
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .autograph import loops_in
from .traces import Trace, is_argument, is_iterator, is_renewed, lasting, outlives, trace_of


class PythonIteratorInTfFunction(Rule):
    """Traced code takes from a Python iterator, which happens once per trace.

    ## Why
    `next` of a Python iterator is Python: while tracing it takes one item, which becomes a constant of the graph.
    Called three times, the function gives `1, 1, 1` and not `1, 2, 3`; a `for` over a generator takes all that is in
    it, and unrolls it into the graph.
    A generator that is given as an argument is no better; a new one for each call is traced anew each time.
    An iterator of a `tf.data.Dataset` advances at each call, and an iterator that the function itself makes is fine.
    What a name holds that the file does not tell is left alone, and so is a counter that only makes names.

    ## Example
    ```python
    import tensorflow as tf

    batches = iter([1.0, 2.0, 3.0])

    @tf.function
    def step(x):
        return x * next(batches)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    batches = iter(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]))

    @tf.function
    def step(x):
        return x * next(batches)
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#using_python_iterators_and_generators
    """

    code = "TF211"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    supersedes = ("TF205",)

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge each `next` and each loop of a traced function by what it takes from."""
        if not function.runs(Context.TRACED):
            return
        for site in function.changes:
            if site.change.verb.endswith("next") and not _only_names(site):
                yield from self._judge(site, site.change.target, "takes one item", site.change.through)
        for place, _ in loops_in(function):
            if isinstance(place.syntax, ast.Name | ast.Attribute):
                yield from self._judge(place, place.syntax, "takes all its items", "")

    def _judge(self, site: Site, node: ast.expr, takes: str, through: str) -> Iterator[Diagnostic]:
        trace = trace_of(site)
        if trace is None or trace.made_once:
            return
        state = lasting(site, node)
        if state is not None and state.is_iterator and not is_renewed(site, state):
            sure = state.kind != "attribute" or outlives(site, trace)
            title = f"{state.title[:1].upper()}{state.title[1:]}"
            yield self._say(site, trace, title, state.name, takes, through, sure)
        elif state is None and isinstance(node, ast.Name) and is_argument(site, node.id):
            if _is_given_iterators(site, node.id):
                yield self._say(site, trace, f"The argument `{node.id}`", node.id, takes, through, True)

    def _say(self, site: Site, trace: Trace, title: str, name: str, takes: str, through: str, sure: bool) -> Diagnostic:
        by = f" through `{through}`" if through else ""
        severity = trace.severity(Severity.ERROR if trace.certain else Severity.WARNING) if sure else Severity.INFO
        return self.report(
            site,
            f"{title} is a Python iterator: this {takes}{by} {trace.once}, and the graph keeps what it got. Give it "
            "the iterator of a `tf.data.Dataset`, or take the item outside and pass it.",
            severity,
            subject=name,
            related=trace.callers,
        )


def _is_given_iterators(site: Site, name: str) -> bool:
    """Whether all calls in the file give the traced function a Python iterator for a parameter."""
    function = site.function
    while function is not None and name not in function.parameters:
        function = function.function
    if function is None:
        return False
    position = function.parameters.index(name) - (function.cls is not None)
    calls = [c for c in site.file.calls if any(e.kind == "function" and e.key == function.key for e in c.found)]
    given = [(call, call.value(name, position)) for call in calls]
    return bool(given) and all(value is not None and _is_python_iterator(call, value) for call, value in given)


def _is_python_iterator(call: Call, value: ast.expr) -> bool:
    if isinstance(value, ast.Name | ast.Attribute):
        values = call.file.changes.values(call.scope.function(), value.id) if isinstance(value, ast.Name) else []
        if values:
            return all(is_iterator(call, one) for one in values)
        state = lasting(call, value)
        return state is not None and state.is_iterator
    return is_iterator(call, value)


def _only_names(site: ChangeSite) -> bool:
    """Whether the item is only put into a text, as a counter's is that makes names."""
    node: ast.AST | None = site.syntax
    for _ in range(3):
        node = site.file.parent_of(node) if node is not None else None
        if isinstance(node, ast.FormattedValue | ast.JoinedStr):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return True
        if isinstance(node, ast.Call):
            func = node.func
            named = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
            return named in ("str", "format", "next")
    return False
