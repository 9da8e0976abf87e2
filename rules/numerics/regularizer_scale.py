"""TF616: a regularizer that its Keras namesake doubles."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .hints import is_first


class RegularizerScale(Rule):
    """`l2_regularizer(s)` of slim and contrib is half of `tf.keras.regularizers.l2(s)`.

    ## Why
    slim adds `s * sum(x ** 2) / 2` to the loss, Keras `s * sum(x ** 2)`: 0.25 against 0.5 for s = 0.1 and [1, 2].
    `l1_regularizer` is the same in both.
    Said once for a file, as a hint for the day when it is replaced.
    No run decides this: the factor is the same for all weights.

    ## Example
    ```python
    import tf_slim as slim

    penalty = slim.l2_regularizer(1e-4)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    penalty = tf.keras.regularizers.l2(0.5e-4)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/regularizers/L2
    - https://www.tensorflow.org/guide/migrate/upgrade
    """

    code = "TF616"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    beside = ("TF405", "TF406")  # these say that contrib is gone
    calls = ("slim.l2_regularizer",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the factor at the first call in a file."""
        if is_first(call, self.code):
            yield self.report(
                call,
                f"`{call.path}(s)` is half of `tf.keras.regularizers.l2(s)`: with the same number, the penalty "
                "silently doubles. Give Keras `0.5 * s`.",
            )
