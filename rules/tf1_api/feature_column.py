"""TF427: feature columns, which Keras 3 has no layer for."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Reference, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity

_COLUMNS = "tensorflow.feature_column"


class FeatureColumn(Rule):
    """Feature columns still exist, and what took them does not, or keeps its variables out of sight.

    ## Why
    A column is a description, and works by itself.
    What made tensors of it were Estimators, which TF 2.16 removed, and `tf.keras.layers.DenseFeatures`, which Keras 3
    does not have.
    The documentation calls the module deprecated, and points to the preprocessing layers of Keras.
    It is told once for each file.

    ## Example
    ```python
    import tensorflow as tf

    age = tf.feature_column.numeric_column("age")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    age = tf.keras.layers.Normalization(axis=None)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/migrating_feature_columns
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF427"
    severity = Severity.INFO
    consequence = Consequence.LEGACY
    effort = Effort.THOUGHT
    beside = ("TF309", "TF406")  # which say that a name is gone, where one is
    references = (f"{_COLUMNS}.*",)

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """See `Rule.on_reference`."""
        told: set[str] = reference.file.once("told of feature columns", set)
        if told or reference.version_checked or any(one.kind != "external" for one in reference.found):
            return
        told.add(reference.name)
        keras3 = reference.target is Target.KERAS3
        takes = "no layer of Keras 3 takes" if keras3 else "only `DenseFeatures` of Keras 2 takes"
        yield self.report(
            reference,
            f"`tf.feature_column` describes inputs of Estimators, and {takes} its columns: use the preprocessing "
            "layers of Keras.",
        )
