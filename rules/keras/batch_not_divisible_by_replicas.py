"""TF319: a batch that the replicas of a strategy do not divide."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .strategies import is_fit, strategy_of


class BatchNotDivisibleByReplicas(Rule):
    """`fit` is given a batch size that the replicas of its strategy do not divide.

    ## Why
    Under a `MirroredStrategy` of three devices, `fit(..., batch_size=4)` of Keras 3 raises InvalidArgumentError,
    "Inputs to operation AddN ... must have the same size and shape": one replica's share is smaller than another's.
    tf_keras trains.
    The rule speaks where the devices and the batch size are written out.
    `migrate-lint --runtime --strategy mirrored:3` shows it on one machine.

    ## Example
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1", "GPU:2"])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    model.fit(x, y, batch_size=64)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1", "GPU:2"])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    model.fit(x, y, batch_size=63)
    ```

    ## Source
    - https://keras.io/guides/distributed_training_with_tensorflow/
    """

    code = "TF319"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    targets = frozenset({Target.KERAS3})
    methods = ("fit",)
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Divide the batch size by the number of devices."""
        size = call.literal("batch_size", 2)
        if type(size) is not int or not is_fit(call) or call.version_checked:
            return
        if any(name.spelled.startswith("tf_keras") for name in call.names):
            return
        strategy = strategy_of(call)
        if strategy is None or strategy.kind != "MirroredStrategy" or strategy.made is None:
            return
        devices = strategy.made.value("devices", 0)
        if not isinstance(devices, ast.List | ast.Tuple) or any(isinstance(one, ast.Starred) for one in devices.elts):
            return
        count = len(devices.elts)
        if count and size % count:
            yield self.report(
                call,
                f"`fit` of Keras 3 raises InvalidArgumentError for a batch of {size} over {count} replicas. Give a "
                f"multiple of {count}.",
            )
