"""TF113: a `tf.function` that is entered below the shim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...linter.rule_api.model import Call, Context, FunctionSite, Location, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity, Target
from .v1_names import MAKERS

_TRACERS = frozenset({"tensorflow.function"})
_SHIMS = frozenset({"keras.utils.track_tf1_style_variables", "keras.utils.track_tf1_layers_and_variables"})


class TfFunctionUnderShim(Rule):
    """A `tf.function` that makes variables by name is entered below the shim.

    ## Why
    A `tf.function` is traced once and keeps the variables of its first call, while the variable scopes around a call
    count for nothing in it.
    Called in scope `a` and then in scope `b` it silently uses the variables of `a` twice; a layer without a name raises
    `tf.function only supports singleton tf.Variables`.
    The other way round is safe: decorate the method with `tf.function` as well, outside the shim.
    No run decides this: it shows which variables are used, and not which ones the scopes of a later call were to give.

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            @tf.function
            def scale(y):
                return y * tf.compat.v1.get_variable("w", [4])

            with tf.compat.v1.variable_scope("a"):
                x = scale(x)
            with tf.compat.v1.variable_scope("b"):
                return scale(x)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.function
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            def scale(y):
                return y * tf.compat.v1.get_variable("w", [4])

            with tf.compat.v1.variable_scope("a"):
                x = scale(x)
            with tf.compat.v1.variable_scope("b"):
                return scale(x)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/model_mapping#eager_execution_tffunction
    """

    code = "TF113"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    targets = frozenset({Target.KERAS2})
    calls = ("tensorflow.function",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge `tf.function(f)` in a method below the shim."""
        given = call.value("func", 0)
        if given is None or not call.runs(Context.SHIM):
            return
        for entity in call.entities(path_of(given)):
            if entity.kind == "function" and self._makes(call, entity.key):
                related = call.callers(Context.SHIM)
                yield self._report(call, f"`{path_of(given)}`", call.trail(Context.SHIM), related)
                return

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge a function that is decorated with `tf.function` and called below the shim."""
        decorators = {name.canonical.removesuffix("()") for name in function.decorators}
        if not decorators & _TRACERS or decorators & _SHIMS or not any(s & Context.SHIM for s in function.contexts):
            return
        if self._makes(function, function.key):
            yield self._report(function, f"`{function.name}`", _above(function))

    @staticmethod
    def _makes(site: Call | FunctionSite, key: tuple[str, int]) -> bool:
        return any(name in MAKERS for name in site.file.project.v1_calls(key))

    def _report(self, site: Call | FunctionSite, name: str, trail: str, related: Sequence[Location] = ()) -> Diagnostic:
        return self.report(
            site,
            f"The `tf.function` {name} makes variables by name and is entered below the shim ({trail}): it does not "
            "see the variable scopes around it, and keeps the variables of its first call. "
            "Put `tf.function` outside the shim instead.",
            related=related,
        )


def _above(function: FunctionSite) -> str:
    steps = function.file.project.trail(function.key, int(Context.SHIM))
    return " -> ".join(f"`{name}`" for name, _, _ in steps)
