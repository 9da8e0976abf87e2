"""TF633: the moving variance of batch normalization, which Keras 3 divides by another number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Reference
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity, Target
from .hints import is_first

_LEAST = 1.001e-5
"""The least epsilon of the fused operation of TF 1.15, which raises a smaller one to it [run]."""
_POSITIONS = {"slim.batch_norm": 4, "tensorflow.layers.batch_normalization": 3, "tensorflow.nn.fused_batch_norm": 5}
"""Where the epsilon stands among the arguments."""
_FUSES_ROWS = "slim.batch_norm"
"""What normalizes by the fused operation whatever has two dimensions, too [run]."""


class MovingVarianceKeras3(Rule):
    """Batch normalization of images keeps the variance of n - 1 values, and that of Keras 3 the variance of n.

    ## Why
    TF1 normalizes what has four dimensions by its fused operation, and so does Keras 2: its moving variance is the sum
    of squares divided by n - 1, where n counts the batch and the pixels. Keras 3 divides by n, as those without
    `fused` do.
    The function of slim and of contrib takes the fused operation for rows, too, as behind a fully connected layer: n is
    the size of the batch then, and with 16 rows each update is a fifteenth larger. `tf.layers` does not.
    Training computes the same; after it, the evaluation differs, by 1/n: 0.0057 for 0.0075 with four values a channel,
    and nothing that shows with thousands.
    TF 1.15 also raises an epsilon below 1.001e-5 to that, and TF2 does not: it shows where the variance is as small.
    A checkpoint of the old model has the variance it was trained with, and Keras 3 evaluates that as TF1 did.
    Said once for a name and file, as a hint for the day when it is replaced. `verify` tells how far it goes.

    ## Example
    ```python
    import tensorflow as tf

    def block(images, training):
        return tf.compat.v1.layers.batch_normalization(images, training=training)
    ```

    ## Fix
    Where the evaluation has to be what it was, take a layer that counts as TF1 did, or Keras 2 for images. Else accept
    it.

    ```python
    import tensorflow as tf

    class FusedNormalization(tf.keras.layers.BatchNormalization):
        def call(self, inputs, training=False, mask=None):
            kept = tf.convert_to_tensor(self.moving_variance) * self.momentum
            outputs = super().call(inputs, training=training, mask=mask)
            if training and self.trainable:
                n = tf.cast(tf.size(inputs) // inputs.shape[self.axis], kept.dtype)
                added = (self.moving_variance - kept) * n / tf.maximum(n - 1, 1)
                self.moving_variance.assign(kept + added)
            return outputs

    norm = FusedNormalization()

    def block(images, training):
        return norm(images, training=training)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/nn/fused_batch_norm
    - https://keras.io/api/layers/normalization_layers/batch_normalization/
    """

    code = "TF633"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "slim"
    targets = frozenset({Target.KERAS3})
    beside = ("TF103", "TF104", "TF105", "TF106", "TF107", "TF110", "TF405", "TF406", "TF410", "TF607", "TF609")
    references = tuple(_POSITIONS)

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """Tell of the variance, and of a smaller epsilon, where it is first called, or given to a layer."""
        parent = reference.file.parent_of(reference.syntax)
        called = isinstance(parent, ast.Call) and parent.func is reference.syntax
        call = reference.file.call_at(parent) if isinstance(parent, ast.Call) and called else None
        off = () if call is None else (call.literal(one, None, None) for one in ("fused", "training", "is_training"))
        if any(one is False for one in off):  # of what is never trained nothing moves
            return
        if not is_first(reference, self.code):
            return
        epsilon = call.literal("epsilon", _POSITIONS[call.name], None) if call is not None else None
        least = isinstance(epsilon, float) and 0 < epsilon < _LEAST
        what = "images or rows" if _FUSES_ROWS in (name.canonical for name in reference.names) else "images"
        also = f" TF 1.15 raised the epsilon of {epsilon:g} to 1.001e-5, and TF2 does not." if least else ""
        yield self.report(
            reference,
            f"`{reference.path}` of {what} keeps a moving variance of n - 1 values, and "
            "`tf.keras.layers.BatchNormalization` of Keras 3 one of n: trained alike, they evaluate otherwise where a "
            f"batch has few values a channel.{also}",
        )
