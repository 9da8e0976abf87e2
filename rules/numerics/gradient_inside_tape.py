"""TF630: a persistent tape that records its own gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...linter.rule_api.model import Call, path_of
from ...linter.rule_api.rewriting import has_comment
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .models import Tape, tape_of

if TYPE_CHECKING:
    import libcst

_HOLDERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.For, ast.While, ast.If, ast.With)
"""What has the `with` in its body, and is written anew."""


class _Tail(NamedTuple):
    """The end of a `with`, which does nothing that its tape has to record."""

    around: ast.stmt
    """The statement that has the `with` in its body."""
    place: int
    """The place of the `with` in that."""
    size: int
    """How many statements of the `with` come before the tail."""
    total: int


class GradientInsideTape(Rule):
    """`gradient` of a persistent tape is asked for within its `with`, so the tape records that computation too.

    ## Why
    A persistent tape goes on recording while it computes gradients: it keeps the tensors of the backward pass as long
    as the gradient is there, 62 instead of 22 for a chain of twenty operations.
    It is right where gradients of these gradients are wanted.
    A tape that is not persistent stops by itself at the first `gradient`, so there it makes no difference where that
    stands, and nothing is reported.
    No run decides this: the numbers are the same, and how much memory is too much is not known.

    ## Example
    ```python
    import tensorflow as tf

    def slopes(x):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(model(x) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
        return gradients
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def slopes(x):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        return gradients
    ```

    ## Fix safety
    Safe: all from the first `gradient` on is dedented, where that is nothing but gradients of what has a name, what
    applies them and a `return`, each in one line, in a function or below another statement.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/GradientTape#gradient
    """

    code = "TF630"
    severity = Severity.INFO
    consequence = Consequence.LEGACY
    effort = Effort.MECHANICAL
    calls = ("tensorflow.GradientTape",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the gradients that a tape is asked for."""
        tape = tape_of(call)
        if tape is None or call.version_checked or call.literal("persistent", 0, default=False) is not True:
            return
        if any(one.path == f"{tape.name}.stop_recording" for one in tape.siblings) or _is_of_higher_order(tape):
            return
        for gradient in tape.gradients:
            if gradient.inside(call.call):
                yield self.report(
                    gradient,
                    f"`{gradient.path}` is asked for within the `with` of its persistent tape, which records the "
                    "backward pass too and keeps its tensors: slower, and more memory. Dedent it.",
                )
                return

    def fixed_part(self, site: Call) -> ast.stmt | None:
        """The statement around the `with`."""
        tail = _tail(site)
        return tail.around if tail is not None else None

    def fix(self, node: libcst.BaseCompoundStatement, site: Call) -> Replacement | None:
        """Dedent what the tape need not record."""
        import libcst

        tail = _tail(site)
        suite = node.body
        if tail is None or not isinstance(suite, libcst.IndentedBlock) or tail.place >= len(suite.body):
            return None
        tape = suite.body[tail.place]
        if not isinstance(tape, libcst.With) or not isinstance(tape.body, libcst.IndentedBlock):
            return None
        recorded = tape.body.body[: tail.size]
        if len(tape.body.body) != tail.total or has_comment(*tape.body.footer):
            return None
        shorter = tape.with_changes(body=tape.body.with_changes(body=recorded))
        body = [*suite.body[: tail.place], shorter, *tape.body.body[tail.size :], *suite.body[tail.place + 1 :]]
        return Replacement(node.with_changes(body=suite.with_changes(body=body)))


def _tail(site: Call) -> _Tail | None:
    """What can be dedented from the gradient of a tape on; None where that might change anything."""
    tape = _opened_around(site)
    if tape is None or len(tape.node.items) != 1 or not _only_asked(tape):
        return None
    around = site.file.parent_of(tape.node)
    if not isinstance(around, _HOLDERS) or tape.node not in around.body:
        return None
    body = tape.node.body
    gradients = {id(one.call) for one in tape.gradients}
    size = next((n for n, one in enumerate(body) if any(id(part) in gradients for part in ast.walk(one))), 0)
    lines = [line for one in body for line in (one.lineno, one.end_lineno)]
    tail = body[size:]
    if not size or len(set(lines[2 * size :])) != len(tail) or lines[2 * size - 1] == lines[2 * size]:
        return None
    if not all(_is_unrecorded(one, gradients) for one in tail) or not _needs_no_more(tape, tail):
        return None
    return _Tail(around, around.body.index(tape.node), size, len(body))


