"""TF607: the batch normalization of slim, whose defaults are not those of Keras."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ...linter.rule_api.model import Reference
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first
from .slim_defaults import is_scoped, scoped

_ADVICE = {"decay": "`momentum=0.999`", "scale": "`scale=False`"}
_DEBIAS = "zero_debias_moving_mean"
_DEBIASED = (
    f"corrects its moving mean for the zero that it begins with (`{_DEBIAS}=True`), and "
    "`tf.keras.layers.BatchNormalization` does not: evaluation of the first steps differs"
)
_POSITIONS = {"decay": 1, "scale": 3}
_AVERAGE = "tensorflow.python.training.moving_averages.assign_moving_average"
_AVERAGED = (
    "corrects its average for the zero that it begins with, unless it is given `zero_debias=False`, and no layer of "
    "Keras does: in its place, divide an average that begins at zero by `1 - decay ** steps`, or see the first steps "
    "evaluate otherwise"
)


class BatchNormDefaults(Rule):
    """`batch_norm` of slim and contrib decays by 0.999 and has no gamma, `BatchNormalization` by 0.99 and has one.

    ## Why
    After ten batches whose mean is 2, the moving mean is 0.020 with slim and 0.19 with Keras; Keras trains one weight
    more for each channel, which no checkpoint of slim holds.
    Epsilon is 0.001 in both, and `tf.layers.batch_normalization` has the defaults of Keras.
    slim also trains unless it is given `is_training=False`, and Keras only if it is called with `training=True` or
    below `fit`.
    Said once for a file, where one of the two is left to its default, as a hint for the day when it is replaced.
    An `arg_scope` of the file that may give them makes it silent.
    With `zero_debias_moving_mean=True` the moving mean is that of the batch after the first step, and without it
    `1 - decay` times that; Keras has no such setting, and the two are `decay ** steps` apart.
    `moving_averages.assign_moving_average`, of which normalizations of one's own are made, does so by default.
    No run decides this: the two have other variables, and no pair of calls to compare; `verify` compares the models.

    ## Example
    ```python
    import tf_slim as slim

    def head(x, training):
        return slim.batch_norm(x, is_training=training)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Head(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.norm = tf.keras.layers.BatchNormalization(momentum=0.999, scale=False)

        def call(self, x, training=None):
            return self.norm(x, training=training)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/layers/BatchNormalization
    - https://www.tensorflow.org/guide/migrate/model_mapping
    """

    code = "TF607"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "slim"
    beside = ("TF104", "TF105", "TF106", "TF110", "TF405")  # where it is made, and that contrib is gone
    references = ("slim.batch_norm", _AVERAGE)

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """Tell of the defaults where they are first taken, in a call or by a layer that normalizes with it."""
        given = _given(reference)
        if given is None:
            return
        if reference.name == _AVERAGE:
            if "zero_debias" not in given and is_first(reference, self.code):
                yield self.report(reference, f"`{reference.path}` {_AVERAGED}.")
            return
        missing = [name for name in _ADVICE if name not in given and not is_scoped(reference, name)]
        values = [given.get(_DEBIAS), *scoped(reference, _DEBIAS)]
        debiased = any(isinstance(value, ast.Constant) and value.value is True for value in values)
        if not (missing or debiased) or not is_first(reference, self.code):
            return
        if not missing:
            yield self.report(reference, f"`{reference.path}` {_DEBIASED}.")
            return
        said = {
            "decay": "averages with a decay of 0.999, and `tf.keras.layers.BatchNormalization` with a momentum of 0.99",
            "scale": "has no gamma, and `tf.keras.layers.BatchNormalization` trains one",
        }
        what = said[missing[0]]
        if len(missing) == 2:
            what = (
                "averages with a decay of 0.999 and has no gamma, and `tf.keras.layers.BatchNormalization` has a "
                "momentum of 0.99 and trains a gamma"
            )
        advice = ", ".join(_ADVICE[name] for name in missing)
        also = f" It {_DEBIASED}." if debiased else ""
        yield self.report(reference, f"`{reference.path}` {what}. In its place, give Keras {advice}.{also}")


def _given(reference: Reference) -> Mapping[str, ast.expr] | None:
    """The arguments with which the function surely runs; None where they are not known."""
    parent = reference.file.parent_of(reference.syntax)
    if isinstance(parent, ast.Call) and parent.func is reference.syntax:
        if any(isinstance(given, ast.Starred) for given in parent.args) or None in [k.arg for k in parent.keywords]:
            return None
        positions = {"zero_debias": 3} if reference.name == _AVERAGE else _POSITIONS
        by_position = {name: parent.args[at] for name, at in positions.items() if at < len(parent.args)}
        return by_position | {keyword.arg: keyword.value for keyword in parent.keywords if keyword.arg}
    if not isinstance(parent, ast.keyword) or parent.arg != "normalizer_fn":
        return None
    layer = reference.file.parent_of(parent)
    if not isinstance(layer, ast.Call) or None in [keyword.arg for keyword in layer.keywords]:
        return None
    for keyword in layer.keywords:
        if keyword.arg == "normalizer_params":
            return _entries(reference, keyword.value)
    call = reference.file.call_at(layer)
    if call is not None and is_scoped(call, "normalizer_params"):
        return None
    return {}


def _entries(reference: Reference, node: ast.expr | None) -> Mapping[str, ast.expr] | None:
    """The entries of a dictionary that is written out, here or in the only assignment to its name."""
    if isinstance(node, ast.Name):
        home = reference.scope.function()
        told = [
            given
            for given in reference.file.assignments
            if (given.path or "").partition("[")[0] == node.id and given.scope.function() is home
        ]
        node = told[0].value if len(told) == 1 else None
    if not isinstance(node, ast.Dict):
        return None
    keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
    entries = zip(keys, node.values, strict=True)
    return {key: value for key, value in entries if isinstance(key, str)} if None not in keys else None
