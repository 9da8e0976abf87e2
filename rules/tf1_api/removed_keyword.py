"""TF408: keywords that a function of TF2 no longer takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import written
from .signatures import as_in_tf1, is_of_tf2, is_tried, signatures

if TYPE_CHECKING:
    import libcst

_SCOPE = "tensorflow.name_scope"
_VARIABLE = "tensorflow.Variable"
_REFUSED = frozenset({"ValueError", "Exception", "BaseException"})


class RemovedKeyword(Rule):
    """A function is given a keyword of TF1 that it does not take in TF2.

    ## Why
    Some 120 functions of `tf` kept their names and lost keywords, most of which have another name now: `keep_dims` is
    `keepdims`, `reduction_indices` and `dim` are `axis`.
    A call that gives one raises TypeError.
    The function of `tf.compat.v1` takes them all.
    `tf.Variable` takes any keyword and ignores those of TF1: only `collections` is missed.
    `tf.name_scope` no longer takes None for a name, which left all scopes in TF1: that raises ValueError.
    The parameters were read from TensorFlow 1.15 and 2.21 themselves.

    ## Example
    ```python
    import tensorflow as tf

    total = tf.reduce_sum(tf.ones([2, 3]), reduction_indices=1, keep_dims=True)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    total = tf.reduce_sum(tf.ones([2, 3]), axis=1, keepdims=True)
    ```

    ## Fix safety
    Safe: a call that raises computes what it did in TF1. Its arguments are given by the names that the parameters have
    now, or, where the function computes something else in TF2 or lost a parameter, compat.v1's function is called.
    Of `tf.Variable` with `collections=` nothing is changed.

    ## Source
    - https://www.tensorflow.org/guide/migrate/upgrade
    - https://www.tensorflow.org/api_docs/python/tf/math/reduce_sum
    """

    code = "TF408"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL
    calls = (*(name for name, signature in signatures().items() if signature.gone), _VARIABLE)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        signature = signatures().get(call.name)
        if signature is None:
            return
        if call.name == _VARIABLE and "collections" in call.keywords and is_of_tf2(call):
            yield self.report(
                call,
                "`tf.Variable` silently ignores `collections=` in TF2, and the variable is in none of them: keep it in "
                "an attribute.",
                Severity.WARNING,
                consequence=Consequence.CHANGES,
            )
        if call.name == _SCOPE and len(call.arguments) == 1 and is_none(call.value("name", 0)):
            if is_of_tf2(call) and not is_tried(call, _REFUSED):
                yield self.report(
                    call,
                    "`tf.name_scope` takes no None for a name in TF2: that raises ValueError. To leave all scopes, "
                    "enter `tf.name_scope('/')`.",
                )
            return
        given = [keyword for keyword in call.keywords if keyword in signature.gone]
        if not given or not is_of_tf2(call):
            return
        renamed = [f"`{old}=` is `{signature.gone[old]}=`" for old in given if signature.gone[old]]
        advice = f"{' and '.join(renamed)} now" if renamed else f"It takes {_listed(signature.new)}"
        if renamed and len(renamed) < len(given):
            advice += ", and the rest is to be left out"
        words = " and no ".join(f"`{one}=`" for one in given)
        yield self.report(
            call, f"`{written(call.names[0])}` takes no {words} in TF2: that raises TypeError. {advice}."
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give the arguments by the keywords of TF2, or call the function of compat.v1."""
        return as_in_tf1(node, site) if site.name != _VARIABLE else None


def _listed(names: tuple[str, ...]) -> str:
    """Names with commas, and an ``and`` before the last."""
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
