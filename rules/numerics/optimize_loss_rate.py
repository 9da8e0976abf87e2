"""TF634: a learning rate that `optimize_loss` does not use."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..checkpoints.assigned import assignments_to
from .optimizers import V1


class OptimizeLossRate(Rule):
    """`optimize_loss` is given a learning rate, and an optimizer that keeps its own.

    ## Why
    `optimize_loss` of contrib and tf_slim uses `learning_rate=`, and what `learning_rate_decay_fn=` makes of it, only
    for an optimizer that it makes itself: of a name, a class or a function.
    An optimizer that is made already is used as it is: `AdamOptimizer(beta1=0.5)` learns at 0.001, whatever rate stands
    beside it, and the summary that is written shows the rate that is not used.
    Nothing raises, on TF1 or today; who writes the step anew with the rate that is given trains at another one.
    Where the optimizer is made with the same expression the rates are one, and nothing is said.

    ## Example
    ```python
    import tensorflow as tf
    import tf_slim as slim

    def train(loss, step):
        optimizer = tf.compat.v1.train.AdamOptimizer(beta1=0.5)
        return slim.optimize_loss(loss, step, learning_rate=1e-4, optimizer=optimizer)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.Adam(0.001, beta_1=0.5, epsilon=1e-8)  # as it has trained so far

    def train(model, loss, tape):
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Source
    - https://github.com/google-research/tf-slim/blob/master/tf_slim/layers/optimizers.py
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/AdamOptimizer
    """

    code = "TF634"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    beside = ("TF405",)  # contrib is gone
    calls = ("slim.optimize_loss",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the rate where the optimizer is surely made without it."""
        rate, optimizer = call.value("learning_rate", 2), call.value("optimizer", 3)
        if call.has_stars or rate is None or optimizer is None or is_none(rate):
            return
        assigned = assignments_to(call, optimizer)
        values = [optimizer] if isinstance(optimizer, ast.Call) else [one.value for one in assigned]
        made = [call.file.call_at(value) for value in values]
        if not made or not all(one is not None and one.name in V1 and not _has(one, rate) for one in made):
            return
        yield self.report(
            call,
            f"`{call.path}` does not use its `learning_rate`: the optimizer that it is given is made already, and "
            "keeps the rate that it was made with. Give a new one that rate to train as before.",
        )


def _has(made: Call, rate: ast.expr) -> bool:
    """Whether the optimizer is made with the same expression, or with arguments that are not told."""
    given = [*made.call.args, *(one.value for one in made.call.keywords)]
    return made.has_stars or any(ast.dump(one) == ast.dump(rate) for one in given)
