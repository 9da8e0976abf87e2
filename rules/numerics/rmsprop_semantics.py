"""TF603: RMSProp of TF1, which starts more slowly than that of Keras."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .hints import is_first


class RmspropSemantics(Rule):
    """`RMSPropOptimizer` begins its mean of squares at 1, and `tf.keras.optimizers.RMSprop` at 0.

    ## Why
    Five steps of 0.001 with a gradient of 1 move a weight by 0.0050 in TF1 and by 0.0106 with Keras.
    With a gradient of 1e-4 they are 2,700 times as long with Keras, and 17,600 times with `epsilon=1e-10`, which is
    TF1's default where that of Keras is 1e-7.
    No argument of Keras sets where the mean begins, and its velocities can be assigned once the optimizer is built:
    with ones, and TF1's epsilon, both move a weight alike. Otherwise the learning rate, or its warm-up, is to be found
    anew.
    `decay` is `rho` in Keras; `momentum` and `centered` kept their names.
    Said once for a file, as a hint for the day when it is replaced: under `tf.compat.v1` it stays as it was.

    ## Example
    ```python
    import tensorflow as tf

    optimizer = tf.compat.v1.train.RMSPropOptimizer(0.001, decay=0.95)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    kernel = tf.Variable([1.0, 2.0], name="kernel")
    optimizer = tf.keras.optimizers.RMSprop(0.001, rho=0.95, epsilon=1e-10)
    optimizer.build([kernel])
    variables = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
    for variable in variables:
        if "velocity" in variable.name:
            variable.assign(tf.ones_like(variable))
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/RMSPropOptimizer
    - https://www.tensorflow.org/api_docs/python/tf/keras/optimizers/RMSprop
    """

    code = "TF603"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    beside = ("TF108", "TF406")  # where it is made, and that the name moved
    calls = ("tensorflow.train.RMSPropOptimizer",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the first steps at the first call in a file."""
        if is_first(call, self.code):
            yield self.report(
                call,
                f"`{call.path}` begins its mean of squared gradients at 1, and `tf.keras.optimizers.RMSprop` at 0: in "
                "its place, the first steps are several times as long, and far more where gradients are small. Assign "
                "ones to the optimizer's velocities once it is built, or choose the learning rate anew; `decay` is "
                "`rho`, and epsilon was 1e-10 unless given.",
            )
