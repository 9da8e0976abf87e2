"""TF111: a template that is made anew at each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .hoisting import around, hoisted
from .v1_names import how_reached

if TYPE_CHECKING:
    import libcst

_REASON = "the template keeps its variables from one call to the next"
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

    ## Fix safety
    Unsafe: it keeps its variables from one call to the next, as it was meant to.
    It is offered where the forward pass makes it once and in no branch, with constants, names of the module and
    attributes that the constructor alone sets.

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

    def fixed_part(self, site: Call) -> ast.stmt | None:
        """The class."""
        return around(site)

    def fix(self, node: libcst.ClassDef, site: Call) -> Replacement | None:
        """Make it in the constructor."""
        new = hoisted(node, site)
        return None if new is None else Replacement(new, Applicability.UNSAFE, _REASON)
