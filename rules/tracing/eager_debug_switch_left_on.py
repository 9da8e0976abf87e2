"""TF218: a switch for debugging that keeps a program from using its graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call
from ...linter.rule_api.rewriting import argument, has_comment, without_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_SWITCHES = ("tensorflow.config.run_functions_eagerly", "tensorflow.config.experimental_run_functions_eagerly")
_DEBUG = "tensorflow.data.experimental.enable_debug_mode"


class EagerDebugSwitchLeftOn(Rule):
    """A switch that runs every `tf.function` step by step is left on.

    ## Why
    `tf.config.run_functions_eagerly(True)`, `compile(run_eagerly=True)` and `tf.data.experimental.enable_debug_mode()`
    are for debugging: no graph is used any more, Python runs at every step or for every element, and training takes
    many times as long.
    They also hide what a graph would refuse, so that the program breaks on the day that the switch is taken out.
    A switch under a test, such as a flag or `if __name__ == "__main__"`, one that is turned off again, and one in a
    test are left alone; one in a function that nothing is seen to call is only mentioned.

    ## Example
    ```python
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    ```

    ## Fix
    ```python
    import os
    import tensorflow as tf

    if os.environ.get("DEBUG"):
        tf.config.run_functions_eagerly(True)
    ```

    ## Fix safety
    Unsafe: the statement, or the argument of `compile`, is taken out, and then the graph runs and refuses what the
    switch has hidden.
    There is no fix where a comment stands beside it, or where `compile` is a method of the project.

    ## Source
    - https://www.tensorflow.org/guide/effective_tf2
    - https://www.tensorflow.org/api_docs/python/tf/config/run_functions_eagerly
    """

    code = "TF218"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    calls = (*_SWITCHES, _DEBUG)
    methods = ("compile",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a switch by what it is set to, and under which tests."""
        if call.file.is_test or call.version_checked or call.in_graph or _is_under_a_test(call):
            return
        if call.name == _DEBUG:
            what = "runs the functions of every dataset in Python, for each element and one after the other"
        elif call.name in _SWITCHES:
            if call.literal("run_eagerly", 0) is not True or _is_turned_off(call):
                return
            what = "runs every `tf.function`, and each step of `fit`, in Python"
        elif call.method == "compile" and call.literal("run_eagerly") is True:
            what = "runs each step of `fit`, `evaluate` and `predict` in Python"
        else:
            return
        function = call.function
        if function is not None and "debug" in function.name.lower():
            return
        title = "`run_eagerly=True`" if call.name not in (*_SWITCHES, _DEBUG) else f"`{call.path}`"
        yield self.report(
            call,
            f"{title} {what}: no graph is used, which is slow and hides what a graph refuses. Remove it, or put it "
            "under a flag.",
            Severity.WARNING if function is None or call.contexts else Severity.INFO,
            subject="run_eagerly" if title.startswith("`run_eagerly") else None,
        )

    def fixed_part(self, site: Call) -> ast.expr | ast.stmt:
        """The statement of a switch, or the call of `compile`."""
        return site.statement if site.name in (*_SWITCHES, _DEBUG) else site.call

    def fix(self, node: libcst.SimpleStatementLine | libcst.Call, site: Call) -> Replacement | None:
        """Leave the switch out."""
        import libcst

        new: libcst.Call | None = None
        if isinstance(node, libcst.Call):
            given = argument(node, "run_eagerly")
            if given is None or site.name in (*_SWITCHES, _DEBUG) or any(one.kind == "function" for one in site.found):
                return None
            position = node.args.index(given)
            if has_comment(given, *node.args[max(position - 1, 0) : position]):
                return None
            new = without_argument(node, given)
            if not new.args:
                new = new.with_changes(whitespace_before_args=libcst.SimpleWhitespace(""))
        elif not site.discarded:
            return None
        return Replacement(new, Applicability.UNSAFE, "the graph, which is then used, may refuse what ran step by step")


def _is_under_a_test(call: Call) -> bool:
    """Whether something decides about the switch; what follows ``if x: return`` is decided upon, too."""
    return any(level.kind in ("if", "else", "case", "except", "never") for level in call.block.chain())


def _is_turned_off(call: Call) -> bool:
    """Whether the file sets the switch to something else as well."""
    return any(
        other.name in _SWITCHES and other is not call and other.literal("run_eagerly", 0) is not True
        for other in call.file.calls
    )
