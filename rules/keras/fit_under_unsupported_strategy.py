"""TF318: `fit` under a strategy that Keras 3 does not train with."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .strategies import is_fit, strategy_of


class FitUnderUnsupportedStrategy(Rule):
    """`fit` is called on a model that is made under a strategy for several machines, which Keras 3 cannot train.

    ## Why
    Under `tf.distribute.ParameterServerStrategy`, `fit` of Keras 3 raises "you need to pass this dataset to
    ClusterCoordinator.create_per_worker_dataset".
    Under `MultiWorkerMirroredStrategy` it raises "Attempt to convert a value (PerReplica...)" as soon as there is more
    than one worker; a single worker trains, so that it only shows on the cluster.
    tf_keras trains under both.
    A loop of one's own with `strategy.run` and `strategy.reduce` works with both Kerases.

    Strategy and model are followed through names, attributes and functions of the file.
    `migrate-lint --runtime --strategy multiworker:2` and `ps:2+1` show it on one machine.

    ## Example
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    model.fit(dataset)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    model.fit(dataset)
    ```

    ## Source
    - https://keras.io/guides/distributed_training_with_tensorflow/
    - https://www.tensorflow.org/guide/distributed_training
    """

    code = "TF318"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    targets = frozenset({Target.KERAS3})
    methods = ("fit",)
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the strategy of a model that is trained."""
        strategy = strategy_of(call) if is_fit(call) and not call.version_checked else None
        if strategy is None or any(name.spelled.startswith("tf_keras") for name in call.names):
            return
        if strategy.kind == "ParameterServerStrategy":
            yield self.report(
                call,
                "`fit` of Keras 3 raises ValueError under a ParameterServerStrategy. Train in a loop of your own, or "
                "with tf_keras.",
            )
        elif strategy.kind == "MultiWorkerMirroredStrategy":
            yield self.report(
                call,
                "`fit` of Keras 3 raises ValueError under a MultiWorkerMirroredStrategy of more than one worker. Train "
                "in a loop of your own with `strategy.run`, or with tf_keras.",
                Severity.WARNING,
            )
