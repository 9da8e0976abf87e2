"""TF627: a random tensor that is drawn once, and read at every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Era, Site
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..checkpoints.assigned import is_made_with, reads_of
from ..tf1_api.contexts import certainty

_KINDS = ("gamma", "normal", "poisson", "shuffle", "truncated_normal", "uniform")
_OLD = {*(f"tensorflow.random_{name}" for name in _KINDS), "tensorflow.truncated_normal", "tensorflow.multinomial"}
_RANDOM = _OLD | {f"tensorflow.random.{name}" for name in (*_KINDS, "categorical")}


class RandomTensorFrozen(Rule):
    """A random tensor is made beside the code that uses it, and so holds the same numbers at each call.

    ## Why
    In a TF1 graph `tf.random_normal(...)` was an operation: each run of the session drew anew, wherever the operation
    had been made.
    In eager execution the call draws at once, and `self.noise` or a global is a constant.
    A forward pass or a `tf.function` that reads it adds the same noise for ever.

    The rule speaks of what is drawn at the level of a module or when an object is made, and read in code that runs at
    each step.
    In a program that is not TF1's that may well be meant, as for a random projection, so there it is a hint.

    ## Example
    ```python
    import tensorflow as tf

    noise = tf.compat.v1.random_normal([10])

    class Noisy(tf.keras.layers.Layer):
        def call(self, x):
            return x + noise

    print(tf.compat.v1.global_variables())
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Noisy(tf.keras.layers.Layer):
        def call(self, x):
            return x + tf.random.normal([10])
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF627"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge what is kept of a random call."""
        if assignment.value is None or not _is_random(assignment, assignment.value) or assignment.file.is_test:
            return
        if assignment.in_forward or assignment.in_trace or assignment.loops or _is_redrawn(assignment):
            return
        severity = certainty(assignment)
        if severity is None:
            return
        reads = [read for read in reads_of(assignment) if read.in_forward or read.in_trace]
        if reads:
            told = assignment.file.era is Era.TF1 or _has_old_name(assignment, assignment.value)
            yield self.report(
                assignment,
                f"`{assignment.path}` is drawn once: every call reads the same numbers, where a TF1 graph drew new "
                "ones at each run. Draw them where they are used.",
                severity if told else Severity.INFO,
                subject=assignment.path,
                related=[reads[0].location("read here, at each call")],
            )


def _is_random(site: Site, node: ast.expr) -> bool:
    """Whether an expression draws: such a call, or arithmetic with one."""
    if isinstance(node, ast.BinOp):
        return _is_random(site, node.left) or _is_random(site, node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_random(site, node.operand)
    call = site.file.call_at(node)
    if call is None or call.version_checked or any(entity.kind != "external" for entity in call.found):
        return False
    return bool(call.names) and all(name.canonical in _RANDOM for name in call.names)


def _has_old_name(site: Site, value: ast.expr) -> bool:
    """Whether a call in an expression has a name of TF1: ``random_normal``."""
    calls = (site.file.call_at(node) for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(call is not None and call.name in _OLD for call in calls)


def _is_redrawn(assignment: Assignment) -> bool:
    """Whether something else may give it another value."""
    if isinstance(assignment.node, ast.Attribute):
        name = assignment.node.attr
        others = [a for a in assignment.file.assignments if isinstance(a.node, ast.Attribute) and a.node.attr == name]
        return len(others) != 1 or assignment.owner is None or not is_made_with(assignment)
    others = [a for a in assignment.file.assignments if a.path == assignment.path and a.scope is assignment.scope]
    outer = any(assignment.path in function.body.outer_names for function in assignment.file.functions)
    return len(others) != 1 or assignment.scope.kind != "module" or outer
