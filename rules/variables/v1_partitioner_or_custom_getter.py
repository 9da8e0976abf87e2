"""TF115: a variable's partitioner, which TF2 does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity, Target
from .v1_names import GETTERS, SLIM_GETTERS, how_reached

_PARTITIONERS = frozenset(
    f"tensorflow.{name}_partitioner" for name in ("fixed_size", "min_max_variable", "variable_axis_size")
)


class V1PartitionerOrCustomGetter(Rule):
    """A variable is given a `partitioner`, which the shim refuses.

    ## Why
    Below the shim, `get_variable` with a partitioner, its own or that of the scope around it, raises
    ``ValueError: `partitioner` arg for `get_variable` is unsupported in TF2``.
    TF2 shards variables by the distribution strategy: `ParameterServerStrategy(variable_partitioner=...)`.
    A `custom_getter` still works below the shim; it is reported as info, since nothing in TF2 besides compat.v1 takes
    it (`tf.variable_creator_scope` comes nearest).

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            shards = tf.compat.v1.fixed_size_partitioner(2)
            return x @ tf.compat.v1.get_variable("w", [4, 4], partitioner=shards)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.layers.Layer):
        @tf.compat.v1.keras.utils.track_tf1_style_variables
        def call(self, x):
            return x @ tf.compat.v1.get_variable("w", [4, 4], partitioner=None)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_variable
    - https://www.tensorflow.org/guide/migrate/multi_worker_cpu_gpu_training
    """

    code = "TF115"
    severity = Severity.WARNING
    consequence = Consequence.BREAKS
    beside = ("TF406",)  # which says where the name went
    targets = frozenset({Target.KERAS2})
    calls = (*sorted(GETTERS), *sorted(SLIM_GETTERS), *("tensorflow.variable_scope", "tensorflow.variable_op_scope"))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the keywords of a call that makes variables or opens a scope for them."""
        if call.in_graph or call.version_checked:
            return
        for keyword in ("partitioner", "custom_getter"):
            value = call.value(keyword)
            if value is None or is_none(value):
                continue
            what = call.name.rpartition(".")[2]
            if keyword == "custom_getter":
                yield self.report(
                    call,
                    f"`{what}` takes a `custom_getter`, which only compat.v1 has: it works below the shim, and has no "
                    "equal in native TF2 (`tf.variable_creator_scope` comes nearest).",
                    Severity.INFO,
                    consequence=Consequence.LEGACY,
                )
            elif call.runs(Context.SHIM) and _is_partitioner(call, value):
                yield self.report(
                    call,
                    f"`{what}` is given a `partitioner`{how_reached(call)}, and below the shim that raises a "
                    "ValueError. Drop it, or shard by "
                    "`tf.distribute.ParameterServerStrategy(variable_partitioner=...)`.",
                    related=call.callers(Context.FORWARD),
                )
            else:
                yield self.report(
                    call,
                    f"`{what}` is given a `partitioner`, which the shim refuses, and which native TF2 does not take. "
                    "Shard by `tf.distribute.ParameterServerStrategy(variable_partitioner=...)`.",
                    Severity.INFO,
                )


def _is_partitioner(call: Call, value: ast.expr) -> bool:
    """Whether the value is certainly one, not a parameter that may be None."""
    if isinstance(value, ast.Lambda):
        return True
    if any(name.canonical.removesuffix("()") in _PARTITIONERS for name in call.names_of(value)):
        return True
    return any(entity.kind == "function" for entity in call.entities(ast.unparse(value)))
