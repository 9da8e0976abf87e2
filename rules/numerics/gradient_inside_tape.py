"""TF630: a persistent tape that records its own gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .models import Tape, tape_of


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
