"""TF314: an optimizer of TF1 that is to train a Keras 3 model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Target, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..checkpoints.assigned import assignments_to
from ..numerics.optimizers import V1, of_keras, only_applies
from ..tf1_api.signatures import is_tried
from .members import member_of

if TYPE_CHECKING:
    import libcst

_WITHOUT_SLOTS = ("GradientDescentOptimizer", "ProximalGradientDescentOptimizer")
_STEPS = {"apply_gradients": ("grads_and_vars", 0), "compute_gradients": ("var_list", 1), "minimize": ("var_list", 2)}
"""What gets the variables, with its place."""
_VARIABLES = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_REASON = "what Keras keeps of sparse gradients is other than in TF1, and a checkpoint of the old one has other names"
_HANDLED = frozenset({"ValueError", "AttributeError", "Exception", "BaseException"})


class V1OptimizerOnKerasModel(Rule):
    """An optimizer of `tf.compat.v1.train` is given a Keras model or its variables, which Keras 3 refuses.

    ## Why
    With Keras 3, `model.compile(tf.compat.v1.train.AdamOptimizer(...))` raises "Could not interpret optimizer
    identifier".
    The variables of its layers are not TensorFlow's: `minimize` and `compute_gradients` raise ValueError for them, and
    `apply_gradients` raises AttributeError, but for plain gradient descent, which keeps no slots.
    Keras 2 takes all of that.

    The optimizers of Keras have other defaults: epsilon is 1e-7, and `RMSprop` starts from another mean.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(optimizer=tf.compat.v1.train.AdamOptimizer(1e-3), loss="mse")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3, epsilon=1e-8), loss="mse")
    ```

    ## Fix safety
    Unsafe: repeated rows of an embedding move otherwise, and the state of the optimizer has other names in checkpoints.
    It becomes the optimizer of Keras that takes the same steps, with TF1's defaults written out; `RMSProp` has none.
    It is offered where the options are numbers and the model, or `apply_gradients`, is all that reads the optimizer.

    ## Source
    - https://www.tensorflow.org/guide/migrate/metrics_optimizers
    - https://keras.io/api/optimizers/
    """

    code = "TF314"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    targets = frozenset({Target.KERAS3})
    recipe = "keras3"
    methods = ("compile", *_STEPS)
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what a model is compiled with, and what an optimizer of TF1 is given."""
        if call.version_checked or is_tried(call, _HANDLED) or any(entity.kind != "external" for entity in call.found):
            return
        if call.method == "compile":
            yield from self._compile(call)
        elif call.names and all(name.canonical in _steps_of_v1(call.method) for name in call.names):
            yield from self._step(call)

    def _compile(self, call: Call) -> Iterator[Diagnostic]:
        members = [member_of(name) for name in call.names]
        if not members or any(member is None or member.kind != "Model" for member in members):
            return
        given = call.value("optimizer", 0)
        made = call.file.call_at(given)
        names = made.names if made is not None else call.names_of(given)
        found = [name.canonical.removesuffix("()") for name in names]
        if found and all(name in V1 for name in found):
            kind = found[0].rpartition(".")[2]
            yield self.report(
                call,
                f"`{call.path}` is given an `{kind}` of TF1, for which Keras 3 raises ValueError. Give an optimizer of "
                "`tf.keras.optimizers`.",
            )

    def _step(self, call: Call) -> Iterator[Diagnostic]:
        kind = call.name.removesuffix(f"().{call.method}").rpartition(".")[2]
        if call.method == "apply_gradients" and kind in _WITHOUT_SLOTS:
            return
        owner = next(_keras_owners(call, call.value(*_STEPS[call.method])), "")
        if owner:
            error = "AttributeError" if call.method == "apply_gradients" else "ValueError"
            yield self.report(
                call,
                f"`{call.method}` of an `{kind}` of TF1 raises {error} for the variables of `{owner}`, which are Keras "
                "3's. Use an optimizer of `tf.keras.optimizers`.",
            )

    def fixed_part(self, site: Call) -> ast.expr | None:
        """The call that makes the optimizer."""
        made = _made(site)
        return None if made is None else made.call

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Make the optimizer of Keras."""
        made = _made(site)
        return None if made is None else of_keras(node, made, _REASON)


def _made(call: Call) -> Call | None:
    """The call that makes an optimizer, which nothing but what was reported reads."""
    given = call.value("optimizer", 0) if call.method == "compile" else call.receiver
    if not isinstance(given, ast.Name):
        return call.file.call_at(given)
    made = assignments_to(call, given)
    value = made[0].value_call if len(made) == 1 else None
    reads = [one for one in call.file.references if (one.path or "").partition(".")[0] == given.id]
    if value is None or (call.method != "compile" and not only_applies(value)):
        return None
    return value if call.method != "compile" or [one.syntax for one in reads] == [given] else None


def _steps_of_v1(method: str) -> tuple[str, ...]:
    return tuple(f"{name}().{method}" for name in V1)


def _keras_owners(call: Call, value: ast.expr | None) -> Iterator[str]:
    """The models and layers whose variables stand in an expression."""
    for node in ast.walk(value) if value is not None else ():
        if isinstance(node, ast.Attribute) and node.attr in _VARIABLES:
            members = [member_of(name) for name in call.names_of(node)]
            if members and all(member is not None and member.kind in ("Model", "Layer") for member in members):
                yield path_of(node.value) or "a model"
