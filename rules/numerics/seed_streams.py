"""TF625: a seed that gives other random numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, File, FunctionSite, is_test_path
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from ..tf1_api.contexts import certainty
from .hints import is_first

_SEEDS = ("tensorflow.random.set_seed", "tensorflow.set_random_seed", "keras.utils.set_random_seed")
_DRAWS = {
    "tensorflow.nn.dropout": 3,
    "tensorflow.random.categorical": 3,
    "tensorflow.random.gamma": 4,
    "tensorflow.random.normal": 4,
    "tensorflow.random.poisson": 3,
    "tensorflow.random.shuffle": 1,
    "tensorflow.random.truncated_normal": 4,
    "tensorflow.random.uniform": 4,
}
"""What draws by the global seed, and where a seed of its own may stand among its arguments."""
_DEEP = 3


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

    There is more to a seed in TF2: each trace of a `tf.function` counts its operations from the beginning.
    After `tf.random.set_seed`, two functions that draw at the same place draw the same numbers, at every step, and so
    does a new trace of one function; without a seed they do not [run].
    Where a TF1 program drew a `z` for the discriminator and another one for the generator, a training step in two
    functions trains both with the same.
    That is a warning, where two functions of one file do the same up to their first random operation; of two files
    nothing is said, and they draw alike all the same. A `tf.random.Generator`, or a seed of its own for each operation,
    ends it.

    ## Example
    ```python
    import tensorflow as tf

    tf.compat.v1.set_random_seed(1)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    tf.random.set_seed(1)
    numbers = tf.random.Generator.from_seed(1)  # for what is drawn in several functions
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

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """Tell of functions that draw the same numbers."""
        seeded = {key for key in file.project.files_using(*_SEEDS) if not is_test_path(key)}
        if file.is_test or not seeded:
            return
        seen: dict[tuple[str, ...], FunctionSite] = {}
        for function in file.functions:
            if not any(name.canonical.removesuffix("()") == "tensorflow.function" for name in function.decorators):
                continue
            if file.key not in seeded and not any(key[0] in seeded for key in file.project.callers(function.key)):
                continue  # of another program
            opening = _opening(function, _DEEP)
            first = seen.setdefault(opening, function) if opening and opening[-1] else function
            if first is not function:
                yield self.report(
                    function,
                    f"With a seed, `{function.name}` silently draws the same numbers as `{first.name}` (line "
                    f"{first.line}): each `tf.function` counts its random operations from the beginning, where a graph "
                    "of TF1 went on. Draw from a `tf.random.Generator`, or give each operation a seed of its own.",
                    Severity.WARNING,
                    subject=function.name,
                    related=[first.location("draws the same numbers")],
                )


def _opening(function: FunctionSite, depth: int) -> tuple[str, ...]:
    """What a function calls up to its first random operation without a seed, and that; it ends in "" without one."""
    found: list[str] = []
    for call in sorted(function.calls, key=lambda one: (one.end_line, one.call.end_col_offset or 0)):
        if call.has_stars or not call.found:
            return ("",)
        if len(call.found) == 1 and call.found[0].kind == "function" and call.found[0].file == function.file.key:
            inner = _opening(function.file.function_of(function.file.index.scopes[call.found[0].scope]), depth - 1)
            if depth and inner[-1]:
                return (*found, *inner)
        if call.names and all(name.canonical in _DRAWS for name in call.names):
            if call.value("seed", _DRAWS[call.name]) is not None:
                return ("",)
            given = call.arguments[1:] if call.name == "tensorflow.nn.dropout" else call.arguments
            return (*found, call.name, ", ".join(map(ast.unparse, given)) or "()")
        found.append(call.path or "")
    return ("",)
