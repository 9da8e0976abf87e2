"""TF410: names of compat.v1 that work with Keras 2 only."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Import, Reference, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .api_status import Standing, missing, missing_import, standing


class V1LayersKeras3(Rule):
    """A layer, an RNN cell or the shim of compat.v1 is used with Keras 3, which has none of them.

    ## Why
    The whole of `tf.compat.v1.layers` and `tf.compat.v1.nn.rnn_cell`, and the migration tools below
    `tf.compat.v1.keras.utils`, are implemented by Keras 2.
    From TF 2.16 on `tf.keras` is Keras 3, and reading one of the names raises AttributeError, such as
    "`dense` is not available with Keras 3."
    They work with `TF_USE_LEGACY_KERAS=1` and the package tf_keras, which is the target keras2.

    ## Example
    ```python
    import tensorflow as tf

    hidden = tf.compat.v1.layers.dense(features, 8, name="hidden")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    hidden = tf.keras.layers.Dense(8, name="hidden")(features)
    ```

    ## Source
    https://github.com/keras-team/keras-io/issues/1800
    https://www.tensorflow.org/guide/migrate/model_mapping
    """

    code = "TF410"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "rnn"
    supersedes = ("TF309", "TF406")
    targets = frozenset({Target.KERAS3})
    imports = references = ("tensorflow.layers.*", "tensorflow.nn.rnn_cell.*", "keras.*")

    def on_import(self, statement: Import) -> Iterator[Diagnostic]:
        """See `Rule.on_import`."""
        found = missing_import(statement.names, statement.target)
        if found is not None and not statement.version_checked and _works_with_keras2(found, statement):
            yield self.report(statement, _message(found, "Importing ", "ImportError"))

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """See `Rule.on_reference`."""
        found = missing(reference)
        if found is not None and not reference.version_checked and _works_with_keras2(found, reference):
            yield self.report(reference, _message(found, "", "AttributeError"))


def _works_with_keras2(found: Standing, site: Import | Reference) -> bool:
    """Whether the name is one of compat.v1's, spelled so or not, that the other target still has."""
    if found.through_v1:
        return standing(site.spelled, Target.KERAS2).works
    return not found.of_keras and found.whole.startswith(("layers.", "nn.rnn_cell.")) and (
        standing(f"tensorflow.compat.v1.{found.whole}", Target.KERAS2).works
    )


def _message(found: Standing, doing: str, error: str) -> str:
    if not found.through_v1:
        return (
            f"{doing}`tf.{found.whole}` raises {error}: it left `tf`, and `tf.compat.v1.{found.whole}` is not "
            "available with Keras 3 either; rewrite it with `tf.keras.layers`."
        )
    way = "rewrite it with `tf.keras.layers`" if found.whole.startswith(("layers.", "nn.")) else "drop it"
    return (
        f"{doing}`tf.compat.v1.{found.whole}` raises {error}: it is not available with Keras 3; set "
        f"TF_USE_LEGACY_KERAS=1 and install tf_keras, or {way}."
    )
