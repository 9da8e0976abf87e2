"""TF602: an optimizer of TF1 with a smaller epsilon than its Keras namesake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call
from ...linter.rule_api.rewriting import with_argument
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .hints import is_first, is_first_in_project

if TYPE_CHECKING:
    import libcst

_POSITIONS = {"Adadelta": 2, "Adam": 3}


class OptimizerEpsilonDefault(Rule):
    """`AdamOptimizer` and `AdadeltaOptimizer` have an epsilon of 1e-8, and those of Keras 1e-7.

    ## Why
    `tf.keras.optimizers.Adadelta` takes a first step 3.2 times as long for a gradient of 1, and with Adam small
    gradients count for less: the first step is 13 % of the old one for a gradient of 1e-7, 97 % for 1e-4.
    With `epsilon=1e-8` both are what they were.
    Said where epsilon is left to its default, as a hint for the day when it is replaced: once for a file of Adadelta,
    and once for a project of Adam, in the first file that uses it.
    Under `tf.compat.v1` both stay as they were.
    RMSProp differs in more than epsilon: TF603 speaks of it.

    ## Example
    ```python
    import tensorflow as tf

    optimizer = tf.compat.v1.train.AdadeltaOptimizer(1.0)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.Adadelta(1.0, epsilon=1e-8)
    ```

    ## Fix safety
    Safe: the epsilon that the optimizer has is written out, and goes along when Keras's takes its place.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/AdadeltaOptimizer
    - https://www.tensorflow.org/guide/migrate/migrate_tf2
    """

    code = "TF602"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    beside = ("TF108", "TF406")  # where it is made, and that the name moved
    calls = tuple(f"tensorflow.train.{kind}Optimizer" for kind in _POSITIONS)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of epsilon at the first call in a file that leaves it out."""
        kind = call.name.removeprefix("tensorflow.train.").removesuffix("Optimizer")
        if call.has_stars or call.value("epsilon", _POSITIONS.get(kind)) is not None:
            return
        if not (is_first if kind == "Adadelta" else is_first_in_project)(call, self.code):
            return
        effect = "its first steps are three times as long" if kind == "Adadelta" else "small gradients count for less"
        yield self.report(
            call,
            f"`{call.path}` has an epsilon of 1e-8, and `tf.keras.optimizers.{kind}` one of 1e-7: in its place, "
            f"{effect}. Give Keras `epsilon=1e-8`.",
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Write the epsilon out."""
        return Replacement(with_argument(node, "epsilon", "1e-8"))
