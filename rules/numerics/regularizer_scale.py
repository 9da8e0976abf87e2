"""TF616: a regularizer that its Keras namesake doubles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import UNKNOWN, Call, Known
from ...linter.rule_api.rewriting import argument, expression, operand, with_function
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Replacement, Rule, Severity
from .hints import is_first

if TYPE_CHECKING:
    import libcst

_TENSORS = frozenset({Known.TENSOR, Known.VARIABLE, Known.LIKELY})


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

    ## Fix safety
    Unsafe: the penalty is the same, but a regularizer of Keras takes the place of one of slim, and what it is given to
    has to take that. There is no fix where the scale is none of Keras's, such as a tensor, and where a scope is given.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/regularizers/L2
    - https://www.tensorflow.org/guide/migrate/upgrade
    """

    code = "TF616"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    recipe = "slim"
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

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Make the regularizer of Keras, with half of the scale."""
        import libcst

        scale = argument(node, "scale", 0)
        value = site.value("scale", 0)
        written = site.importable("tensorflow.keras.regularizers.l2")
        if scale is None or value is None or len(node.args) != 1 or site.has_stars or written is None:
            return None
        number = site.literal("scale", 0)
        if site.is_tensor(value) in _TENSORS or (number is not UNKNOWN and (type(number) is not float or not number)):
            return None
        half = expression("0.5 * _")
        assert isinstance(half, libcst.BinaryOperation)
        given = scale.with_changes(
            keyword=None, equal=libcst.MaybeSentinel.DEFAULT, value=half.with_changes(right=operand(scale.value))
        )
        new = with_function(node, written[0]).with_changes(args=[given])
        return Replacement(
            new,
            Applicability.UNSAFE,
            "what it is given to has to take a regularizer of Keras in place of one of slim",
            written[1],
        )
