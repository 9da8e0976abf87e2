"""TF413: control dependencies and groups, which order nothing where operations run at once."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..numerics.hints import is_first
from .api_status import written
from .contexts import certainty

_DOES = {
    "tensorflow.control_dependencies": "does nothing in eager execution, where operations run in the order of the code",
    "tensorflow.group": "gives None in eager execution, where all that it is given has run already",
    "tensorflow.tuple": "gives back what it is given in eager execution, where all of that has run already",
}


class ControlDependenciesNoop(Rule):
    """Operations are ordered or grouped for a graph, in code that runs eagerly.

    ## Why
    In eager execution an operation runs where it stands, so `tf.control_dependencies` has nothing to order: its block
    runs whether what it waits for went well or not, and functions that are among its inputs are called.
    `tf.group` gives None, and `tf.tuple` what it is given.
    In a `tf.function` what has side effects runs in the order of the code without them.
    They are harmless, but whoever reads the code takes them for an order that something keeps.
    It is said once for a name and file, and nothing of traced code, nor of a graph that is built on purpose.

    ## Example
    ```python
    import tensorflow as tf

    v = tf.Variable(1.0)
    update = v.assign_add(1.0)
    with tf.control_dependencies([update]):
        w = tf.identity(v)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    v = tf.Variable(1.0)
    v.assign_add(1.0)
    w = tf.identity(v)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    """

    code = "TF413"
    severity = Severity.INFO
    consequence = Consequence.LEGACY
    effort = Effort.MECHANICAL
    supersedes = ("TF406",)
    calls = tuple(_DOES)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a call by whether the program surely comes to it eagerly."""
        if not call.runs(Context.EAGER, without=Context.TRACED):
            return  # nobody knows, or it is traced
        if not all(name.canonical in _DOES for name in call.names):
            return  # after a conditional import, it may be anything
        if certainty(call) is Severity.ERROR and is_first(call, self.code):
            advice = "Leave it out" if call.name != "tensorflow.group" else "Make a function of what it groups"
            yield self.report(call, f"`{written(call.names[0])}` {_DOES[call.name]}. {advice}.")
