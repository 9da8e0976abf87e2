"""TF214: an `assert` of a tensor, or a `raise` that a tensor is to decide on, in traced code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise

from ...linter.rule_api.model import Context, FunctionSite, Reference, Site, nodes_below
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .autograph import converted_trace_of, is_conditional, is_tensor, operands, tests_in
from .traces import Trace, trace_of

_SHOWN = 40


class AssertOrRaiseOnTensor(Rule):
    """An `assert` of a tensor raises in traced code, and a `raise` that a tensor decides on is always raised.

    ## Why
    AutoGraph leaves `assert` as it is: of a symbolic tensor it raises `OperatorNotAllowedInGraphError`, whatever its
    value would be.
    An `if` on a tensor is traced on both branches, so that a `raise` in one of them is raised while the graph is built,
    for good data as well.
    `tf.debugging.assert_greater` and its like, and `tf.debugging.Assert`, are operations and see the values.
    Asserting shapes, types and Python settings is fine.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def step(x):
        assert tf.reduce_min(x) > 0
        return tf.math.log(x)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def step(x):
        tf.debugging.assert_positive(x)
        return tf.math.log(x)
    ```

    ## Source
    - https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/control_flow.md
    - https://www.tensorflow.org/guide/function#autograph_transformations
    """

    code = "TF214"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge the assertions of a traced function, and what it raises under a tensor."""
        if isinstance(function.syntax, ast.Lambda) or not function.runs(Context.TRACED):
            return
        statements = [s for s in function.statements if isinstance(s, ast.Assert | ast.Raise)]
        if not statements:
            return
        asserts = [statement for statement in statements if isinstance(statement, ast.Assert)]
        reads = {id(read.syntax): read for read in function.references} if asserts else {}
        for statement in asserts:
            yield from self._assert(function, statement, reads)
        if any(isinstance(statement, ast.Raise) for statement in statements):
            yield from self._raises(function)

    def _assert(
        self, function: FunctionSite, statement: ast.Assert, reads: Mapping[int, Reference]
    ) -> Iterator[Diagnostic]:
        below = (reads.get(id(node)) for node in nodes_below(statement.test))
        place = min((read for read in below if read is not None), key=lambda r: (r.line, r.column), default=None)
        trace = trace_of(place) if place is not None else None
        if place is None or trace is None:
            return
        for position, value in enumerate(operands(statement.test)):
            if is_tensor(place, value):
                site = Site(function.file, statement, place.scope, place.block)
                yield self._say(
                    site,
                    trace,
                    f"`assert` asks for the truth of {_shown(value)}, which is symbolic, and raises "
                    "OperatorNotAllowedInGraphError whatever its value",
                    position > 0,
                )
                return

    def _raises(self, function: FunctionSite) -> Iterator[Diagnostic]:
        arms = dict(_arms(function.syntax))
        for test in tests_in(function):
            whole: ast.AST = test.value
            suites = arms.get(id(whole))
            for suite in suites or ():
                statement = next((s for s in suite if isinstance(s, ast.Raise)), None)
                if statement is None or not is_tensor(test.site, test.value):
                    continue
                site = Site(function.file, statement, test.site.scope, test.site.block)
                trace = converted_trace_of(site)
                if trace is not None and not function.file.is_under("a try", site.block, lambda b: b.kind == "try"):
                    yield self._say(
                        site,
                        trace,
                        f"{_shown(test.value)} is symbolic, so that both branches are traced and this `raise` is "
                        "raised while tracing, whatever its value",
                        False,
                    )

    def _say(self, site: Site, trace: Trace, what: str, guarded: bool) -> Diagnostic:
        certain = trace.raises and not guarded and not is_conditional(site)
        return self.report(
            site,
            f"{trace.under[:1].upper()}{trace.under[1:]}, {what}. Use `tf.debugging.assert_greater` or its like, or "
            "`tf.debugging.Assert`.",
            trace.severity(Severity.ERROR if certain else Severity.WARNING),
            subject=ast.unparse(site.syntax)[:60],
            related=trace.callers,
        )


def _arms(function: ast.AST) -> Iterator[tuple[int, tuple[list[ast.stmt], ...]]]:
    """What each test of a function decides about, by its identity.

    After ``if x: return`` that is the next statement, too.
    """
    for node in nodes_below(function):
        if isinstance(node, ast.While):
            yield id(node.test), (node.body,)
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            if isinstance(suite, list):
                for statement, following in pairwise([*suite, None]):
                    if isinstance(statement, ast.If):
                        yield id(statement.test), (statement.body, _other(statement, following))


def _other(statement: ast.If, following: ast.stmt | None) -> list[ast.stmt]:
    if not statement.orelse and isinstance(statement.body[-1], ast.Return) and isinstance(following, ast.Raise):
        return [following]
    return statement.orelse


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return f"`{text}`" if len(text) <= _SHOWN else "a tensor"
