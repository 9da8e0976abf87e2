"""TF112: two layers below the shim that get one name, and so one set of weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import UNKNOWN, Call, Context, FunctionSite, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity, Target
from .v1_names import LAYERS, SCOPES, SHIMMED, SLIM


class DuplicateV1LayerName(Rule):
    """Two layers have one name in one scope, and below the shim they silently share their weights.

    ## Why
    TF1 refused a second layer of the same name (`Variable d/kernel already exists`) unless `reuse` was asked for.
    The shim behaves as if reuse were always `AUTO_REUSE`: a name that was copied along with its line makes one layer
    out of two, and nothing says so.
    A literal name in a loop is the same: all iterations share one layer.
    Whoever shares on purpose says `reuse=True`, and is not reported.

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            x = tf.compat.v1.layers.dense(x, 8, name="hidden")
            return tf.compat.v1.layers.dense(x, 8, name="hidden")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            x = tf.compat.v1.layers.dense(x, 8, name="hidden_1")
            return tf.compat.v1.layers.dense(x, 8, name="hidden_2")
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_variable
    - https://www.tensorflow.org/guide/migrate/model_mapping
    """

    code = "TF112"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    beside = ("TF406",)  # which says where the name went
    targets = frozenset({Target.KERAS2})

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Compare the names of one function's layers, scope by scope."""
        layers = [call for call in function.calls if call.name in LAYERS or call.name in SLIM]
        if not layers or not any((s & SHIMMED) == SHIMMED for s in function.contexts) or _speaks_of_reuse(function):
            return
        seen: dict[tuple[str, str, tuple[str, ...]], list[Call]] = {}
        for call in layers:
            name = _literal_name(call)
            if name is None or not call.runs(SHIMMED, without=Context.ONCE):
                continue
            last = call.name.rpartition(".")[2]
            earlier = seen.setdefault((call.name, name, _scope_path(call)), [])
            same = next((other for other in earlier if not call.excludes(other)), None)
            if same is not None:
                yield self.report(
                    call,
                    f"`{last}` is named `{name}` like the one on {same.where}: below the shim both silently share "
                    "one set of weights, where TF1 raised. Name them apart, or say `reuse=True` if it is meant.",
                    related=[same.location("the layer that has this name, too")],
                )
            elif _repeats(call):
                yield self.report(
                    call,
                    f"`{last}` is named `{name}` in every iteration of the loop: below the shim all of them silently "
                    "share one set of weights, where TF1 raised. Make the name depend on the iteration.",
                )
            earlier.append(call)


def _literal_name(call: Call) -> str | None:
    value = call.literal("name", LAYERS[call.name]) if call.name in LAYERS else call.literal("scope", SLIM[call.name])
    return value if value is not UNKNOWN and isinstance(value, str) and value else None


def _scopes(call: Call) -> Iterator[tuple[ast.AST, str]]:
    """The contexts around a call that may name its variables, innermost first; a name that is not known is empty."""
    for level in call.block.chain():
        if level.kind == "with" and isinstance(level.node, ast.expr):
            names = {name.canonical.removesuffix("()") for name in call.names_of(level.node)}
            if names & set(SCOPES):
                given = level.node.args if isinstance(level.node, ast.Call) and not level.node.keywords else []
                yield level.node, (literal_string(given[0]) or "") if len(given) == 1 else ""
            elif not names or not all(name.startswith(("tensorflow.", "slim.")) and "(" not in name for name in names):
                yield level.node, ""


def _scope_path(call: Call) -> tuple[str, ...]:
    """The scopes around a call; one that is not named by a literal is the same only as itself."""
    return tuple(name or f"#{id(node)}" for node, name in _scopes(call))


def _speaks_of_reuse(function: FunctionSite) -> bool:
    """Whether anything in the function says that variables are shared on purpose."""
    return any(
        any("reuse" in keyword for keyword in call.keywords) or "reuse" in call.method for call in function.calls
    ) or any("reuse" in parameter for parameter in function.parameters)


def _repeats(call: Call) -> bool:
    """Whether every iteration of a loop around the call comes to the same name."""
    changing = {id(node) for node, name in _scopes(call) if not name}
    for level in call.block.chain():
        if id(level.node) in changing:
            return False
        if level.kind == "loop":
            return not isinstance(level.node, ast.While) or not _leaves_at_once(level.node)
    return False


def _leaves_at_once(loop: ast.While) -> bool:
    return bool(loop.body) and isinstance(loop.body[-1], ast.Break | ast.Return)
