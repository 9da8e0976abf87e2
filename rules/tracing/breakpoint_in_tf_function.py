"""TF206: a debugger in traced code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .traces import trace_of

if TYPE_CHECKING:
    import libcst


class BreakpointInTfFunction(Rule):
    """A breakpoint in traced code stops while the graph is built, not when it runs.

    ## Why
    Under tracing, `breakpoint()` and `pdb.set_trace()` stop once per trace, in code that AutoGraph has rewritten, with
    symbolic tensors in hand; the calls that follow pass it by.
    `tf.config.run_functions_eagerly(True)` runs the same function step by step.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def step(x):
        breakpoint()
        return x * 2
    ```

    ## Fix
    ```python
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)  # while debugging

    @tf.function
    def step(x):
        breakpoint()
        return x * 2
    ```

    ## Fix safety
    Unsafe: the breakpoint is taken out, which somebody may still want.

    ## Source
    - https://www.tensorflow.org/guide/function#debugging
    - https://www.tensorflow.org/guide/effective_tf2
    """

    code = "TF206"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    fixes_statement = True
    calls = ("breakpoint", "pdb.set_trace", "ipdb.set_trace", "pudb.set_trace", "IPython.embed", "code.interact")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a debugger's entry."""
        trace = trace_of(call)
        if trace is None or trace.eager_switch:
            return
        yield self.report(
            call,
            f"This breakpoint stops {trace.once}, with symbolic tensors. "
            "Call `tf.config.run_functions_eagerly(True)` while you debug.",
            related=trace.callers,
        )

    def fix(self, node: libcst.SimpleStatementLine, site: Call) -> Replacement | None:
        """Leave the breakpoint out."""
        if not site.discarded:
            return None
        return Replacement(None, Applicability.UNSAFE, "somebody may still want to stop here")
