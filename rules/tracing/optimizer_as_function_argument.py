"""TF215: a `tf.function` that is called with one optimizer and then with another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, FunctionSite, Target, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .traces import is_argument, trace_of

_MADE = "keras.optimizers."


class OptimizerAsFunctionArgument(Rule):
    """A `tf.function` takes its optimizer as an argument and is called with two of them: the second call raises.

    ## Why
    An optimizer makes its variables when it first applies gradients.
    The first call of a `tf.function` may make variables, the trace for another optimizer may not: it raises
    "tf.function only supports singleton tf.Variables created on the first call".
    An optimizer whose `build` was called with the variables has them already and works, and so does a `tf.function` of
    its own for each.
    On Keras 3 a plain `SGD` makes no variables and works as well.
    Only optimizers are looked at that the file makes and gives by name; a model that is not built yet has the same
    effect, which is not seen here.

    ## Example
    ```python
    import tensorflow as tf

    first = tf.keras.optimizers.Adam()
    second = tf.keras.optimizers.Adam()

    @tf.function
    def apply(optimizer, gradients, variables):
        optimizer.apply_gradients(zip(gradients, variables))

    v = [tf.Variable(1.0)]
    apply(first, [tf.constant(1.0)], v)
    apply(second, [tf.constant(1.0)], v)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    first = tf.keras.optimizers.Adam()
    second = tf.keras.optimizers.Adam()

    @tf.function
    def apply(optimizer, gradients, variables):
        optimizer.apply_gradients(zip(gradients, variables))

    v = [tf.Variable(1.0)]
    first.build(v)
    second.build(v)
    apply(first, [tf.constant(1.0)], v)
    apply(second, [tf.constant(1.0)], v)
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#using_with_multiple_keras_optimizers
    """

    code = "TF215"
    severity = Severity.WARNING
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    methods = ("apply_gradients", "apply")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge an optimizer that is a parameter by what the calls in the file give."""
        receiver, function = call.receiver, call.function
        if not isinstance(receiver, ast.Name) or function is None or not is_argument(call, receiver.id):
            return
        if receiver.id not in function.parameters:
            return
        trace = trace_of(call)
        if trace is None or trace.how != "function":
            return
        given = dict(_given(function, receiver.id))
        if len(given) < 2 or not all(_is_new(site, path) for path, site in given.items()):
            return
        first, second, *_ = given
        yield self.report(
            call,
            f"`{function.name}` is called with `{first}` and with `{second}`: each makes its variables here, and the "
            "second trace raises ValueError. Call `build` of each before, or make a `tf.function` for each.",
            trace.severity(Severity.WARNING),
            subject=receiver.id,
            related=[site.location(f"called with `{path}`") for path, site in given.items()],
        )


def _given(function: FunctionSite, name: str) -> Iterator[tuple[str, Call]]:
    """The names that the calls in the file give for a parameter, each with a call."""
    position = function.parameters.index(name) - (function.cls is not None)
    for call in function.file.calls:
        if any(entity.kind == "function" and entity.key == function.key for entity in call.found):
            path = path_of(call.value(name, position)) if call.value(name, position) is not None else None
            if path is not None:
                yield path, call


def _is_new(call: Call, path: str) -> bool:
    """Whether a name surely is an optimizer of Keras that makes variables and has not been asked to before."""
    names = call.file.names(call.scope, path)
    if not names or not all(n.canonical.startswith(_MADE) and n.canonical.endswith("()") for n in names):
        return False
    kinds = {name.canonical.removesuffix("()").rpartition(".")[2] for name in names}
    if any("." in n.canonical.removeprefix(_MADE) or "(" in n.canonical[:-2] for n in names) or "SGD" in kinds:
        if call.target is Target.KERAS3 or kinds != {"SGD"}:
            return False
    last = path.rpartition(".")[2]
    return not any(
        other.method in ("build", "apply_gradients") and (path_of(other.receiver) or "").rpartition(".")[2] == last
        for other in call.file.calls
        if other.receiver is not None
    )
