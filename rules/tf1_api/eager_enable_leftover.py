"""TF431: what turned TF2's behaviour on in TF1, and is on by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import is_plain, written

if TYPE_CHECKING:
    import libcst

_SWITCHES = (
    "enable_control_flow_v2", "enable_eager_execution", "enable_resource_variables", "enable_tensor_equality",
    "enable_v2_behavior", "enable_v2_tensorshape",
)  # fmt: skip
_OFF = tuple(f"tensorflow.{name.replace('enable', 'disable')}" for name in _SWITCHES)


class EagerEnableLeftover(Rule):
    """Eager execution or another behaviour of TF2 is turned on, and is on from the start.

    ## Why
    `tf.compat.v1.enable_eager_execution()`, `enable_v2_behavior()` and their like do nothing in TF2, but in a program
    that turned the same off before; there they are not reported.
    `tf.enable_eager_execution` left `tf`: reading it raises AttributeError.

    ## Example
    ```python
    import tensorflow as tf

    tf.compat.v1.enable_eager_execution()
    total = tf.reduce_sum(tf.ones([2]))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    total = tf.reduce_sum(tf.ones([2]))
    ```

    ## Fix safety
    Safe where nothing is given to the call, and no part of the program turns the same off: it does nothing.
    Unsafe where it is given a configuration, which is lost.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/enable_eager_execution
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/enable_v2_behavior
    """

    code = "TF431"
    severity = Severity.INFO
    consequence = Consequence.LEGACY
    effort = Effort.MECHANICAL
    supersedes = ("TF406",)
    fixes_statement = True
    calls = tuple(f"tensorflow.{name}" for name in _SWITCHES)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if call.version_checked or not call.names or any(entity.kind != "external" for entity in call.found):
            return
        name = written(call.names[0])
        if is_plain(call):
            message = f"`{name}` raises AttributeError on TF2, where it is on from the start: leave it out."
            yield self.report(call, message, Severity.ERROR, consequence=Consequence.BREAKS)
        elif not call.file.project.uses(*_OFF):
            yield self.report(call, f"`{name}` does nothing: TF2 has it on from the start. Leave it out.")

    def fix(self, node: libcst.SimpleStatementLine, site: Call) -> Replacement | None:
        """Leave the statement out."""
        if not site.discarded or site.file.project.uses(*_OFF):
            return None
        if site.call.args or site.call.keywords:
            return Replacement(None, Applicability.UNSAFE, "what the call is given is lost")
        return Replacement(None)
