"""TF619: a condition that picked rows, and is broadcast over columns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Era, path_of
from ...linter.rule_api.rewriting import with_function
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_REDUCTIONS = frozenset(
    f"tensorflow.{name}"
    for name in (
        "argmax", "argmin", "math.argmax", "math.argmin", "math.reduce_all", "math.reduce_any", "math.reduce_max",
        "math.reduce_mean", "math.reduce_min", "math.reduce_sum", "norm", "reduce_all", "reduce_any", "reduce_max",
        "reduce_mean", "reduce_min", "reduce_sum",
    )
)  # fmt: skip
_ELEMENTWISE = frozenset(
    f"tensorflow.{name}"
    for name in (
        "abs", "cast", "equal", "greater", "greater_equal", "identity", "is_finite", "is_inf", "is_nan", "less",
        "less_equal", "logical_not", "math.abs", "math.equal", "math.greater", "math.greater_equal", "math.is_finite",
        "math.is_inf", "math.is_nan", "math.less", "math.less_equal", "math.logical_not", "math.not_equal",
        "math.square", "not_equal", "ones_like", "square", "stop_gradient", "zeros_like",
    )
)  # fmt: skip
_MAX_STEPS = 20


class WhereBroadcast(Rule):
    """The condition of a `tf.where` has fewer dimensions than what it chooses from.

    ## Why
    TF1 took a condition of one dimension for a choice of rows; TF2 broadcasts it, over the last dimension.
    With the condition `[True, False]`, `[[1, 1], [0, 0]]` or else zeros gave `[[1, 1], [0, 0]]` and gives
    `[[1, 0], [0, 0]]`; where the sizes do not fit, it raises.
    A condition is judged where it is a reduction along an axis of what it chooses from, in a file that is written for
    TF1; the shapes of other conditions are not known here.
    `tf.compat.v1.where` does what it did.

    ## Example
    ```python
    import tensorflow as tf

    def clean(x):
        bad = tf.reduce_any(tf.is_nan(x), axis=1)
        return tf.where(bad, tf.zeros_like(x), x)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def clean(x):
        bad = tf.reduce_any(tf.math.is_nan(x), axis=1, keepdims=True)
        return tf.where(bad, tf.zeros_like(x), x)
    ```

    ## Fix safety
    Safe: compat.v1's function, which chooses rows, is called in its place.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/where
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/where
    """

    code = "TF619"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    supersedes = ("TF407",)
    calls = ("tensorflow.where",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Compare the condition with the branches."""
        if call.file.era is not Era.TF1 or call.version_checked or call.is_compat_v1:
            return
        if any(entity.kind != "external" for entity in call.found):
            return
        condition, *branches = (call.value(name, place) for place, name in enumerate(("condition", "x", "y")))
        if condition is None or None in branches:
            return
        made = _origin(call, condition)
        if made is None or made[1] != 1:
            return
        if any(branch is not None and _origin(call, branch) == (made[0], 0) for branch in branches):
            yield self.report(
                call,
                f"`tf.where` broadcasts its condition over the last dimension, where TF1 chose rows by it: it is "
                f"reduced from `{made[0]}` and has one dimension less. Reduce with `keepdims=True`.",
                related=call.file.era_told,
            )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Call the function of compat.v1."""
        written = site.importable("tensorflow.compat.v1.where")
        return Replacement(with_function(node, written[0]), imports=written[1]) if written is not None else None


def _origin(call: Call, node: ast.expr, steps: int = _MAX_STEPS) -> tuple[str, int] | None:
    """What an expression is worked out of, element by element, and how many of its dimensions are lost."""
    lost = 0
    for step in range(steps):
        path = path_of(node)
        if isinstance(node, ast.Name | ast.Attribute) and path is not None:
            made = _assigned(call, path)
            if len(made) > 1:
                return None
            before = _origin(call, made[0], steps - step - 1) if made and made[0] is not None else None
            return (path, lost) if before is None else (before[0], before[1] + lost)
        elif isinstance(node, ast.UnaryOp):
            node = node.operand
        elif isinstance(node, ast.Compare):
            if len(node.ops) != 1 or not isinstance(node.comparators[0], ast.Constant):
                return None
            node = node.left
        elif isinstance(node, ast.BinOp):
            if not isinstance(node.right, ast.Constant):
                return None
            node = node.left
        elif isinstance(node, ast.Call):
            inner = call.file.call_at(node)
            if inner is None or not inner.call.args or inner.has_stars:
                return None
            if inner.name in _REDUCTIONS:
                axis = inner.literal("axis", None if inner.name.endswith("norm") else 1)
                if not isinstance(axis, int) or isinstance(axis, bool) or len(inner.call.args) > 2:
                    return None
                if not set(inner.keywords) <= {"axis", "name", "ord"}:
                    return None
                lost += 1
            elif inner.name not in _ELEMENTWISE or not all(_is_plain(each) for each in inner.call.args[1:]):
                return None
            node = inner.call.args[0]
        else:
            return None
    return None


def _is_plain(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))
        or (path_of(node) or "").startswith(("tf.", "tensorflow."))
    )


def _assigned(call: Call, path: str) -> list[ast.expr | None]:
    """What is assigned to a name or an attribute in the function."""
    function = call.scope.function()
    return [
        assignment.value
        for assignment in call.file.assignments_by_function.get(function.id, [])
        if assignment.path == path
    ]
