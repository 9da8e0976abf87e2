"""TF106: TF1 variables in a forward pass that no shim keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rewriting import decorated
from ...linter.rule_api.rule import (
    Applicability,
    Consequence,
    Diagnostic,
    Effort,
    Replacement,
    Rule,
    Severity,
    Target,
)
from .constructors import may_be_guarded
from .v1_names import CELLS, GETTERS, LAYER_CLASSES, LAYERS, SLIM, SLIM_GETTERS, how_reached

if TYPE_CHECKING:
    import libcst

_WITHOUT = Context.SHIM | Context.LEGACY
_SHIM = "tensorflow.compat.v1.keras.utils.track_tf1_style_variables"


class MissingShim(Rule):
    """TF1 variables are made in a forward pass, and no shim keeps them.

    ## Why
    In eager execution `get_variable` makes a brand new variable every time it is called, whatever its name and its
    `reuse` say, and so does every layer of `tf.compat.v1.layers` and slim that is built on it.
    In the forward pass of a layer, model or module that means fresh weights at each call, and none of them is in
    `weights`: under `fit` they are never trained, and no checkpoint holds them.
    On Keras 2 the decorator `tf.compat.v1.keras.utils.track_tf1_style_variables` (the shim) on this method, or on one
    that calls it, keeps the variables by name and tracks them.
    Keras 3 has no shim: make the variables in `build`.
    The forward pass of a TF1 layer or RNN cell (`tf.compat.v1.layers.Layer`, `RNNCell`) mostly runs in a graph, and
    is info.

    ## Example
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def call(self, x):
            with tf.compat.v1.variable_scope("scale", reuse=tf.compat.v1.AUTO_REUSE):
                return x * tf.compat.v1.get_variable("w", [4])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(name="w", shape=[4])

        def call(self, x):
            return x * self.w
    ```

    ## Fix safety
    Unsafe, and on Keras 2 alone: the method is decorated with the shim, which keeps the variables by the names that the
    code gives them, and tracks them. A checkpoint of the TF1 program has them below the scopes that were open around.
    There is one where the variables are made in `call` or `__call__` itself.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_variable
    - https://www.tensorflow.org/guide/migrate/model_mapping
    """

    code = "TF106"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    fixes_function = True
    recipe = "variable-scopes"
    supersedes = ("TF103", "TF104", "TF406")
    calls = (*sorted(GETTERS), *sorted(SLIM_GETTERS), *LAYERS, *SLIM, *sorted(LAYER_CLASSES), *sorted(CELLS))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a call that makes variables in a forward pass."""
        if call.version_checked:
            return
        if call.target is Target.KERAS3 and (call.name in LAYERS or call.name in LAYER_CLASSES or call.name in CELLS):
            return  # they do not exist: TF410
        last = call.name.rpartition(".")[2]
        if call.runs(Context.FORWARD, without=_WITHOUT):
            advice = (
                "Decorate the method with `tf.compat.v1.keras.utils.track_tf1_style_variables`"
                if call.target is Target.KERAS2
                else "Keras 3 has no shim: make the variables once, in `build`, with `add_weight`"
            )
            yield self.report(
                call,
                f"`{last}` makes new variables at each call{how_reached(call)}, whatever their names, and nothing "
                f"tracks them: the outputs change from call to call, and `fit` never trains them. {advice}.",
                Severity.INFO if may_be_guarded(call) else None,
                related=call.callers(Context.FORWARD),
            )
        elif call.runs(Context.FORWARD, without=Context.SHIM):
            yield self.report(
                call,
                f"`{last}` makes new variables at each call of this TF1 layer{how_reached(call)} when it runs eagerly; "
                "in a graph it finds them again by name. Make them once, in `build`.",
                Severity.INFO,
                related=call.callers(Context.FORWARD),
            )

    def fix(self, node: libcst.FunctionDef, site: Call) -> Replacement | None:
        """Decorate it with the shim."""
        written, method = site.importable(_SHIM), site.function
        if written is None or method is None or site.target is not Target.KERAS2 or may_be_guarded(site):
            return None
        if not site.runs(Context.FORWARD, without=_WITHOUT) or site.scope is not method.body:
            return None
        if site.cls is None or method.body.name not in ("call", "__call__") or method.body.decorators:
            return None
        reason = "the variables get the names that the code gives them, and are trained and saved from now on"
        return Replacement(decorated(node, written[0]), Applicability.UNSAFE, reason, written[1])
