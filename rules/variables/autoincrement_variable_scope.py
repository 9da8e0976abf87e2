"""TF110: a variable scope below the shim whose name is another one at each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context, is_none, literal_string
from ...linter.rule_api.rewriting import argument, has_comment, keyworded, without_argument
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
from .v1_names import (
    LAYERS,
    MAKERS,
    SCOPES,
    SHIMMED,
    SLIM,
    Naming,
    how_reached,
    is_named_once,
    naming,
    naming_of_parameter,
)

if TYPE_CHECKING:
    import libcst

_PARAMETERS = frozenset({"name_or_scope", "default_name", "values"})


class AutoincrementVariableScope(Rule):
    """The only variable scope below the shim is named by `default_name`, which counts up at each call.

    ## Why
    `variable_scope(None, default_name="block")` opens `block`, then `block_1`, then `block_2`.
    The shim finds variables again by their names, so everything in the scope gets fresh weights at each eager call,
    named layers too; under `fit` the second trace raises a ValueError.
    Inside a scope with a name of its own the count starts anew each time, and all is well.
    `variable_scope("")` names nothing: layers without a name count up in it as they do at the root.
    The usual slim idiom `variable_scope(scope, "Net", [x])` depends on whether the callers give `scope`.

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            with tf.compat.v1.variable_scope(None, default_name="net"):
                return tf.compat.v1.layers.dense(x, 3, name="logits")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            with tf.compat.v1.variable_scope("net"):
                return tf.compat.v1.layers.dense(x, 3, name="logits")
    ```

    ## Fix safety
    Unsafe: the scope gets its `default_name` as its name, under which the first call made its variables, and what was
    trained under `net_1` and so on is not found in it.
    There is one only in the method that has the shim, outside of loops, where nothing else has that name.

    ## Source
    - https://www.tensorflow.org/guide/migrate/model_mapping
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/variable_scope
    """

    code = "TF110"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "variable-scopes"
    supersedes = ("TF406",)
    targets = frozenset({Target.KERAS2})
    calls = SCOPES

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a scope by how it is named and by what is made in it."""
        if not call.runs(SHIMMED, without=Context.SCOPED) or call.version_checked:
            return
        how, _, parameter = call.scope_name.partition(":")
        if how == "empty":
            if any(_counts_up(inner) for inner in _calls_inside(call)):
                yield self.report(
                    call,
                    f"`variable_scope('')` names nothing{how_reached(call)}: below the shim the layers without a name "
                    "in it count up at each call and get new weights. Give the scope a name.",
                    consequence=Consequence.CHANGES,
                    related=call.callers(Context.FORWARD),
                )
            return
        if how == "parameter":
            if naming_of_parameter(call, parameter) is not Naming.UNNAMED:
                return
            cause = f"`{parameter}`, which a caller leaves out, and then by"
        elif how == "auto":
            cause = "nothing but"
        else:
            return
        made = self._made(call)
        if not made:
            return
        yield self.report(
            call,
            f"This scope is named by {cause} its `default_name`{how_reached(call)}: below the shim that "
            f"name counts up at each eager call, and {made} makes new weights each time; under `fit` the next trace "
            "raises. Name the scope, or open it inside a named one.",
            subject=parameter,
            related=call.callers(Context.FORWARD),
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Name the scope as its first call does."""
        if site.name != SCOPES[0] or site.scope_name != "auto" or site.has_stars or has_comment(*node.args):
            return None
        text = literal_string(site.value("default_name", 1))
        if not text or not is_none(site.value("name_or_scope", 0)) or not set(site.keywords) <= _PARAMETERS:
            return None
        call = keyworded(node, ("name_or_scope", "default_name", "values"), 2)
        if call is None or not is_named_once(site, text):
            return None
        name, default = argument(call, "name_or_scope", 0), argument(call, "default_name", 1)
        if name is None or default is None:
            return None
        call = without_argument(call, default)
        args = [one.with_changes(value=default.value) if one.value is name.value else one for one in call.args]
        reason = "each call now finds the variables of the first one, and a checkpoint knows them by these names"
        return Replacement(call.with_changes(args=args), Applicability.UNSAFE, reason)

    @staticmethod
    def _made(scope: Call) -> str:
        """Say what makes variables in a scope, itself or through functions of the project."""
        for inner in _calls_inside(scope):
            for name in inner.names:
                if name.canonical in MAKERS:
                    return f"`{name.canonical.rpartition('.')[2]}` in it"
            for entity in inner.found:
                if entity.kind == "function":
                    made = [name for name in scope.file.project.v1_calls(entity.key) if name in MAKERS]
                    if made:
                        return f"`{made[0].rpartition('.')[2]}` below `{inner.path}`"
        return ""


def _calls_inside(scope: Call) -> list[Call]:
    calls = scope.file.calls_by_function.get(scope.scope.function().id, [])
    return [call for call in calls if call.inside(scope.syntax)]


def _counts_up(call: Call) -> bool:
    if sum(how != "empty" for how, _ in call.variable_scopes):
        return False
    if call.name in LAYERS:
        return naming(call, "name", LAYERS[call.name]) is Naming.UNNAMED
    if call.name in SLIM and not isinstance(call.value("scope"), ast.expr):
        return naming(call, "scope", SLIM[call.name]) is Naming.UNNAMED
    return False
