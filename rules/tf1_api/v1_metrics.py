"""TF421: metrics that are a value and an operation which updates it."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Era
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .api_status import standing, written
from .graph_calls import judged

SUCCESSORS = {
    "accuracy": "Accuracy",
    "auc": "AUC",
    "false_negatives": "FalseNegatives",
    "false_positives": "FalsePositives",
    "mean": "Mean",
    "mean_absolute_error": "MeanAbsoluteError",
    "mean_cosine_distance": "CosineSimilarity",
    "mean_iou": "MeanIoU",
    "mean_relative_error": "MeanRelativeError",
    "mean_squared_error": "MeanSquaredError",
    "precision": "Precision",
    "recall": "Recall",
    "root_mean_squared_error": "RootMeanSquaredError",
    "sensitivity_at_specificity": "SensitivityAtSpecificity",
    "specificity_at_sensitivity": "SpecificityAtSensitivity",
    "true_negatives": "TrueNegatives",
    "true_positives": "TruePositives",
}
"""The Keras metric for what a function of `tf.metrics` counted."""
_OTHERS = (
    "average_precision_at_k", "false_negatives_at_thresholds", "false_positives_at_thresholds",
    "mean_per_class_accuracy", "mean_tensor", "percentage_below", "precision_at_k", "precision_at_thresholds",
    "precision_at_top_k", "recall_at_k", "recall_at_thresholds", "recall_at_top_k", "sparse_average_precision_at_k",
    "sparse_precision_at_k", "true_negatives_at_thresholds", "true_positives_at_thresholds",
)  # fmt: skip
_GONE_IN_KERAS3 = frozenset({"MeanRelativeError"})


class V1Metrics(Rule):
    """A metric of TF1 is made, which counts in local variables of a graph.

    ## Why
    A function of `tf.compat.v1.metrics` returns a value and an operation that updates it.
    In eager execution it raises "tf.metrics.accuracy is not supported when eager execution is enabled."
    `tf.metrics` is Keras's module in TF2, with other names; what they count is set to zero by `reset_state`, where a
    TF1 program ran the initializer of the local variables.
    In a `tf.function` it raises ValueError, since it makes variables.
    `tf.metrics.mean_squared_error` and `mean_absolute_error` are there with Keras 2, as functions that return one value
    for each sample, and keep no count.

    ## Example
    ```python
    import tensorflow as tf

    value, update = tf.compat.v1.metrics.accuracy(labels, predictions)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    accuracy = tf.keras.metrics.Accuracy()
    accuracy.update_state(labels, predictions)
    value = accuracy.result()
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/metrics_optimizers
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/metrics/accuracy
    """

    code = "TF421"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "metrics"
    supersedes = ("TF406",)
    calls = tuple(f"tensorflow.metrics.{name}" for name in (*SUCCESSORS, *_OTHERS))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if not call.is_compat_v1 and any(standing(name.spelled, call.target).works for name in call.names):
            yield from self._renamed(call)
            return
        successor = instead(call.name.rpartition(".")[2])
        advice = f"use {successor}" if successor else "use a metric of Keras, or one of your own"
        yield from judged(self, call, "RuntimeError", advice, traced="ValueError")

    def _renamed(self, call: Call) -> Iterator[Diagnostic]:
        """What Keras 2 has under the same name, where a TF1 program reads it."""
        if call.file.era is Era.TF1 and not call.version_checked:
            yield self.report(
                call,
                f"`{written(call.names[0])}` is a function of Keras in TF2: it returns a value for each sample, no "
                "operation to update a count. Use a class of `tf.keras.metrics`.",
                Severity.WARNING,
                consequence=Consequence.CHANGES,
                related=call.file.era_told,
            )


def instead(name: str) -> str:
    """The Keras metric for a function of `tf.metrics`, as it stands in a message; empty where there is none."""
    successor = SUCCESSORS.get(name, "")
    return f"`tf.keras.metrics.{successor}`" if successor and successor not in _GONE_IN_KERAS3 else ""
