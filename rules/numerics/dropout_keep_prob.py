"""TF601: how much `tf.nn.dropout` keeps, given as how much it drops."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Era, path_of
from ...linter.rule_api.rewriting import argument, expression, operand, with_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_HALF = 0.5
"""As much is kept as is dropped."""


class DropoutKeepProb(Rule):
    """`tf.nn.dropout` is told what to keep, and drops as much.

    ## Why
    TF1's `tf.nn.dropout(x, keep_prob)` became `tf.nn.dropout(x, rate)`: `tf.nn.dropout(x, 0.9)` kept 90 of 100 numbers
    and now keeps 10, without a word.
    A 1.0, which kept everything, raises ValueError, and drops everything where it is a tensor.
    The keyword `keep_prob=` raises TypeError.
    A second argument is judged where it is named after what is kept, or where the file is written for TF1.
    `tf.compat.v1.nn.dropout` means what it did.

    ## Example
    ```python
    import tensorflow as tf

    def hidden(x, keep_prob):
        return tf.nn.dropout(x, keep_prob)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def hidden(x, keep_prob):
        return tf.nn.dropout(x, rate=1 - keep_prob)
    ```

    ## Fix safety
    Safe where the second argument is `keep_prob=`, or the file is written for TF1: `rate` is 1 minus what was kept.
    Unsafe where only the name of a variable says that it is what is kept.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/nn/dropout
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/nn/dropout
    """

    code = "TF601"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    supersedes = ("TF407", "TF408")
    calls = ("tensorflow.nn.dropout",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the second argument."""
        if call.version_checked or call.is_compat_v1 or any(entity.kind != "external" for entity in call.found):
            return
        if "keep_prob" in call.keywords:
            yield self.report(
                call,
                "`tf.nn.dropout` has no `keep_prob` any more: that raises TypeError. Give `rate=1 - keep_prob`.",
                consequence=Consequence.BREAKS,
            )
            return
        value = call.value("rate", 1)
        if value is None or (isinstance(value, ast.Constant) and value.value == _HALF):
            return
        shown = ast.unparse(value)
        shown = shown if len(shown) < 40 else "the second argument"
        if _is_kept(value):
            yield self.report(
                call,
                f"`tf.nn.dropout` drops `{shown}` of the numbers, where its name says that they are kept. Give "
                f"`rate=1 - {shown}`.",
                Severity.ERROR if call.file.era is Era.TF1 and "rate" not in call.keywords else Severity.WARNING,
            )
        elif "rate" not in call.keywords and call.file.era is Era.TF1:
            if isinstance(value, ast.Constant) and value.value in (0, 1):
                if value.value:
                    yield self.report(
                        call,
                        "`tf.nn.dropout` with 1.0, by which TF1 kept everything, raises ValueError: it is the rate "
                        "that is dropped. Give `rate=0.0`.",
                        consequence=Consequence.BREAKS,
                        related=call.file.era_told,
                    )
                return
            yield self.report(
                call,
                f"`tf.nn.dropout` kept `{shown}` of the numbers in TF1 and drops as much in TF2. Give "
                "`rate=` 1 minus that.",
                related=call.file.era_told,
            )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give the rate: 1 minus the second argument."""
        import libcst

        kept = argument(node, "keep_prob") or argument(node, "rate", 1)
        if kept is None or site.has_stars:
            return None
        one = expression("1 - _")
        assert isinstance(one, libcst.BinaryOperation)
        rate: libcst.BaseExpression = one.with_changes(right=operand(kept.value))
        value = site.literal("keep_prob", default=site.literal("rate", 1))
        if value in (0, 1):
            rate = expression(f"{1.0 - value}")
        named = kept.keyword is not None and kept.keyword.value == "rate"
        safe = not named and ("keep_prob" in site.keywords or site.file.era is Era.TF1)
        reason = "" if safe else "a name alone says that this is what is kept, and not what is dropped"
        new = with_argument(node, "rate", rate, kept)
        return Replacement(new, Applicability.SAFE if safe else Applicability.UNSAFE, reason)


def _is_kept(value: ast.expr) -> bool:
    """Whether a name or an attribute says that it is what is kept."""
    name = (path_of(value) or "").rpartition(".")[2].strip("_").lower()
    return "keep" in name.split("_") or name.startswith("keepprob")
