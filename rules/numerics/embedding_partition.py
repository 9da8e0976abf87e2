"""TF621: an embedding in shards, whose rows TF2 counts otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity

_LOOKUPS = ("tensorflow.nn.embedding_lookup", "tensorflow.nn.embedding_lookup_sparse")


class EmbeddingPartition(Rule):
    """A lookup in several shards finds other rows than in TF1.

    ## Why
    TF1 deals the rows out to the shards in turn (`partition_strategy="mod"`), TF2 puts the first rows into the first
    shard, and has no argument for it.
    In two shards [0, 1] and [2, 3], the identifiers 0 to 3 find 0, 2, 1, 3 in TF1 and 0, 1, 2, 3 in TF2.
    With shards that a TF1 checkpoint fills, rows are silently exchanged.
    `tf.compat.v1.nn.embedding_lookup` keeps the order.

    The rule speaks where a list of several shards is written in the call; a single table is the same for both.
    In a file whose names are all TF2's it is silent.

    ## Example
    ```python
    import tensorflow as tf

    first = tf.get_variable("first", [10, 4])
    second = tf.get_variable("second", [10, 4])
    rows = tf.nn.embedding_lookup([first, second], [0, 1])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    first = tf.Variable(tf.zeros([10, 4]))
    second = tf.Variable(tf.zeros([10, 4]))
    rows = tf.compat.v1.nn.embedding_lookup([first, second], [0, 1])
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/nn/embedding_lookup
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/nn/embedding_lookup
    """

    code = "TF621"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    calls = _LOOKUPS

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the shards that a lookup is given."""
        shards = call.value("params", 0)
        if not isinstance(shards, ast.List | ast.Tuple) or len(shards.elts) < 2 or call.is_compat_v1:
            return
        if call.version_checked or any(entity.kind != "external" for entity in call.found) or call.has_stars:
            return
        if "partition_strategy" in call.keywords or call.file.era not in ("TF1", "mixed"):
            return
        yield self.report(
            call,
            f"`{call.path}` in {len(shards.elts)} shards silently finds other rows than in TF1, which dealt them "
            "out in turn. Use `tf.compat.v1.nn`, which still does.",
            related=call.file.era_told,
        )
