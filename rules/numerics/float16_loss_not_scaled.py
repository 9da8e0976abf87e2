"""TF632: a loop of one's own under float16 whose loss is not scaled."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, File
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .models import tape_of

_POLICIES = frozenset(
    f"keras.mixed_precision.{name}"
    for name in ("Policy", "set_global_policy", "set_dtype_policy", "experimental.Policy", "experimental.set_policy")
) | {"keras.config.set_dtype_policy"}
_SCALES = frozenset({"scale_loss", "get_scaled_loss", "get_unscaled_gradients"})
_REWRITES = ("tensorflow.train.experimental.enable_mixed_precision_graph_rewrite",)


class Float16LossNotScaled(Rule):
    """A training loop of one's own runs under the policy `mixed_float16` and does not scale its loss.

    ## Why
    float16 has no numbers below 6e-8: a gradient of 1e-8 is 0 there, and the weight stays what it is.
    `fit` multiplies the loss before the gradients are taken, and divides them afterwards; in a loop with a
    `GradientTape` the program has to.
    An optimizer that `compile` has wrapped divides all the same: with a loss that is not scaled, its steps are some
    thousand times too small.
    `mixed_bfloat16` needs none of that.
    No run judges it: whether a gradient is too small for float16 depends on the data, and sample inputs say nothing of
    that.

    ## Example
    ```python
    import tensorflow as tf

    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD()

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD())

    def step(x):
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(tf.reduce_sum(model(x, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Source
    - https://www.tensorflow.org/guide/mixed_precision
    - https://keras.io/api/optimizers/loss_scale_optimizer/
    """

    code = "TF632"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = ("tensorflow.GradientTape",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a tape that trains, in a file that sets the policy."""
        policy = call.file.once("float16 policy", lambda: _policy(call.file))
        if policy is None or call.version_checked:
            return
        tape = tape_of(call)
        if tape is None or not tape.is_training or not tape.gradients:
            return
        yield self.report(
            tape.gradients[0],
            "The gradients are taken of a loss that is not scaled, under `mixed_float16`: small ones become 0. Give "
            "`tape.gradient` what `scale_loss` (`get_scaled_loss` with Keras 2) of a `LossScaleOptimizer` makes of it.",
            related=(policy.location("the policy"),),
        )


def _policy(file: File) -> Call | None:
    """Where a file sets the policy, if nothing in it scales a loss."""
    if any(call.method in _SCALES or call.name in _REWRITES for call in file.calls):
        return None
    for call in file.calls:
        if call.name in _POLICIES and "mixed_float16" in (call.literal("policy", 0), call.literal("name", 0)):
            if not call.version_checked and all(entity.kind == "external" for entity in call.found):
                return call
    return None
