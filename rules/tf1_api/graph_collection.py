"""TF403: graph collections, which stay empty in eager execution."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, is_none, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .api_status import is_plain, written
from .contexts import certainty, is_only_traced

_VARIABLES = {
    "tensorflow.trainable_variables": "the `trainable_variables` of the model",
    "tensorflow.global_variables": "the `variables` of the model",
    "tensorflow.all_variables": "the `variables` of the model",
    "tensorflow.local_variables": "the variables of the metric",
    "tensorflow.model_variables": "the `variables` of the model",
    "tensorflow.moving_average_variables": "the variables that the moving average was applied to",
}
_LOSSES = {
    "tensorflow.losses.get_losses": "the values that the loss functions return, and `model.losses`",
    "tensorflow.losses.get_regularization_losses": "`model.losses`",
    "tensorflow.losses.get_regularization_loss": "`tf.add_n(model.losses)`",
    "tensorflow.losses.get_total_loss": "the sum of the losses and of `model.losses`",
}
_READS = ("tensorflow.get_collection", "tensorflow.get_collection_ref")
_WRITES = ("tensorflow.add_to_collection", "tensorflow.add_to_collections")
_BY_NAME = ("tensorflow.layers.*", "tensorflow.contrib.*", "slim.*", *_WRITES)
_FILERS = {
    "UPDATE_OPS": _BY_NAME,
    "LOSSES": (*_BY_NAME, "tensorflow.losses.*"),
    "REGULARIZATION_LOSSES": (*_BY_NAME, "tensorflow.get_variable", "tensorflow.variable_scope"),
    "SUMMARIES": (*_BY_NAME, "tensorflow.summary.*"),
}
"""What files something under a key while a function is traced; under other keys only the program does."""
_KEYS = {
    "trainable_variables", "variables", "local_variables", "model_variables", "moving_average_variables", "update_ops",
    "losses", "regularization_losses", "summaries", "init_op", "ready_op", "table_initializer", "queue_runners",
}  # fmt: skip
"""Values of `GraphKeys` under which TensorFlow files what it makes in a graph, and nothing in eager execution."""


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
    supersedes = ("TF406",)
    calls = (*_VARIABLES, *_LOSSES, *_READS, *_WRITES, "tensorflow.get_variable")

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
        key = _key(call)
        if is_only_traced(call) and call.file.project.uses(*_filers(key)):
            yield self.report(
                call,
                f"`{written(call.names[0])}` sees only what this very trace of the function filed, and nothing when "
                "the function is run eagerly: pass the values on yourself.",
                Severity.INFO,
            )
            return
        if _is_filed_by_program(call, key):
            yield self.report(
                call,
                f"`{written(call.names[0])}` uses the collection of the default graph: in eager execution it holds "
                "only what the program adds itself. Keep it in an attribute.",
                Severity.INFO,
            )
        elif call.name in _WRITES:
            yield self.report(
                call,
                f"`{written(call.names[0])}` files a value where TF2 does not look for it: pass it on yourself.",
                Severity.WARNING if severity is Severity.ERROR else severity,
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


def _filers(key: str) -> tuple[str, ...]:
    every = tuple(name for names in _FILERS.values() for name in names)
    return _FILERS.get(key, _WRITES) if key else every


def _is_filed_by_program(call: Call, key: str) -> bool:
    """Whether a collection may hold what the program itself puts there."""
    if key not in _KEY_NAMES:
        return call.name in _WRITES or call.file.project.uses(*_WRITES)
    return call.name in _READS and any(other.name in _WRITES and _key(other) == key for other in call.file.calls)


def _key(call: Call) -> str:
    """The key of a collection: the name in `GraphKeys` of one under which TensorFlow files things."""
    if call.name in _VARIABLES:
        return "VARIABLES"
    if call.name in _LOSSES:
        return "REGULARIZATION_LOSSES" if "regularization" in call.name else "LOSSES"
    key = call.value("key" if call.name in _READS else "name", 0)
    text = literal_string(key)
    if text is not None:
        return text.upper() if text in _KEYS else text
    names = [name.canonical.rpartition("tensorflow.GraphKeys.") for name in call.names_of(key)]
    return next((last for _, found, last in names if found), "")


_KEY_NAMES = {key.upper() for key in _KEYS} | {"GLOBAL_VARIABLES", "VARIABLES", "TABLE_INITIALIZERS"}


def _instead(call: Call) -> str:
    instead = _VARIABLES.get(call.name) or _LOSSES.get(call.name)
    return f"; use {instead}" if instead else "; keep the values in an attribute and pass them on"
