"""TF617: a training step that leaves out the penalties of its model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, is_none, path_of
from ...linter.rule_api.rewriting import expression, operand
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..checkpoints.assigned import assignments_to
from .models import Parts, Tape, parts_of, tape_of

if TYPE_CHECKING:
    import libcst

_SCALARS = ("tensorflow.reduce_mean", "tensorflow.reduce_sum")
_REASON = "the penalties of the layers act from then on"
_ADDERS = frozenset({"compute_loss", "compiled_loss", "get_losses_for"})


class RegularizationLossDropped(Rule):
    """A training step never adds `model.losses`, so the regularizers of the layers do nothing.

    ## Why
    TF1 gathered the penalties in a collection, and `get_total_loss` added them.
    Keras keeps them in `model.losses`; `fit` adds them, and so does `self.compute_loss` in a `train_step`.
    A step with a tape of its own has to do so itself, otherwise `kernel_regularizer` is silently without effect.

    The rule speaks where a tape trains a model whose making the file shows, and nothing in the file reads `losses`.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_regularizer="l2")])
    optimizer = tf.keras.optimizers.SGD(0.1)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_regularizer="l2")])
    optimizer = tf.keras.optimizers.SGD(0.1)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2) + tf.add_n(model.losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Fix safety
    Unsafe: the penalties act from then on, as they were meant to.
    It is offered where the tape is asked for the gradients of one loss, which is a mean, a sum, or what a loss of Keras
    gives.

    ## Source
    - https://www.tensorflow.org/guide/effective_tf2
    - https://www.tensorflow.org/guide/migrate/model_mapping
    """

    code = "TF617"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "collections"
    beside = ("TF610",)  # tells of the layers that the call does not train
    calls = ("tensorflow.GradientTape",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the models that a tape trains."""
        tape = tape_of(call)
        if tape is None or call.version_checked or not tape.is_training or _reads_losses(call):
            return
        trained = tape.trained
        told: set[str] = set()
        for inner in tape.inner:
            path = (inner.path or "").removesuffix(".call")
            if path not in trained or path in told or _is_handed_on(tape, path):
                continue
            parts = parts_of(inner, path)
            layer = _regularized(parts) if parts is not None else None
            if layer is not None:
                told.add(path)
                yield self.report(
                    inner,
                    f"The penalties of `{path}`, such as a layer's `{layer[1]}`, stay in `{path}.losses`, which the "
                    f"step never adds: they have no effect. Add `tf.add_n({path}.losses)` to the loss.",
                    related=(layer[0].location(f"`{layer[1]}`"),),
                )

    def fixed_part(self, site: Call) -> ast.expr | None:
        """What the loss is."""
        for call in site.file.calls_by_function.get(site.scope.function().id, []):
            tape = tape_of(call) if call.name == "tensorflow.GradientTape" else None
            if tape is not None and any(inner.call is site.call for inner in tape.inner):
                return _loss(tape)
        return None

    def fix(self, node: libcst.BaseExpression, site: Call) -> Replacement | None:
        """Add the penalties."""
        import libcst

        path = (site.path or "").removesuffix(".call")
        new = libcst.BinaryOperation(operand(node), libcst.Add(), expression(f"sum({path}.losses)"))
        return Replacement(new, Applicability.UNSAFE, _REASON)


def _loss(tape: Tape) -> ast.expr | None:
    """What the one loss is whose gradients a tape is asked for, if it is a scalar that the tape records."""
    target = tape.gradients[0].value("target", 0) if len(tape.gradients) == 1 else None
    made = assignments_to(tape.gradients[0], target) if isinstance(target, ast.Name) else []
    if len(made) != 1 or made[0].augmented or not made[0].inside(tape.call.call):
        return None
    call = made[0].value_call
    names = [name.canonical for name in call.names] if call is not None else []
    is_scalar = bool(names) and all(
        name in _SCALARS or (name.startswith("keras.losses.") and name.endswith("()")) for name in names
    )
    whole = call is not None and call.value("axis", 1) is None
    return made[0].value if is_scalar and (whole or names[0] not in _SCALARS) else None


def _reads_losses(call: Call) -> bool:
    """Whether the file reads the penalties of some model, or asks Keras for the whole loss."""
    return call.file.once("reads the penalties of a model", lambda: _has_losses(call))


def _has_losses(call: Call) -> bool:
    for reference in call.file.references:
        last = (reference.path or "").rpartition(".")[2]
        if last in _ADDERS or (last == "losses" and not reference.name.startswith(("keras.losses", "tensorflow."))):
            return True
    everything = ast.walk(call.file.index.module.node)
    return any(isinstance(n, ast.Attribute) and n.attr == "losses" and path_of(n) is None for n in everything)


def _is_handed_on(tape: Tape, path: str) -> bool:
    """Whether the model, or something of it, is given to a function while the tape records: that may add penalties."""
    below = (f"{path}.", f"{path}[")
    for call in tape.inner:
        if (call.path or "").startswith(below) and call.path != f"{path}.call":
            return True
        for node in (node for argument in call.arguments for node in ast.walk(argument)):
            text = path_of(node) if isinstance(node, ast.Name | ast.Attribute) else None
            around = call.file.parent_of(node)
            if isinstance(around, ast.Attribute) or (isinstance(around, ast.Call) and around.func is node):
                continue
            if text is not None and (text == path or text.startswith(below)):
                return True
    return False


def _regularized(parts: Parts) -> tuple[Call, str] | None:
    """A layer with a penalty, and the argument that asks for it."""
    for call in parts.calls:
        if not call.name.startswith("keras.layers.") or "()" in call.name:
            continue
        for keyword in call.keywords:
            value = call.value(keyword)
            if keyword.endswith("_regularizer") and isinstance(value, ast.Call | ast.Constant) and not is_none(value):
                return call, keyword
    return None
