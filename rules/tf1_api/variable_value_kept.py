"""TF434: what is computed of a variable when an object is made, and read at every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Known, Site
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..checkpoints.assigned import assignments_to, is_made_with, reads_of
from .contexts import certainty
from .receivers import known_of

_COPIES = frozenset({"tensorflow.identity", "tensorflow.convert_to_tensor", "tensorflow.stop_gradient"})


class VariableValueKept(Rule):
    """A tensor that is computed of a variable is kept when an object is made, and holds the first value for ever.

    ## Why
    In a TF1 graph `self.w = tf.identity(cell.w)` or `self.penalty = tf.nn.l2_loss(self.w)` was an operation: each run
    of the session computed it of the weights of that moment, and gradients went through it.
    In eager execution it is computed at once, and what is kept is a constant: later weights do not change it, and no
    tape sees where it came from, so that a penalty has no gradient.
    Nothing raises.
    A `tf.function` that reads the attribute has it as a constant of its trace, also where it is set anew later.

    The rule speaks of what is kept at the level of a module, or while an object is made, and is read in code that runs
    at each step.
    Where what is copied may be something else than a variable, as an attribute of a parameter, it is a hint.

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.ones([3]))
            self.penalty = tf.nn.l2_loss(self.w)

        def call(self, x):
            return x * self.w + self.penalty
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.ones([3]))

        def penalty(self):
            return tf.nn.l2_loss(self.w)

        def call(self, x):
            return x * self.w + self.penalty()
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    - https://www.tensorflow.org/guide/function
    """

    code = "TF434"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    assigns = ("name", "attribute")

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge what is kept of variables by where it is read."""
        value = assignment.value
        if value is None or assignment.augmented or assignment.file.is_test or not _is_made_once(assignment):
            return
        known = _of_variable(assignment, value)
        if known is None or assignment.version_checked or certainty(assignment) is None:
            return
        again = len(assignments_to(assignment, assignment.node)) != 1
        reads = [read for read in reads_of(assignment) if read.in_trace or (read.in_forward and not again)]
        if reads:
            yield self.report(
                assignment,
                f"`{assignment.path}` is computed once{'' if known else ', of a variable if that is one'}: what reads "
                "it at each step has the value of that moment, without a gradient, where a TF1 graph computed it at "
                "each run. Compute it where it is used.",
                Severity.WARNING if known else Severity.INFO,
                subject=assignment.path,
                related=[reads[0].location("read here, at each step")],
            )


def _of_variable(site: Site, value: ast.expr) -> bool | None:
    """Whether an expression is a tensor that is computed of a variable; False where it may be, None where it is not."""
    maybe = False
    queue: list[ast.expr] = [value]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.BinOp):
            queue += [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            queue.append(node.operand)
        elif isinstance(node, ast.Call):
            call = site.file.call_at(node)
            names = {name.canonical for name in call.names} if call is not None else set()
            if call is None or not names or any(entity.kind != "external" for entity in call.found):
                continue
            if all(name.startswith("tensorflow.") for name in names):
                queue += [*node.args, *(keyword.value for keyword in node.keywords)]
                maybe = maybe or (names <= _COPIES and len(node.args) == 1 and _is_of_parameter(site, node.args[0]))
        elif node is not value and isinstance(node, ast.Name | ast.Attribute):
            if known_of(site, node) is Known.VARIABLE:
                return True if site.is_tensor(value) is Known.TENSOR else None
    return False if maybe else None


def _is_of_parameter(site: Site, node: ast.expr) -> bool:
    """Whether it is an attribute of an object that was given: another network's weight, perhaps."""
    if not isinstance(node, ast.Attribute) or known_of(site, node) is not Known.UNKNOWN:
        return False
    base = node.value
    if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
        owner = site.class_of_self(base.value.id)
        made = site.file.assignments_to(owner.body, base.attr) if owner is not None else []
        return bool(made) and all(isinstance(one.value, ast.Name) and _is_parameter(one, one.value) for one in made)
    return isinstance(base, ast.Name) and site.class_of_self(base.id) is None and _is_parameter(site, base)


def _is_parameter(site: Site, name: ast.Name) -> bool:
    found = site.file.index.lookup(site.scope, name.id)
    return found is not None and name.id in found[0].parameters


def _is_made_once(assignment: Assignment) -> bool:
    """Whether it stands at the level of a module, or in what makes an object, and in no loop or traced code."""
    if assignment.in_forward or assignment.in_trace or assignment.loops:
        return False
    if isinstance(assignment.node, ast.Attribute):
        return assignment.owner is not None and is_made_with(assignment)
    return isinstance(assignment.node, ast.Name) and assignment.scope.kind == "module"
