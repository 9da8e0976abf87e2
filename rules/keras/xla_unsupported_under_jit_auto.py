"""TF316: operations of a forward pass that XLA does not compile, which Keras 3 asks for on a GPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, File, Target
from ...linter.rule_api.rewriting import with_argument
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .members import member_of

if TYPE_CHECKING:
    import libcst

_OPERATIONS = (
    "tensorflow.as_string", "tensorflow.numpy_function", "tensorflow.print", "tensorflow.py_func",
    "tensorflow.py_function", "tensorflow.strings.*",
)  # fmt: skip


class XlaUnsupportedUnderJitAuto(Rule):
    """The `call` of a layer or model prints, calls Python or handles texts, which XLA does not compile.

    ## Why
    `compile` of Keras 3 has `jit_compile="auto"`: on a machine with a GPU and without a strategy, `fit`, `evaluate` and
    `predict` are compiled with XLA; on a CPU they are not.
    XLA has no kernels for `tf.print`, `tf.py_function`, `tf.numpy_function` and `tf.strings`: there it raises
    InvalidArgumentError, "Detected unsupported operations".
    So the program runs on the machine where it is tested and fails where it is to train.
    Executed with `jit_compile=True` on a CPU; how "auto" is decided was read in Keras 3.15.

    The rule is silent in a file that gives `jit_compile=False`.

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.keras.Model):
        def call(self, x):
            tf.print(x)
            return 2.0 * x

    model = Net()
    model.compile("sgd", "mse")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.Model):
        def call(self, x):
            tf.print(x)
            return 2.0 * x

    model = Net()
    model.compile("sgd", "mse", jit_compile=False)
    ```

    ## Fix safety
    Safe: what is not compiled computes the same.
    It is offered where the file compiles one model and leaves `jit_compile` out, or `"auto"`.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/api/models/model_training_apis/
    """

    code = "TF316"
    severity = Severity.INFO
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL
    targets = frozenset({Target.KERAS3})
    calls = _OPERATIONS
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge an operation of the forward pass of a Keras layer or model."""
        if call.version_checked or not call.in_forward or call.cls is None or not call.cls.is_keras:
            return
        if any(entity.kind != "external" for entity in call.found) or call.is_compat_v1:
            return
        if call.file.once("compiles without XLA", lambda: _without_xla(call.file)):
            return
        yield self.report(
            call,
            f"On a GPU, `fit` of Keras 3 compiles `{call.cls.name}` with XLA, which has no `{call.path}`: that raises "
            "InvalidArgumentError. Give `jit_compile=False` to `compile`.",
        )

    def fixed_part(self, site: Call) -> ast.expr | None:
        """The only `compile` of the file."""
        found = [one for one in site.file.calls if one.method == "compile" and not _is_of_another(one)]
        if len(found) != 1 or found[0].has_stars:
            return None
        return found[0].call if found[0].literal("jit_compile", default="auto") == "auto" else None

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Tell `compile` not to."""
        return Replacement(with_argument(node, "jit_compile", "False"))


def _is_of_another(call: Call) -> bool:
    """Whether a method is surely none of a Keras model."""
    members = [member_of(name) for name in call.names]
    return bool(members) and all(member is None or member.kind != "Model" for member in members)


def _without_xla(file: File) -> bool:
    return any(call.method == "compile" and call.literal("jit_compile") is False for call in file.calls)
