"""TF403: graph collections, which stay empty in eager execution."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from ..keras.variable_names import asked_for_names
from .api_status import in_eager, is_plain, written
from .collections import LOSSES, READS, VARIABLES, WRITES, filers, is_filed_by_program, key_of
from .contexts import certainty, is_only_traced


class GraphCollection(Rule):
    """A graph collection is read or written where no graph is built, so it stays empty.

    ## Why
    In eager execution nothing files variables, losses or update operations into collections:
    `tf.compat.v1.trainable_variables()` and `get_collection(UPDATE_OPS)` return `[]`, and the training that relies on
    them silently does nothing.
    `collections=[...]` of a `get_variable` is ignored.
    A collection does hold what the program put into it, such as `get_collection("my_hooks")`; it grows with every eager
    call, and is info.
    The trace of a `tf.function` has collections of its own, where v1 losses and v1 layers file their losses and update
    operations, and nothing files variables [run]: reading the former there is info, if the program has such.
    `tf.get_collection` and its like left `tf`.
    Collections of a graph that is built on purpose are not reported.

    ## Example
    ```python
    import tensorflow as tf

    penalty = tf.add_n(tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.REGULARIZATION_LOSSES))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    penalty = tf.add_n(model.losses)
    ```

    ## Source
    https://www.tensorflow.org/guide/migrate/tf1_vs_tf2#collections_removal
    https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_collection
    """

    code = "TF403"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    recipe = "collections"
    supersedes = ("TF406",)
    calls = (*VARIABLES, *LOSSES, *READS, *WRITES, "tensorflow.get_variable")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        if call.name == "tensorflow.get_variable":
            yield from self._ignored_collections(call)
            return
        name = call.name.removeprefix("tensorflow.")
        if is_plain(call):
            if not call.in_graph:
                yield self.report(
                    call,
                    f"`tf.{name}` raises AttributeError on TF2, where nothing fills collections{_instead(call)}.",
                    consequence=Consequence.BREAKS,
                )
            return
        severity = certainty(call)
        if severity is None:
            return
        key = key_of(call)
        if is_only_traced(call) and call.file.project.uses(*filers(key)):
            yield self.report(
                call,
                f"`{written(call.names[0])}` sees only what this very trace of the function filed, and nothing when "
                "the function is run eagerly: pass the values on yourself.",
                Severity.INFO,
            )
            return
        if is_filed_by_program(call, key):
            yield self.report(
                call,
                f"`{written(call.names[0])}` uses the collection of the default graph: in eager execution it holds "
                "only what the program adds itself. Keep it in an attribute.",
                Severity.INFO,
            )
        elif call.name in WRITES:
            yield self.report(
                call,
                f"`{written(call.names[0])}` files a value where TF2 does not look for it: pass it on yourself.",
                Severity.WARNING if severity is Severity.ERROR else severity,
            )
        elif severity is Severity.ERROR and in_eager(name) == "needs a graph":
            yield self.report(
                call,
                f"`{written(call.names[0])}` raises ValueError in eager execution, where it finds nothing"
                f"{_instead(call)}.",
                consequence=Consequence.BREAKS,
            )
        elif severity is Severity.ERROR:
            yield self.report(
                call,
                f"`{written(call.names[0])}` finds nothing in eager execution, and raises no error{_instead(call)}.",
            )
        else:
            yield self.report(
                call,
                f"`{written(call.names[0])}` finds nothing where eager execution is on, outside of a TF1 graph"
                f"{_instead(call)}.",
                severity,
            )

    def _ignored_collections(self, call: Call) -> Iterator[Diagnostic]:
        given = call.value("collections")
        if given is None or is_none(given) or is_plain(call):
            return
        if certainty(call) is Severity.ERROR:
            yield self.report(
                call,
                "The `collections` of this `get_variable` stay empty in eager execution: keep the variable in an "
                "attribute and read it there.",
                Severity.WARNING,
            )


def _instead(call: Call) -> str:
    instead = VARIABLES.get(call.name) or LOSSES.get(call.name)
    if not instead:
        return "; keep the values in an attribute and pass them on"
    if call.target is Target.KERAS3 and id(call.call) in call.file.once("names", lambda: asked_for_names(call.file)):
        return f"; use {instead}, and choose by their `path`: the `name` of a Keras 3 variable is its last part alone"
    return f"; use {instead}"
