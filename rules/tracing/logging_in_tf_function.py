"""TF202: logging where Python runs once per trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .traces import SYMBOLIC, is_failing, is_static, trace_of, values_in

_LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "exception", "fatal", "log", "vlog")
_LOGGERS = (
    "logging", "logging.getLogger()", "absl.logging", "tensorflow.logging", "tensorflow.get_logger()", "loguru.logger",
    "structlog.get_logger()", "tensorflow.python.platform.tf_logging",
)  # fmt: skip
_FIRST = tuple(f"{top}.logging.log_first_n" for top in ("absl", "tensorflow"))
"""Said once anyway, and so are warnings."""
_COUNTED = (*_FIRST, *(f"{top}.logging.log_every_n" for top in ("absl", "tensorflow")))
_TRACKERS = (
    "wandb.log", "mlflow.log_metric", "mlflow.log_metrics", "tqdm.write", "tqdm.tqdm.write", "tqdm.auto.tqdm.write",
    "tensorboardX.SummaryWriter().add_scalar", "tensorboardX.SummaryWriter().add_histogram",
    "torch.utils.tensorboard.SummaryWriter().add_scalar",
)  # fmt: skip


class LoggingInTfFunction(Rule):
    """A log call in traced code writes once per trace, and a tensor in it is symbolic.

    ## Why
    `logging`, absl, `tf.compat.v1.logging` and experiment trackers are Python: in traced code they run while the graph
    is built, not at each call.
    A record that shows a tensor shows `Tensor("Mean:0", ...)`; a metric that is logged this way has one wrong point.
    What is logged about shapes and settings is as true after one trace as after many, and is only mentioned.

    ## Example
    ```python
    import logging
    import tensorflow as tf

    @tf.function
    def step(x):
        loss = tf.reduce_mean(x)
        logging.info("loss %s", loss)
        return loss
    ```

    ## Fix
    ```python
    import logging
    import tensorflow as tf

    @tf.function
    def step(x):
        return tf.reduce_mean(x)

    logging.info("loss %s", step(tf.ones([2])).numpy())
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    - https://www.tensorflow.org/guide/migrate/migration_debugging
    """

    code = "TF202"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    supersedes = ("TF423",)
    beside = ("TF406",)  # which says where the name went
    calls = (
        *(f"{logger}.{level}" for logger in _LOGGERS for level in _LEVELS), *_COUNTED, *_TRACKERS, "warnings.warn"
    )  # fmt: skip

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a record by what it shows."""
        trace = trace_of(call)
        if trace is None or is_failing(call) or trace.made_once:
            return
        shown = [value for argument in call.arguments for value in values_in(argument)]
        symbolic = any(call.is_tensor(value) in SYMBOLIC for value in shown)
        # a setting is as true after one trace as after many
        static = not symbolic and all(isinstance(value, ast.Attribute) or is_static(call, value) for value in shown)
        written = f"`{call.path}`" if call.path and len(call.path) < 40 else "This log call"
        if symbolic or call.name in _TRACKERS:
            yield self.report(
                call,
                f"{written} runs {trace.once}, and a tensor in it is symbolic. "
                "Return the value and log it outside, or use `tf.print` or `tf.summary`.",
                trace.severity(Severity.WARNING),
                related=trace.callers,
            )
        elif shown and call.name not in ("warnings.warn", *_FIRST):
            yield self.report(
                call,
                f"{written} runs {trace.once}. Log outside of the traced code what is to be logged each time.",
                Severity.INFO if static else trace.severity(Severity.WARNING),
                related=trace.callers,
            )
