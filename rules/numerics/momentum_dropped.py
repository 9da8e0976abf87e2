"""TF626: the momentum that a plain SGD leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first


class MomentumDropped(Rule):
    """`MomentumOptimizer` becomes `tf.keras.optimizers.SGD`, whose momentum is 0 unless it is given.

    ## Why
    Keras has no optimizer of that name, and `SGD` asks for no momentum.
    Five steps of 0.1 with a gradient of 1 move a weight by 1.31 with a momentum of 0.9, and by 0.50 without it.
    With `momentum=0.9` SGD computes what `MomentumOptimizer` did, with `nesterov=True` what it did with
    `use_nesterov=True`.
    Said once for a file, as a hint for the day when it is replaced: under `tf.compat.v1` it stays as it was.

    ## Example
    ```python
    import tensorflow as tf

    optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/MomentumOptimizer
    - https://www.tensorflow.org/guide/migrate/metrics_optimizers
    """

    code = "TF626"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    beside = ("TF108", "TF406")  # where it is made, and that the name moved
    calls = ("tensorflow.train.MomentumOptimizer",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the momentum at the first call in a file that gives one."""
        if call.literal("momentum", 1) == 0 or not is_first(call, self.code):
            return
        nesterov = call.literal("use_nesterov", 3) not in (None, False)
        also = " and `nesterov=`, which was `use_nesterov=`" if nesterov else ""
        yield self.report(
            call,
            f"`tf.keras.optimizers.SGD`, which takes the place of `{call.path}`, has a momentum of 0 unless it is "
            f"given. Give it `momentum=`{also}.",
        )
