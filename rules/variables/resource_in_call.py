"""TF116: a table, iterator or writer that is created at every call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .constructors import is_unproven, reached, runs_each_call

_TABLES = (
    "tensorflow.lookup.StaticHashTable",
    "tensorflow.lookup.StaticVocabularyTable",
    "tensorflow.lookup.experimental.DenseHashTable",
    "tensorflow.lookup.experimental.MutableHashTable",
    "tensorflow.contrib.lookup.HashTable",
    "tensorflow.contrib.lookup.MutableHashTable",
    "tensorflow.contrib.lookup.index_table_from_file",
    "tensorflow.contrib.lookup.index_table_from_tensor",
    "tensorflow.contrib.lookup.index_to_string_table_from_file",
    "tensorflow.contrib.lookup.index_to_string_table_from_tensor",
    "tensorflow.raw_ops.HashTableV2",
    "tensorflow.raw_ops.MutableHashTableV2",
    "tensorflow.raw_ops.MutableDenseHashTableV2",
)
_STATIC = frozenset({"tensorflow.lookup.StaticHashTable", "tensorflow.lookup.StaticVocabularyTable"})
_WRITERS = ("tensorflow.summary.create_file_writer", "tensorflow.summary.FileWriter")


class ResourceInCall(Rule):
    """The forward pass creates a lookup table, an iterator or a summary writer: another one at each call.

    ## Why
    A table or iterator is a resource of its own, which is no variable: no weight list, no checkpoint and none of the
    scopes that catch created variables shows it.
    Eagerly, each call of the layer fills a new table, what was inserted into the last one is gone, and a new iterator
    begins at the first element again.
    In a graph each trace adds one more.

    ## Example
    ```python
    import tensorflow as tf

    class Lookup(tf.keras.layers.Layer):
        def call(self, words):
            table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), 0)
            return table.lookup(words)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Lookup(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), 0)

        def call(self, words):
            return self.table.lookup(words)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/lookup/StaticHashTable
    - https://www.tensorflow.org/guide/checkpoint#object_tracking
    """

    code = "TF116"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = (*_TABLES, *_WRITERS, "iter")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a resource's creation."""
        if not runs_each_call(call) or len(call.found) != len(call.names):
            return
        names = {name.canonical for name in call.names}
        if names <= _STATIC:
            what, lost = (
                "a lookup table",
                "fills a new one, and a SavedModel with it cannot be written (AssertionError)",
            )
        elif names <= set(_TABLES):
            what, lost = "a lookup table", "fills a new one, and what was inserted into the last is gone"
        elif names <= set(_WRITERS):
            what, lost = "a summary writer", "opens another event file"
        elif names == {"iter"} and _is_first_of_dataset(call):
            what, lost = "a dataset iterator", "begins at the first element again"
        else:
            return
        yield self.report(
            call,
            f"`{call.path}` creates {what} at every call, {reached(call, Context.FORWARD)}: each call {lost}. "
            "No checkpoint or weight list shows it. Create it once, in `__init__`.",
            Severity.INFO if is_unproven(call) else None,
            consequence=Consequence.BREAKS if names <= _STATIC else None,
            related=call.callers(Context.FORWARD),
        )


def _is_first_of_dataset(call: Call) -> bool:
    """Whether a call is the inner one of ``next(iter(dataset))``."""
    names = call.names_of(call.call.args[0]) if call.call.args else ()
    around = call.file.calls_by_function.get(call.scope.function().id, [])
    return (
        bool(names)
        and all(name.canonical.startswith("tensorflow.data.") for name in names)
        and not _depends_on_call(call)
        and any(other.name == "next" and other.call.args[:1] == [call.syntax] for other in around)
    )


def _depends_on_call(call: Call) -> bool:
    """Whether the dataset is made of a parameter or local of the function, as another one at each call may well be."""
    lookup, home = call.file.index.lookup, call.scope.function()
    names = [node.id for node in ast.walk(call.call.args[0]) if isinstance(node, ast.Name)]
    found = [lookup(call.scope, name) for name in names if call.class_of_self(name) is None]
    return any(where is not None and where[0].function() is home for where in found)
