"""TF104: a slim layer below the shim whose scope is another one at each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity, Target
from .v1_names import SHIMMED, SLIM, Naming, how_reached, named, naming

if TYPE_CHECKING:
    import libcst


class UnnamedSlimLayer(Rule):
    """A slim layer below the shim has no `scope`, and makes new weights at each call.

    ## Why
    A slim layer without `scope` opens a variable scope with a default name that counts up: `Conv`, `Conv_1`, ...
    The shim finds variables again by their names, so at the root of the names each eager call makes fresh weights,
    and under `fit` the second trace raises a ValueError.
    `slim.repeat` and `slim.stack` count the same way.
    An `arg_scope` gives arguments, not a name; inside a named `variable_scope` the count starts anew at each call,
    and all is well.

    ## Example
    ```python
    import tensorflow as tf
    import tf_slim as slim

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            return slim.fully_connected(x, 3)
    ```

    ## Fix
    ```python
    import tensorflow as tf
    import tf_slim as slim

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            return slim.fully_connected(x, 3, scope="logits")
    ```

    ## Fix safety
    Unsafe: the layer gets the scope that its first call made, such as `Conv` or `fully_connected`, and what was trained
    under `Conv_1` and so on is not found by it.
    There is one only in the method that has the shim, outside of loops, where neither it nor a function that it calls
    makes another layer of that scope, and none for `slim.repeat` and `slim.stack`, whose layers a scope would rename.

    ## Source
    - https://www.tensorflow.org/guide/migrate/model_mapping#a_note_on_slim_and_contriblayers
    - https://github.com/google-research/tf-slim
    """

    code = "TF104"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF406",)
    targets = frozenset({Target.KERAS2})
    calls = tuple(SLIM)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a slim call by its `scope`."""
        if not call.runs(SHIMMED, without=Context.SCOPED) or call.version_checked or _scope_by_arg_scope(call):
            return
        if any(how == "empty" for how, _ in call.variable_scopes):
            return  # the scope is reported: TF110
        if naming(call, "scope", SLIM.get(call.name)) is not Naming.UNNAMED:
            return
        last = call.name.rpartition(".")[2]
        yield self.report(
            call,
            f"slim's `{last}` is called without `scope` and in no named `variable_scope`{how_reached(call)}: below the "
            "shim each eager call counts its name up and makes new weights, and under `fit` the next trace raises. "
            "Give it a `scope`, or open a named `variable_scope` around it.",
            related=call.callers(Context.FORWARD),
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give the scope that the first call makes."""
        return named(node, site, "scope", SLIM.get(site.name))


def _scope_by_arg_scope(call: Call) -> bool:
    """Whether an `arg_scope` around the call hands it a `scope`, or hands it what is not to be seen here."""
    for level in call.block.chain():
        if level.kind == "with" and isinstance(level.node, ast.Call):
            if any(keyword.arg in ("scope", None) for keyword in level.node.keywords):
                names = call.names_of(level.node.func)
                if any(name.canonical.endswith("arg_scope") for name in names):
                    return True
    return False