def _opened_around(site: Call) -> Tape | None:
    """The tape whose `with` a gradient is asked for in."""
    around = site.file.calls_by_function.get(site.scope.function().id, [])
    tapes = (tape_of(call) for call in around if call.name in GradientInsideTape.calls and site.inside(call.call))
    return next((tape for tape in tapes if tape is not None and f"{tape.name}.gradient" == site.path), None)


def _only_asked(tape: Tape) -> bool:
    """Whether a tape is told what to watch, and asked for gradients, and used for nothing else."""
    function = tape.call.function
    whole = function.syntax if function is not None else tape.call.file.index.module.node
    file = tape.call.file
    for node in ast.walk(whole):
        if isinstance(node, ast.Name) and node.id == tape.name and isinstance(node.ctx, ast.Load):
            parent = file.parent_of(node)
            if not isinstance(parent, ast.Attribute) or parent.attr not in ("gradient", "watch"):
                return False
    return True


def _needs_no_more(tape: Tape, tail: list[ast.stmt]) -> bool:
    """Whether what a tape is asked for elsewhere is the gradient of names that are given nothing after its `with`."""
    here = {id(part) for one in tail for part in ast.walk(one)}
    for gradient in tape.gradients:
        target = gradient.value("target", 0)
        if id(gradient.call) not in here and (target is None or not _is_named(target, ast.Name)):
            return False
        for name in ast.walk(target) if target is not None else ():
            made = tape.call.file.assignments_by_function.get(tape.call.scope.function().id, [])
            if any(isinstance(name, ast.Name) and one.path == name.id and one.line >= tail[0].lineno for one in made):
                return False
    return True


def _is_unrecorded(statement: ast.stmt, gradients: set[int]) -> bool:
    """Whether a statement computes nothing that a gradient is taken of."""
    if isinstance(statement, ast.Return):
        return statement.value is None or _is_named(statement.value)
    if isinstance(statement, ast.Assign):
        value, targets = statement.value, statement.targets
        if not isinstance(value, ast.Call) or id(value) not in gradients or not all(map(_is_named, targets)):
            return False
        given = {str(place): one for place, one in enumerate(value.args)}
        given |= {keyword.arg or "": keyword.value for keyword in value.keywords}
        target = given.get("target", given.get("0"))
        return target is not None and _is_named(target, ast.Name) and all(map(_is_named, given.values()))
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    applied = statement.value
    if len(applied.args) != 1 or applied.keywords or not (path_of(applied.func) or "").endswith(".apply_gradients"):
        return False
    pairs = applied.args[0]
    if isinstance(pairs, ast.Call) and path_of(pairs.func) == "zip" and not pairs.keywords:
        return all(map(_is_named, pairs.args))
    return _is_named(pairs)


def _is_named(node: ast.expr, *kinds: type[ast.expr]) -> bool:
    """Whether an expression computes nothing: it is made of names, attributes and constants, or of some of these.

    An attribute may compute something all the same, as the `losses` of a model do.
    """
    if isinstance(node, ast.Tuple | ast.List):
        return all(_is_named(one, *kinds) for one in node.elts)
    if isinstance(node, ast.Attribute) and not kinds:
        return _is_named(node.value)
    return isinstance(node, kinds or (ast.Name, ast.Constant))


def _is_of_higher_order(tape: Tape) -> bool:
    """Whether some gradient is taken of what another one gave, by the names of the function."""
    around = tape.call.file.assignments_by_function.get(tape.call.scope.function().id, [])
    asked = {id(gradient.call) for gradient in tape.gradients}
    slopes: set[str] = set()
    for _ in range(len(around)):
        before = len(slopes)
        for assignment in around:
            statement = assignment.syntax
            value = assignment.value or getattr(statement, "value", None) or getattr(statement, "iter", None)
            if assignment.path and value is not None and _mentions(value, slopes, asked):
                slopes.add(assignment.path)
        if len(slopes) == before:
            break
    targets = [value for one in tape.gradients if (value := one.value("target", 0)) is not None]
    return any(_mentions(target, slopes, asked) for target in targets)


def _mentions(node: ast.expr, names: set[str], calls: set[int]) -> bool:
    return any(id(one) in calls or (isinstance(one, ast.Name) and one.id in names) for one in ast.walk(node))
