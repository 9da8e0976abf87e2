"""TF108: an optimizer or metric that is made anew for each step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context, path_of
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .constructors import in_lambda_layer, is_unproven, may_be_guarded, reached
from .hoisting import around, hoisted

if TYPE_CHECKING:
    import libcst

_REASON = "the state stays from one step to the next"
_NO_OBJECTS = frozenset({"KLD", "MAE", "MAPE", "MSE", "MSLE", "Metric", "Optimizer"})
_STATELESS_V1 = frozenset({"GradientDescentOptimizer", "Optimizer"})
_STEPS = frozenset({"apply_gradients", "minimize", "apply"})
_RESETS = frozenset({"load_weights", "restore", "set_weights"})
_TRAINED = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})


class OptimizerOrMetricInCall(Rule):
    """An optimizer or metric is made in a step or forward pass, so that its state begins anew or cannot be created.

    ## Why
    An optimizer keeps the step count and its slots in variables, a metric its total and count.
    Made in traced code, such as a `tf.function` or `train_step`, it creates them in every trace, and the second trace
    raises
    `ValueError: tf.function only supports singleton tf.Variables created on the first call`.
    Made in an eager step, it forgets what it knew of the steps before: Adam without its moments, a mean of one batch.

    `keras.metrics.MSE` and its kind are functions and create nothing.
    One optimizer for each fold or run of an outer loop is right.

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.keras.Model):
        def train_step(self, data):
            x, y = data
            optimizer = tf.keras.optimizers.Adam(1e-3)
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            return {"loss": loss}
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.adam = tf.keras.optimizers.Adam(1e-3)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.adam.apply_gradients(zip(gradients, self.trainable_variables))
            return {"loss": loss}
    ```

    ## Fix safety
    Unsafe: it keeps its state from one step to the next, as it was meant to.
    It is offered where the forward pass makes it once and in no branch, with constants, names of the module and
    attributes that the constructor alone sets.

    ## Source
    - https://www.tensorflow.org/guide/function#using_with_multiple_keras_optimizers
    - https://www.tensorflow.org/guide/function#creating_tfvariables
    """

    code = "TF108"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    beside = ("TF309", "TF406")  # which say where the name went
    calls = ("keras.optimizers.*", "keras.metrics.*", "tensorflow.train.*")
    creates = ("optimizer", "metric")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the construction of an optimizer or metric."""
        what = _made(call)
        if what is None or call.guarded or in_lambda_layer(call):
            return
        forward = call.in_forward
        if forward or call.runs(Context.TRACED, without=Context.ONCE):
            flag = Context.FORWARD if forward else Context.TRACED
            lost = "its state is lost" if what == "metric" else "its step count and slots are lost"
            by_keras = call.runs(Context.FIT) and not call.runs(Context.TRACED, without=Context.FIT | Context.ONCE)
            eager = f"eagerly {lost} each time; " if forward else ""
            when = "under `fit`, the second trace" if by_keras else "in a `tf.function`, the second trace"
            yield self.report(
                call,
                f"`{call.path}` makes {_article(what)} {reached(call, flag)} each time that runs: {eager}{when} raises "
                "ValueError (only singleton tf.Variables created on the first call). Make it once, in `__init__` or "
                "outside.",
                Severity.INFO if is_unproven(call) or may_be_guarded(call, flag) else None,
                related=call.callers(flag),
            )
        elif what == "optimizer" and _is_made_for_each_batch(call):
            yield self.report(
                call,
                f"`{call.path}` makes a new optimizer in each turn of the loop that applies its gradients: moments, "
                "slots and step count start from zero at each step. Make it before the loop.",
                Severity.WARNING,
                consequence=Consequence.CHANGES,
            )

    def fixed_part(self, site: Call) -> ast.stmt | None:
        """The class."""
        return around(site)

    def fix(self, node: libcst.ClassDef, site: Call) -> Replacement | None:
        """Make it in the constructor."""
        new = hoisted(node, site)
        return None if new is None else Replacement(new, Applicability.UNSAFE, _REASON)


def _made(call: Call) -> str | None:
    if call.names and len(call.names) == len(call.found):
        kinds = {_kind_of(name.canonical) for name in call.names}
        return kinds.pop() if len(kinds) == 1 else None
    if any(entity.kind != "class" for entity in call.found):
        return None
    return next((kind for kind in ("optimizer", "metric") if kind in call.creates), None)


def _kind_of(name: str) -> str | None:
    module, _, last = name.rpartition(".")
    if not last[:1].isupper() or "(" in name or last in _NO_OBJECTS:
        return None
    if module in ("keras.optimizers", "keras.optimizers.legacy", "keras.optimizers.experimental"):
        return "optimizer"
    if module == "keras.metrics":
        return "metric"
    if module == "tensorflow.train" and last.endswith("Optimizer") and last not in _STATELESS_V1:
        return "optimizer"
    return None


def _article(what: str) -> str:
    return f"an {what}" if what == "optimizer" else f"a {what}"


def _is_made_for_each_batch(call: Call) -> bool:
    """Whether an eager training loop makes the optimizer and applies its gradients in the same turn."""
    loop = call.loops[0] if call.loops else None
    names = call.assigned_to
    if not isinstance(loop, ast.For | ast.While) or not names or call.in_graph or call.file.is_test:
        return False
    if isinstance(loop, ast.For):
        if isinstance(loop.iter, ast.List | ast.Tuple):
            return False
        targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        if targets & {node.id for node in ast.walk(call.call) if isinstance(node, ast.Name)}:
            return False  # another optimizer in each turn
    around = call.file.calls_by_function.get(call.scope.function().id, [])
    same = [other for other in around if other.loops and other.loops[0] is loop]
    steps = [f"{name}.{step}" for name in names for step in _STEPS]
    return (
        any(other.path in steps for other in same)
        and any(other.name == "tensorflow.GradientTape" for other in same)
        and not _begins_anew(call, loop, same)
    )


def _begins_anew(call: Call, loop: ast.For | ast.While, same: list[Call]) -> bool:
    """Whether each turn of the loop trains another model or variable, or sets the weights back first."""
    if any(other.method in _RESETS for other in same):
        return True
    made = {
        part.id
        for assignment in call.file.assignments_by_function.get(call.scope.function().id, [])
        if assignment.loops and assignment.loops[0] is loop
        for part in [assignment.node]
        if isinstance(part, ast.Name)
    }
    for part in ast.walk(loop):
        if (
            isinstance(part, ast.Attribute)
            and part.attr in _TRAINED
            and (path_of(part) or "").partition(".")[0] in made
        ):
            return True
    return any(other.name == "tensorflow.Variable" for other in same)
