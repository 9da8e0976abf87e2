"""TF419: gradients that are asked of a graph, in a program that has none."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, Known
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..numerics.optimizers import V1
from .api_status import is_plain, written
from .contexts import certainty, is_only_traced

_GRADIENTS = ("tensorflow.gradients", "tensorflow.hessians")
_STEPS = tuple(f"{name}().{method}" for name in V1 for method in ("minimize", "compute_gradients"))


class SymbolicGradients(Rule):
    """Gradients are asked of a graph, where TF2 executes eagerly and records none.

    ## Why
    In eager execution `tf.gradients` and `tf.hessians` raise "tf.gradients is not supported when eager execution is
    enabled", and `minimize` and `compute_gradients` of a `tf.compat.v1` optimizer raise "`loss` should be a function"
    where they are given a tensor.
    All of it works in a graph and in a `tf.function`, so also in a layer under `fit`; there a direct eager call raises.
    A loss that is a function is what these optimizers take in eager execution.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.constant(3.0)
    slope = tf.gradients(x * x, x)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    slope = tape.gradient(y, x)
    ```

    ## Source
    - https://www.tensorflow.org/guide/autodiff
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF419"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "sessions"
    supersedes = ("TF309", "TF406", "TF408")
    calls = (*_GRADIENTS, *_STEPS)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a call by whether a graph is there, and what it is given."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        severity = certainty(call)
        if severity is None or (is_only_traced(call) and not call.runs(Context.FIT)):
            return
        if call.runs(Context.FIT) and severity is Severity.ERROR:
            severity = Severity.INFO
        if call.name in _GRADIENTS:
            where = "raises RuntimeError in eager execution"
            if severity is not Severity.ERROR:
                where = "raises RuntimeError where eager execution is on"
            yield self.report(
                call, f"`{written(call.names[0])}` {where}. Record the computation in a `tf.GradientTape`.", severity
            )
        elif not is_plain(call):
            yield from self._step(call, severity)

    def _step(self, call: Call, severity: Severity) -> Iterator[Diagnostic]:
        """Judge the loss that an optimizer is given; a function is what it takes."""
        loss = call.value("loss", 0)
        known = call.is_tensor(loss)
        if loss is None or known not in (Known.TENSOR, Known.VARIABLE, Known.LIKELY):
            return
        if known is Known.LIKELY and severity is Severity.ERROR:
            severity = Severity.WARNING
        yield self.report(
            call,
            f"`{call.path}` of a TF1 optimizer raises RuntimeError in eager execution, where its loss is to be a "
            "function and no tensor. Give a function that computes the loss, or use a `tf.GradientTape`.",
            severity,
        )
