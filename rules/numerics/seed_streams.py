"""TF625: a seed that gives other random numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from ..tf1_api.contexts import certainty
from .hints import is_first


class SeedStreams(Rule):
    """The seed of a TF1 program gives other random numbers in TF2.

    ## Why
    An operation in a graph has its own seed, made of the graph's and of its place among the operations; eager execution
    counts the operations that have run.
    With the seed 1, the first uniform number of a graph is 0.779 in TF 1.15 and 0.813 in a graph of TF 2.21; in eager
    execution it is 0.165, by `tf.random.set_seed` as by `tf.compat.v1.set_random_seed`.
    An operation in a graph that has a seed of its own besides gives the same stream in all of them.
    A program that is moved can be reproduced, and not compared number by number; with Keras 2
    `tf.compat.v1.keras.utils.DeterministicRandomTestTool` makes both draw the same numbers.
    Said once for a file, as a hint; in a graph that is built on purpose nothing is said.
    No run decides this: the streams differ for every program.

    ## Example
    ```python
    import tensorflow as tf

    tf.compat.v1.set_random_seed(1)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    tf.random.set_seed(1)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/random/set_seed
    - https://www.tensorflow.org/guide/migrate/validate_correctness
    """

    code = "TF625"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    beside = ("TF406",)  # says that the name moved
    calls = ("tensorflow.set_random_seed", "tensorflow.random.set_random_seed")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the streams at the first call in a file."""
        if certainty(call) in (Severity.ERROR, Severity.WARNING) and is_first(call, self.code):
            yield self.report(
                call,
                f"The seed of `{call.path}` silently gives other numbers in eager execution than it gave in a graph of "
                "TF1. Compare results with copied weights, and not by seeds.",
            )
