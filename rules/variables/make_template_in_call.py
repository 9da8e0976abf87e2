"""TF111: a template that is made anew at each call."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .v1_names import how_reached


class MakeTemplateInCall(Rule):
    """`tf.compat.v1.make_template` runs in the forward pass, so that each call has new weights.

    ## Why
    A template is an object that keeps the variables of its function and uses them again.
    One that is made in the forward pass is another object at each call: it has its own scope (`t`, `t_1`, ...), starts
    with fresh weights, and the trained ones are left behind, with the shim and without it, on Keras 2 and on Keras 3.
    A template that is made in `__init__`, or once under a guard, is what it is for.

    ## Example
    ```python
    import tensorflow as tf

    def scale(x):
        return x * tf.compat.v1.get_variable("scale", [3])

    class Net(tf.keras.layers.Layer):
        def call(self, x):
            template = tf.compat.v1.make_template("net", scale)
            return template(x)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def scale(x):
        return x * tf.compat.v1.get_variable("scale", [3])

    class Net(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.template = tf.compat.v1.make_template("net", scale)

        def call(self, x):
            return self.template(x)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/model_mapping
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/make_template
    """

    code = "TF111"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    supersedes = ("TF406",)
    calls = ("tensorflow.make_template",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge where a template is made."""
        if not call.in_forward or call.version_checked:
            return
        proven = call.runs(Context.FORWARD, without=Context.LEGACY | Context.UNSURE)
        name = call.literal("name_", 0)
        which = f"The template `{name}`" if isinstance(name, str) else "This template"
        yield self.report(
            call,
            f"{which} is made anew at each call{how_reached(call)}, with new weights each time. "
            "Make it once, in `__init__`, and call it here.",
            None if proven else Severity.INFO,
            related=call.callers(Context.FORWARD),
        )
