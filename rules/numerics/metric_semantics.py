"""TF624: metrics of another name, or of another sum, than in TF1."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, File, Reference, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first

_AUC = "tensorflow.metrics.auc"
_CALLBACKS = {
    "keras.callbacks.EarlyStopping": "never stops",
    "keras.callbacks.ModelCheckpoint": "does not keep the best weights",
    "keras.callbacks.ReduceLROnPlateau": "never lowers the learning rate",
}
_KEYS = ("acc", "val_acc")


class MetricSemantics(Rule):
    """A metric is looked for under its name of TF1, or sums up otherwise than it did.

    ## Why
    The metric "accuracy" was logged as `acc` and `val_acc` up to TF 1.15, and is `accuracy` and `val_accuracy` in TF2.
    `history.history["acc"]` raises KeyError.
    A callback with `monitor="val_acc"` raises ValueError with Keras 3 where it has no `mode`; with one, and with
    Keras 2, it finds nothing and only warns: EarlyStopping stopped after one epoch and goes on for all five, and
    ModelCheckpoint with `save_best_only` keeps nothing, or with Keras 3 the last.
    The rule speaks where all `compile` of the file say their metrics, "accuracy" is one, and `acc` none.

    `tf.metrics.auc(curve="PR")` joins points by straight lines, `tf.keras.metrics.AUC` does not: 0.794 and 0.776 for
    six samples, while the curve "ROC" gives 0.722 by both.
    That is told once for a file, as a hint for the day when it is replaced.
    No run decides this: the program reads its history after training, which a run of the model does not do.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["accuracy"])
    stop = tf.keras.callbacks.EarlyStopping(monitor="val_acc")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["accuracy"])
    stop = tf.keras.callbacks.EarlyStopping(monitor="val_accuracy", mode="max")
    ```

    ## Source
    - https://www.tensorflow.org/guide/effective_tf2
    - https://www.tensorflow.org/api_docs/python/tf/keras/metrics/AUC
    """

    code = "TF624"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    recipe = "metrics"
    beside = ("TF406", "TF421")  # these say that a metric moved, and that it needs a graph
    calls = (_AUC, *_CALLBACKS)
    references = ("keras.Sequential().fit().history", "keras.Model().fit().history")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the metric that a callback looks at, and the curve of an old one."""
        if call.name == _AUC:
            if call.literal("curve", 6) == "PR" and is_first(call, self.code):
                yield self.report(
                    call,
                    f"`{call.path}` of the curve PR joins points by straight lines; `tf.keras.metrics.AUC` silently "
                    "gives another number. Compare them before numbers of TF1 serve as a measure.",
                    Severity.INFO,
                )
            return
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        if not all(name.canonical in _CALLBACKS for name in call.names):
            return  # after a conditional import, it may be anything
        monitor = call.literal("monitor", 1 if call.name.endswith("ModelCheckpoint") else 0)
        if monitor in _KEYS and _is_renamed(call.file):
            yield from self._callback(call, monitor)

    def _callback(self, call: Call, monitor: str) -> Iterator[Diagnostic]:
        advice = f"Give `monitor=\"{monitor}uracy\"`."
        if call.target is Target.KERAS3 and call.literal("mode", default="auto") == "auto":
            yield self.report(
                call,
                "The metric is logged as `accuracy` in TF2, and Keras 3 raises ValueError for the unknown "
                f"`{monitor}`. {advice}",
                consequence=Consequence.BREAKS,
            )
        elif not call.name.endswith("ModelCheckpoint") or call.literal("save_best_only", default=False) is True:
            yield self.report(
                call,
                f"The metric is logged as `accuracy` in TF2: a callback that looks at `{monitor}` silently "
                f"{_CALLBACKS[call.name]}. {advice}",
            )

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """Judge the key that is read in what `fit` logged."""
        item = reference.file.parent_of(reference.syntax)
        if reference.version_checked or not isinstance(item, ast.Subscript) or item.value is not reference.syntax:
            return
        key = item.slice.value if isinstance(item.slice, ast.Constant) else None
        tried = any(level.kind == "try" for level in reference.block.chain())
        if key in _KEYS and not tried and _is_renamed(reference.file):
            yield self.report(
                reference,
                f"The metric is logged as `accuracy` in TF2: the key `{key}` raises KeyError. Read `{key}uracy`.",
                consequence=Consequence.BREAKS,
            )


def _is_renamed(file: File) -> bool:
    """Whether all models of the file log "accuracy", and nothing in it is named as before."""
    return file.once("logs accuracy by its new name", lambda: _logs_accuracy(file) and not _names_it(file))


def _logs_accuracy(file: File) -> bool:
    given: set[str] = set()
    for call in file.calls:
        if call.method != "compile":
            continue
        metrics = call.value("metrics", 2)
        if metrics is None and not call.has_stars:
            continue
        if not isinstance(metrics, ast.List | ast.Tuple | ast.Dict | ast.Constant):
            return False
        given.update(_words(metrics))
    return "accuracy" in given and "acc" not in given


def _words(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _names_it(file: File) -> bool:
    """Whether a file asks for the old name, or logs something under it."""
    for node in ast.walk(file.index.module.node):
        if isinstance(node, ast.Compare):
            keys: list[ast.expr | None] = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            keys = node.keys
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            keys = [node.slice]
        elif isinstance(node, ast.keyword) and node.arg == "name":
            keys = [node.value]
        else:
            continue
        if any(isinstance(key, ast.Constant) and key.value in _KEYS for key in keys):
            return True
    return False
