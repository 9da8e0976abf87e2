"""TF631: a cosine that became a loss of the other sign."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Era
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first

_OLD = {
    "tensorflow.losses.cosine_distance": "`tf.keras.losses.cosine_similarity` is -cosine",
    "tensorflow.metrics.mean_cosine_distance": "`tf.keras.metrics.CosineSimilarity` is +cosine",
}
_FUNCTION, _CLASS = "keras.losses.cosine_similarity", "keras.losses.CosineSimilarity"


class CosineSign(Rule):
    """The cosine of Keras has another sign than that of TF1, and is no distance.

    ## Why
    `tf.losses.cosine_distance` of TF1 is one minus the product of vectors that the program has normalized itself.
    `tf.keras.losses.cosine_similarity` normalizes them, and is minus the cosine: 0.2 became -0.8.
    In TF 1.15 that Keras function was the cosine itself, 0.8, so that what was `1 - similarity` is 1.8 in TF2 for
    vectors of an angle of 37 degrees, and grows as they come closer.
    `tf.keras.metrics.CosineSimilarity` is +0.8 in both.

    The old names are told once for a file, as a hint for the day when they are replaced.

    ## Example
    ```python
    import tensorflow as tf

    def distance(a, b):
        return 1 - tf.keras.losses.cosine_similarity(a, b)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def distance(a, b):
        return 1 + tf.keras.losses.cosine_similarity(a, b)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/losses/CosineSimilarity
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/losses/cosine_distance
    """

    code = "TF631"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    beside = ("TF406", "TF408", "TF421")  # these say that a name or a keyword left, and that a metric needs a graph
    calls = (*_OLD, _FUNCTION, _CLASS)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a cosine by its name and by what it is subtracted from."""
        if call.name in _OLD:
            if is_first(call, self.code):
                yield self.report(
                    call,
                    f"`{call.path}` is 1 - cosine of vectors that are normalized already; {_OLD[call.name]}, and "
                    "normalizes them: a number of another sign, silently.",
                    Severity.INFO,
                )
        elif call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        elif call.name == _FUNCTION and _is_subtracted(call):
            yield self.report(
                call,
                f"`{call.path}` is minus the cosine: one minus it silently grows as the vectors come closer. Add it to "
                "1 instead.",
            )
        elif call.file.era is Era.TF1 and all(one.spelled.startswith("tensorflow.keras.") for one in call.names):
            if is_first(call, self.code):
                yield self.report(
                    call,
                    f"`{call.path}` is minus the cosine, where TF 1.15 had the cosine itself: the sign silently "
                    "changed. Turn round what was added for it.",
                    related=call.file.era_told,
                )


def _is_subtracted(call: Call) -> bool:
    """Whether it is taken from a 1."""
    around = call.file.parent_of(call.call)
    if not isinstance(around, ast.BinOp) or not isinstance(around.op, ast.Sub) or around.right is not call.call:
        return False
    return isinstance(around.left, ast.Constant) and around.left.value == 1
