"""TF202: logging where Python runs once per trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Target
from ...linter.rule_api.rewriting import expression, has_comment
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .autograph import is_tensor
from .traces import SYMBOLIC, is_failing, is_static, trace_of, values_in

if TYPE_CHECKING:
    import libcst

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
_PLAIN_LOGGERS = frozenset(logger for logger in _LOGGERS if not logger.startswith(("loguru", "structlog")))
"""They put their arguments into the text with ``%``."""
_PLAIN_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical"})
"""They write a text and do nothing else."""


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

    ## Fix safety
    Unsafe: `tf.print` writes at each call, on the standard error, and neither the logger's level nor its handlers have
    a say; XLA, which Keras 3 uses under `fit` on a GPU by itself, cannot print.
    There is one only where the arguments surely are tensors, each at a `%s` of a literal text.

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

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Print with TensorFlow."""
        logger, _, level = site.name.rpartition(".")
        trace, written = trace_of(site), site.importable("tensorflow.print")
        if trace is None or written is None or len(site.found) != 1 or not site.discarded:
            return None
        if logger not in _PLAIN_LOGGERS or level not in _PLAIN_LEVELS or site.call.keywords or has_comment(node):
            return None
        text, *values = site.call.args
        alone = not values and is_tensor(site, text)
        args = node.args if alone else _arguments(node)
        if args is None or not (alone or values) or not all(is_tensor(site, value) for value in values):
            return None
        reason = "it is written at each call, whatever the level of the logger"
        if trace.how == "fit" and site.target is Target.KERAS3:
            reason = "XLA, which `fit` uses on a GPU by itself, cannot print"
        new = node.with_changes(func=expression(written[0]), args=args)
        return Replacement(new, Applicability.UNSAFE, reason, written[1])


def _arguments(call: libcst.Call) -> list[libcst.Arg] | None:
    """What prints a text with its arguments; None where that is not told by ``%s`` alone."""
    import libcst

    first, *values = call.args
    literal = first.value
    if not isinstance(literal, libcst.SimpleString) or literal.lpar or first.star or len(literal.quote) != 1:
        return None
    inner = literal.value[1:-1]
    pieces = inner.split("%s")
    if literal.prefix or "\\" in inner or "%" in "".join(pieces) or len(pieces) != len(values) + 1:
        return None
    shown = _with_blanks_between(pieces)
    wanted = pieces if shown is None else shown
    made: list[libcst.Arg] = []
    for number, piece in enumerate(wanted):
        if piece:
            text = libcst.Arg(literal.with_changes(value=f"{literal.quote}{piece}{literal.quote}"))
            made.append(first.with_changes(value=text.value) if number == 0 else text)
        made += values[number : number + 1]
    if shown is None:
        equal = libcst.AssignEqual(libcst.SimpleWhitespace(""), libcst.SimpleWhitespace(""))
        made.append(libcst.Arg(libcst.SimpleString('""'), libcst.Name("sep"), equal=equal))
    last, old = made[-1], values[-1] if values else first
    if last is not old:
        none = libcst.SimpleWhitespace("")
        made = [
            one.with_changes(comma=libcst.MaybeSentinel.DEFAULT, whitespace_after_arg=none) if one is old else one
            for one in made[:-1]
        ]
        made.append(last.with_changes(comma=old.comma, whitespace_after_arg=old.whitespace_after_arg))
    return made


def _with_blanks_between(pieces: Sequence[str]) -> list[str] | None:
    """The pieces of a text between values without the blanks that `tf.print` sets; None where it is not these."""
    bare = []
    for number, piece in enumerate(pieces):
        text = piece
        if text and number > 0:
            if not text.startswith(" "):
                return None
            text = text[1:]
        if text and number < len(pieces) - 1:
            if not text.endswith(" "):
                return None
            text = text[:-1]
        is_between = 0 < number < len(pieces) - 1
        if (not text and piece != " " * is_between) or (is_between and not piece):
            return None
        bare.append(text)
    return bare
