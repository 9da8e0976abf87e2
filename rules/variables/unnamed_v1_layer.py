"""TF103: a `v1.layers` call below the shim whose name is another one at each call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity, Target
from .v1_names import LAYER_CLASSES, LAYERS, SHIMMED, Naming, how_reached, is_called, named, naming

if TYPE_CHECKING:
    import libcst


class UnnamedV1Layer(Rule):
    """A `tf.compat.v1.layers` call below the shim has no name, and makes new weights at each call.

    ## Why
    The shim finds a layer's variables again by their names.
    A call without `name` takes the next free one, `dense`, `dense_1`, `dense_2`, ..., and within a named
    `variable_scope` the count starts anew each time; at the root it never does.
    So each eager call gets fresh weights, the layer tracks two variables more, and nothing that was trained is used;
    under `fit` the second trace raises a ValueError.
    A layer object (`v1.layers.Dense(3, name="d")(x)`) that is made in the forward pass does the same, even with a name.
    `name_scope` and an empty `variable_scope` name nothing.

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            return tf.compat.v1.layers.dense(x, 3)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            with tf.compat.v1.variable_scope("net"):
                return tf.compat.v1.layers.dense(x, 3)
    ```

    ## Fix safety
    Unsafe: the layer gets the name that its first call made, such as `dense`, and what was trained under `dense_1` and
    so on is not found by it.
    There is one only in the method that has the shim, outside of loops, where neither it nor a function that it calls
    makes another such layer.

    ## Source
    - https://www.tensorflow.org/guide/migrate/model_mapping
    - https://www.tensorflow.org/guide/migrate/validate_correctness
    """

    code = "TF103"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "variable-scopes"
    supersedes = ("TF406",)
    targets = frozenset({Target.KERAS2})
    calls = (*LAYERS, *sorted(LAYER_CLASSES))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a layer function by its name, and a layer object by where it is made."""
        if not call.runs(SHIMMED, without=Context.SCOPED) or call.version_checked:
            return
        if any(how == "empty" for how, _ in call.variable_scopes):
            return  # the scope is reported: TF110
        last = call.name.rpartition(".")[2]
        if call.name in LAYER_CLASSES:
            if is_called(call):
                yield self.report(
                    call,
                    f"This `{last}` layer is a new object at each call{how_reached(call)}, with new weights each time, "
                    "whatever its name. Make it once in `__init__`, or call it inside a named `variable_scope`.",
                    consequence=Consequence.CHANGES,
                    related=call.callers(Context.FORWARD),
                )
            return
        if naming(call, "name", LAYERS.get(call.name)) is not Naming.UNNAMED:
            return
        yield self.report(
            call,
            f"`{last}` is called without a name and in no named `variable_scope`{how_reached(call)}: below the shim "
            "each eager call counts its name up and makes new weights, and under `fit` the next trace raises. "
            "Give it a `name`, or open a named `variable_scope` around it.",
            related=call.callers(Context.FORWARD),
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give the name that the first call makes."""
        return named(node, site, "name", LAYERS.get(site.name))
