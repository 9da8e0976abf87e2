"""TF903: names whose origin cannot be read off the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Import, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity


class UnresolvedOrigin(Rule):
    """A TensorFlow name is looked up in a way that reading the code cannot follow.

    ## Why
    After `from tensorflow import *` every undefined name may be TensorFlow's, and `getattr(tf.nn, name)` may be any
    function of the module.
    What is not resolved is not linted: a hazard there goes unseen, by this program and by the upgrade script.
    A `getattr` with a literal name is resolved.

    ## Example
    ```python
    import tensorflow as tf

    def activation(name):
        return getattr(tf.nn, name)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh}

    def activation(name):
        return ACTIVATIONS[name]
    ```

    ## Source
    https://www.tensorflow.org/guide/migrate/upgrade#caveats
    https://docs.python.org/3/library/functions.html#getattr
    """

    code = "TF903"
    severity = Severity.INFO
    consequence = Consequence.LEGACY
    calls = ("getattr",)
    imports = ("tensorflow", "tensorflow.*", "keras", "keras.*", "slim", "slim.*")

    def on_import(self, statement: Import) -> Iterator[Diagnostic]:
        """See `Rule.on_import`."""
        if statement.is_star:
            module = statement.absolute.removesuffix(".*")
            yield self.report(
                statement,
                f"After `from {module} import *` a name may come from there or from this file; hazards behind it can "
                "go unseen. Import the module, or the names that are used.",
            )

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        arguments = call.call.args
        if len(arguments) < 2 or literal_string(arguments[1]) is not None:
            return
        names = call.names_of(arguments[0])
        module = ast.unparse(arguments[0])
        if any(_is_module(name.spelled) for name in names):
            yield self.report(
                call,
                f"`getattr({module}, ...)` may be any name of `{module}`, moved or removed ones included; hazards "
                "behind it can go unseen. Use a dictionary of the functions that are meant.",
            )


def _is_module(spelled: str) -> bool:
    """Whether a public name is a module of TensorFlow or Keras: modules are in lower case and are not called."""
    root, _, rest = spelled.partition(".")
    return (
        root in {"tensorflow", "keras", "tf_keras", "tf_slim"}
        and "(" not in rest
        and "[" not in rest
        and rest.islower() | (not rest)
    )
