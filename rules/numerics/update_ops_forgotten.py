"""TF609: update operations of batch normalization, which are no longer collected."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from ..tf1_api.api_status import is_plain, written
from ..tf1_api.collections import filers, is_filed_by_program, key_of
from ..tf1_api.contexts import certainty, is_only_traced

_INSTEAD = (
    "the moving averages of a batch normalization are updated where it is called with `training=True`, and nowhere "
    "else. Call it so, and leave the update operations out."
)


class UpdateOpsForgotten(Rule):
    """The update operations of batch normalization are read from a collection that stays empty.

    ## Why
    In TF1 a training step had to run what `get_collection(UPDATE_OPS)` held.
    In eager execution that is `[]`, and nothing raises: the moving averages keep their initial values unless the layer
    is called with `training=True`, which updates them at once.
    After five steps on a mean of 4 with a momentum of 0.5, the average is 3.875 there, and 0 without the flag.
    `fit` calls the model so by itself.
    Graphs that are built on purpose are not reported.

    ## Example
    ```python
    import tensorflow as tf

    updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        y = model(x)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    y = model(x, training=True)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/model_mapping
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF609"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    recipe = "collections"
    supersedes = ("TF403", "TF406")
    calls = ("tensorflow.get_collection", "tensorflow.get_collection_ref")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a collection by its key, and by whether a graph is there."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        if key_of(call) != "UPDATE_OPS" or is_filed_by_program(call, "UPDATE_OPS"):
            return
        if is_plain(call):
            if not call.in_graph:
                yield self.report(
                    call,
                    f"`tf.get_collection` raises AttributeError on TF2, which has no update operations: {_INSTEAD}",
                    Severity.ERROR,
                    consequence=Consequence.BREAKS,
                )
            return
        in_trace = is_only_traced(call)
        severity = certainty(call)
        if severity is None or (in_trace and call.file.project.uses(*filers("UPDATE_OPS"))):
            return
        where = "of a tf.function" if in_trace else "in eager execution"
        yield self.report(
            call, f"`{written(call.names[0])}` finds no update operations {where}: {_INSTEAD}", severity
        )
