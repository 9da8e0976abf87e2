"""TF402: placeholders in a program that runs eagerly."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import PLACEHOLDERS, Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .api_status import is_plain, written
from .contexts import certainty, is_only_traced


class Placeholder(Rule):
    """A placeholder is made where TF2 executes eagerly, so nothing can ever feed it.

    ## Why
    In eager execution `tf.compat.v1.placeholder` raises "tf.placeholder() is not compatible with eager execution."
    Inside a `tf.function` it is made, and the function fails when it is run, since no session feeds it.
    `tf.compat.v1.placeholder_with_default` returns its default: the program runs, on a constant.
    `tf.placeholder` itself left `tf`.
    A placeholder of a graph that is built on purpose is not reported.

    ## Example
    ```python
    import tensorflow as tf

    images = tf.compat.v1.placeholder(tf.float32, [None, 784])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    images = tf.keras.Input([784])
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/compat/v1/placeholder
    https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF402"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    recipe = "placeholders"
    supersedes = ("TF406",)
    calls = tuple(PLACEHOLDERS)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        name = call.name.removeprefix("tensorflow.")
        whose = f" for `{call.assigned_to[0]}`" if call.assigned_to else ""
        if is_plain(call):
            if not call.in_graph:
                yield self.report(
                    call,
                    f"`tf.{name}`{whose} raises AttributeError on TF2, which has no placeholders: make the value an "
                    "argument of a function, or use `tf.keras.Input`.",
                )
            return
        severity = certainty(call)
        if severity is None:
            return
        if call.name == "tensorflow.placeholder_with_default":
            yield self.report(
                call,
                f"`placeholder_with_default`{whose} returns its default in eager execution, and nothing else can be "
                "fed: make the value an argument of a function.",
                Severity.WARNING if severity is Severity.ERROR else Severity.INFO,
                consequence=Consequence.CHANGES,
            )
        elif severity is Severity.ERROR:
            where = (
                "in a `tf.function` can never be fed, so running the function fails"
                if is_only_traced(call)
                else "raises RuntimeError in eager execution"
            )
            yield self.report(
                call,
                f"`{written(call.names[0])}`{whose} {where}: make the value an argument of a function, or use "
                "`tf.keras.Input`.",
            )
        else:
            yield self.report(
                call,
                f"`{written(call.names[0])}`{whose} raises RuntimeError where eager execution is on: it is for TF1 "
                "graphs.",
                severity,
            )
