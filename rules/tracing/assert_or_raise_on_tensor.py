"""TF214: an `assert` of a tensor, or a `raise` that a tensor is to decide on, in traced code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Context, FunctionSite, Reference, Site, Target, nodes_below
from ...linter.rule_api.rewriting import expression, has_comment, text_of
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .autograph import converted_trace_of, is_conditional, is_tensor, operands, tests_in
from .traces import Trace, is_number, trace_of

if TYPE_CHECKING:
    import libcst

_SHOWN = 40
_TRUTHS = frozenset({"tensorflow.reduce_all", "tensorflow.reduce_any"})
_CHECKS: dict[type[ast.cmpop], tuple[str, str, str]] = {
    ast.Eq: ("assert_equal", "", ""),
    ast.Gt: ("assert_greater", "assert_positive", "assert_negative"),
    ast.GtE: ("assert_greater_equal", "assert_non_negative", "assert_non_positive"),
    ast.Lt: ("assert_less", "assert_negative", "assert_positive"),
    ast.LtE: ("assert_less_equal", "assert_non_positive", "assert_non_negative"),
}
"""What checks a comparison of two tensors, of a tensor with zero, and of zero with a tensor."""


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

    ## Fix safety
    An `assert` of one comparison, of `tf.reduce_all` or of `tf.reduce_any` becomes a function of `tf.debugging`, which
    is given its message.
    Two tensors are compared as they were, and anything else as `tf.debugging.assert_equal(x > 3, True)`, since only the
    operator gives a number the type of the tensor.
    Safe where the trace surely raises: now it checks the values, of all elements.
    Unsafe where the code may also run eagerly, since what is raised then is not an AssertionError, and where XLA may
    compile it, which leaves assertions out.
    There is no fix for a `raise`, in a `try`, for a message that is made, nor where comments stand inside.

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

    def fix(self, node: libcst.SimpleStatementLine, site: Site) -> Replacement | None:
        """Check the value with TensorFlow."""
        import libcst

        old, trace = node.body[0], trace_of(site)
        if not isinstance(old, libcst.Assert) or not isinstance(site.syntax, ast.Assert) or trace is None:
            return None
        message = site.syntax.msg
        is_plain = message is None or (isinstance(message, ast.Constant) and isinstance(message.value, str))
        if not is_plain or has_comment(old) or site.file.is_under("a try", site.block, lambda b: b.kind == "try"):
            return None
        checked = _checked(site, site.syntax.test, old.test)
        written = site.importable(f"tensorflow.debugging.{checked[0]}") if checked is not None else None
        if checked is None or written is None:
            return None
        given = [text_of(part) for part in checked[1]]
        given += [f"message={text_of(old.msg)}"] if old.msg is not None else []
        new = libcst.Expr(expression(f"{written[0]}({', '.join(given)})"), semicolon=old.semicolon)
        reason = _doubt(site, trace)
        applicability = Applicability.UNSAFE if reason else Applicability.SAFE
        return Replacement(node.with_changes(body=[new]), applicability, reason, written[1])


def _checked(
    site: Site, test: ast.expr, node: libcst.BaseExpression
) -> tuple[str, tuple[libcst.BaseExpression, ...]] | None:
    """The function of `tf.debugging` that checks a test, and what it is given."""
    import libcst

    wanted = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(node, libcst.UnaryOperation):
        test, node, wanted = test.operand, node.expression, not wanted
    if not is_tensor(site, test):
        return None
    whole = (node, libcst.Name(str(wanted)))
    if isinstance(test, ast.Call):
        names = [name.canonical for name in site.names_of(test.func)]
        return ("assert_equal", whole) if names and _TRUTHS.issuperset(names) else None
    if not (wanted and isinstance(test, ast.Compare) and isinstance(node, libcst.Comparison) and len(test.ops) == 1):
        return None
    left, right = test.left, test.comparators[0]
    checks = _CHECKS.get(type(test.ops[0]))
    if checks is None:
        return None
    given = (node.left, node.comparisons[0].comparator)
    both = [is_tensor(site, value) for value in (left, right)]
    if all(both):
        return checks[0], given
    for position, value in enumerate((left, right)):
        if both[position] and checks[1] and _is_zero((right, left)[position]):
            return checks[1 + position], (given[position],)
        if not both[position] and not checks[1] and not is_number(value):
            return None  # an equality with something that has no number is none of tensors
    return "assert_equal", whole


def _is_zero(node: ast.expr) -> bool:
    return is_number(node) and not ast.literal_eval(node)


def _doubt(site: Site, trace: Trace) -> str:
    """Why a person has to look at an assertion that becomes TensorFlow's, or an empty text."""
    is_compiled = any("jit_compile" in call.keywords for call in site.file.calls)
    if is_compiled or (trace.how == "fit" and site.target is Target.KERAS3):
        return "XLA leaves assertions out"
    if not trace.raises or not trace.proven or is_conditional(site):
        return "where it runs eagerly, InvalidArgumentError is raised in place of AssertionError"
    return ""


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
