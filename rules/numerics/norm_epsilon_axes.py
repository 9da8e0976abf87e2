"""TF615: normalizations of slim, over other axes and with another epsilon than those of Keras."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first

_EPSILON = {"group_norm": 6, "instance_norm": 3}


class NormEpsilonAxes(Rule):
    """`layer_norm` of slim and contrib normalizes over all axes but the first, and Keras over the last one.

    ## Why
    Its epsilon is 1e-12, and that of `tf.keras.layers.LayerNormalization` 1e-3: the vector [0.01, -0.01] becomes
    [1.00, -1.00] in slim and [0.30, -0.30] in Keras.
    `GroupNormalization(groups=1, epsilon=1e-12)` computes what `layer_norm` does, with the same weights, for inputs of
    every rank.
    `group_norm` and `instance_norm` have an epsilon of 1e-6, and the `GroupNormalization` of Keras 1e-3.
    Said once for a name and file, as a hint for the day when it is replaced; not where epsilon is given and the axes
    are the same.
    No run decides this: the two have other variables, and no pair of calls to compare; `verify` compares the models.

    ## Example
    ```python
    import tf_slim as slim

    def normalized(x):
        return slim.layer_norm(x)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    normalized = tf.keras.layers.GroupNormalization(groups=1, epsilon=1e-12)
    ```

    ## Source
    - https://github.com/google-research/tf-slim/blob/master/tf_slim/layers/layers.py
    - https://www.tensorflow.org/api_docs/python/tf/keras/layers/LayerNormalization
    """

    code = "TF615"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    beside = ("TF104", "TF105", "TF106", "TF110", "TF405")  # where it is made, and that contrib is gone
    calls = ("slim.group_norm", "slim.instance_norm", "slim.layer_norm")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of epsilon and of the axes at the first call in a file that leaves them as they are."""
        name = call.name.removeprefix("slim.")
        if call.has_stars or (name in _EPSILON and call.value("epsilon", _EPSILON[name]) is not None):
            return
        if not is_first(call, self.code):
            return
        if name in _EPSILON:
            groups = "groups=-1, " if name == "instance_norm" else ""
            what = "has an epsilon of 1e-6, and `tf.keras.layers.GroupNormalization` one of 1e-3"
            advice = f"give Keras `{groups}epsilon=1e-6`"
        elif call.literal("begin_norm_axis", 8, 1) == 1:
            what = (
                "normalizes over all axes but the first with an epsilon of 1e-12, and "
                "`tf.keras.layers.LayerNormalization` over the last one with 1e-3"
            )
            advice = "take `tf.keras.layers.GroupNormalization(groups=1, epsilon=1e-12)`"
        else:
            what = "has an epsilon of 1e-12, and `tf.keras.layers.LayerNormalization` one of 1e-3"
            advice = "give Keras `epsilon=1e-12`"
        yield self.report(call, f"`{call.path}` {what}. In its place, {advice}.")
