"""TF611: weighted losses of TF1, which divide by what counts and not by the size of the batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Known
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first

_WEIGHTS = {
    "absolute_difference": 2,
    "compute_weighted_loss": 1,
    "cosine_distance": 3,
    "hinge_loss": 2,
    "huber_loss": 2,
    "log_loss": 2,
    "mean_squared_error": 2,
    "sigmoid_cross_entropy": 2,
    "softmax_cross_entropy": 2,
    "sparse_softmax_cross_entropy": 2,
}


class LossReduction(Rule):
    """A loss of `tf.losses` with weights divides by how many are not 0, and a Keras loss by the size of the batch.

    ## Why
    Four squared errors 1, 4, 9 and 16 with weights 1, 1, 0 and 0 give 2.5 in TF1.
    `tf.keras.losses.MeanSquaredError()` with the same `sample_weight` gives 1.25: masked entries make the loss smaller,
    and with it the gradients.
    No `reduction=` of Keras does the same with both targets; divide the sum yourself.
    Without weights, and with a number, the two agree.
    Said once for a name and file, where weights are given that are neither a number nor an attribute, and `reduction=`
    is left to its default, as a hint for the day when it is replaced: under `tf.compat.v1` it stays as it was.

    ## Example
    ```python
    import tensorflow as tf

    def loss(labels, outputs, mask):
        return tf.compat.v1.losses.mean_squared_error(labels, outputs, weights=mask)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def loss(labels, outputs, mask):
        total = tf.reduce_sum(mask * tf.square(labels - outputs))
        return tf.math.divide_no_nan(total, tf.cast(tf.math.count_nonzero(mask), total.dtype))
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/losses/Reduction
    - https://www.tensorflow.org/api_docs/python/tf/keras/Loss
    """

    code = "TF611"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    beside = ("TF406", "TF407", "TF408")  # that the name, or an argument, is gone
    calls = tuple(f"tensorflow.losses.{name}" for name in _WEIGHTS)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the divisor at the first call in a file that is given weights."""
        position = _WEIGHTS.get(call.name.rpartition(".")[2])
        weights = call.value("weights", position)
        if call.has_stars or "reduction" in call.keywords or len(call.call.args) > 5:
            return
        if weights is None or not _may_mask(call, weights) or not is_first(call, self.code):
            return
        yield self.report(
            call,
            f"`{call.path}` divides by the number of weights that are not 0, and a Keras loss with `sample_weight` by "
            "the size of the batch: with a mask it is silently smaller. In its place, divide the weighted sum by "
            "`tf.math.count_nonzero` of the weights.",
        )


def _may_mask(call: Call, weights: ast.expr) -> bool:
    """Whether weights are not known to be one number, and are no attribute that may hold one."""
    if isinstance(weights, ast.List | ast.Tuple):
        return True
    if isinstance(weights, ast.Attribute | ast.Constant | ast.UnaryOp):
        return False
    return call.is_tensor(weights) is not Known.OTHER
