"""TF613: initializers whose defaults are no longer the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Era
from ...linter.rule_api.rewriting import with_argument
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_NORMAL = ("random_normal_initializer", "initializers.random_normal", "initializers.truncated_normal")
_UNIFORM = ("random_uniform_initializer", "initializers.random_uniform")


class InitializerDefault(Rule):
    """An initializer of TF1 is made with its defaults, which are others in TF2.

    ## Why
    `tf.random_normal_initializer()` had a standard deviation of 1.0 and has 0.05, as have
    `tf.initializers.random_normal()` and `tf.initializers.truncated_normal()`.
    `tf.random_uniform_initializer()` and `tf.initializers.random_uniform()` went from 0 to 1 and go from -0.05 to
    0.05; where one end is given, the other one is still another.
    The names are spelled as before, so only a file that is written for TF1 tells that the old values were meant.
    `tf.keras.initializers.RandomNormal` has had 0.05 since TF 1.13, and the names in `tf.compat.v1` kept theirs.
    A call with `dtype=` is left alone: it raises.

    ## Example
    ```python
    import tensorflow as tf

    start = tf.random_normal_initializer()
    weights = tf.get_variable("weights", [3, 4], initializer=start)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    start = tf.random_normal_initializer(stddev=1.0)
    weights = tf.Variable(start([3, 4]), name="weights")
    ```

    ## Fix safety
    Safe: the file is written for TF1, and is given the defaults of TF1.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/random_normal_initializer
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/random_normal_initializer
    """

    code = "TF613"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    calls = tuple(f"tensorflow.{name}" for name in (*_NORMAL, *_UNIFORM))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge an initializer in a file of TF1 by the arguments that are left out."""
        if call.file.era is not Era.TF1 or call.version_checked or call.is_compat_v1 or call.has_stars:
            return
        if any(entity.kind != "external" for entity in call.found) or len(set(call.names)) != 1:
            return
        if "dtype" in call.keywords or len(call.call.args) > 3:
            return
        name = call.name.removeprefix("tensorflow.")
        written = f"`tf.{name}`"
        missing = [f"{keyword}={value}" for keyword, value in _left_out(call)]
        if name in _UNIFORM:
            low = call.value("minval", 0)
            then, now = ("0 to 1", "-0.05 to 0.05")
            if len(missing) == 2:
                what = f"goes from {now}, where TF1's went from {then}"
            elif missing:
                what = (
                    "begins at -0.05, where TF1's began at 0" if low is None else "ends at 0.05, where TF1's ended at 1"
                )
        else:
            what = "has a standard deviation of 0.05, where TF1's had 1.0"
        if missing:
            yield self.report(
                call,
                f"{written} {what}. Give {' and '.join(f'`{text}`' for text in missing)}.",
                related=call.file.era_told,
            )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give the defaults of TF1."""
        for keyword, value in _left_out(site):
            node = with_argument(node, keyword, value)
        return Replacement(node)


def _left_out(call: Call) -> list[tuple[str, str]]:
    """The arguments that a call leaves to their defaults, with what these were in TF1."""
    defaults = [("stddev", 1, "1.0")]
    if call.name.removeprefix("tensorflow.") in _UNIFORM:
        defaults = [("minval", 0, "0.0"), ("maxval", 1, "1.0")]
    return [(keyword, text) for keyword, position, text in defaults if call.value(keyword, position) is None]
