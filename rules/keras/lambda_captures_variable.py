"""TF302: a `Lambda` layer that uses variables of somebody else, or makes its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, FunctionSite, Reference, Site, Target, canonical
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..variables.constructors import SEEDED, is_layer, is_state, is_variable

_WEIGHTS = frozenset(
    {
        "beta", "bias", "call", "embeddings", "gamma", "kernel", "trainable_variables", "trainable_weights",
        "variables", "weights",
    }
)  # fmt: skip


class LambdaCapturesVariable(Rule):
    """The function of a `Lambda` layer uses variables, which the layer and its model do not track.

    ## Why
    A `Lambda` layer has no weights.
    A variable or layer that its function only reads is missing from `model.trainable_variables`: `fit` never changes
    it, and `save` does not store it.
    Keras 3 says nothing; Keras 2 writes a warning to the log.
    A variable or layer that its function creates is new at each call; Keras 2 refuses the model with ValueError, and on
    Keras 3 `fit` raises, also for the seed of a `Dropout`.

    ## Example
    ```python
    import tensorflow as tf

    scale = tf.Variable(1.0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Lambda(lambda x: x * scale)])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones")

        def call(self, inputs):
            return inputs * self.scale

    model = tf.keras.Sequential([tf.keras.layers.Dense(8), Scale()])
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/layers/Lambda
    - https://keras.io/api/layers/core_layers/lambda/
    """

    code = "TF302"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = ("keras.layers.Lambda",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what the function of a `Lambda` layer does."""
        function = call.function_given("function", 0)
        if function is None or len(call.found) != len(call.names):
            return
        for made in function.calls:
            if not made.guarded and _makes_state(made):
                refuses = call.target is Target.KERAS2
                seeded = made.name.rpartition(".")[2] in SEEDED
                happens = (
                    "Keras 2 refuses the layer with ValueError"
                    if refuses
                    else "under `fit` the second trace raises ValueError"
                    if seeded
                    else "each call makes new ones, and nothing trains or saves them"
                )
                what = "the state of a seed generator" if seeded else "variables"
                yield self.report(
                    made,
                    f"`{made.path}` creates {what} in the function of a `Lambda` layer, which has none: {happens}. "
                    "Write a subclass of `Layer` that creates them once.",
                    consequence=Consequence.BREAKS if refuses or seeded else None,
                )
        told: set[str] = set()
        for reference in function.references:
            name = _captured(reference, function)
            if name and name not in told:
                told.add(name)
                yield from self._captured(reference, name, function)

    def _captured(self, reference: Reference, name: str, function: FunctionSite) -> Iterator[Diagnostic]:
        if _is_owned(reference, name) or _is_frozen(reference, name):
            return
        elsewhere = _used_elsewhere(reference, name, function)
        owner = " unless the model gets them through another layer" if elsewhere else ""
        yield self.report(
            reference,
            f"the `Lambda` layer uses the variables of `{name}` and does not track them: they are missing from "
            f"`trainable_variables`, so `fit` leaves them as they are and `save` loses them{owner}. Write a subclass "
            "of `Layer` that holds them.",
            Severity.INFO if elsewhere else None,
            subject=name,
        )


def _makes_state(made: Call) -> bool:
    if made.name == "tensorflow.get_variable":
        return len(made.found) == len(made.names)
    if "(" in made.name:
        return False  # a layer that is there already is called
    return is_variable(made) or is_layer(made)


def _captured(reference: Reference, function: FunctionSite) -> str:
    """The path of the variable, layer or model that is read, if it comes from outside the function."""
    path = reference.path or ""
    head = path.partition(".")[0]
    found = reference.file.index.lookup(reference.scope, head)
    if found is None or found[0].function() is function.body:
        return "" if head != "self" or found is None else _state(reference, path)
    return _state(reference, path)


def _state(reference: Reference, path: str) -> str:
    owner, _, last = path.rpartition(".")
    for candidate in (path, owner if last in _WEIGHTS else ""):
        entities = reference.entities(candidate) if candidate else ()
        if any(entity.text.endswith((".add_weight()", ".add_variable()")) for entity in entities):
            return ""  # the layer that added it tracks it
        if entities and (is_state(reference.file.project, entities) or all(_is_model(e.text) for e in entities)):
            return candidate
    return ""


def _is_model(text: str) -> bool:
    return canonical(text) == "keras.Model()"


def _is_owned(reference: Reference, name: str) -> bool:
    """Whether ``self.x`` belongs to a layer, model or module, which tracks it."""
    cls = reference.cls
    return name.startswith("self.") and (cls is None or bool(cls.kinds) or not cls.knows_bases)


def _is_frozen(site: Site, name: str) -> bool:
    """Whether the program says that the variables are constants: ``trainable=False``, one way or the other."""
    for assignment in site.file.assignments:
        if assignment.path == f"{name}.trainable":
            return True
        made = assignment.value_call
        if assignment.path == name and made is not None and made.literal("trainable") is False:
            return True
    return False


def _used_elsewhere(reference: Reference, name: str, function: FunctionSite) -> bool:
    """Whether anything else reads it: a layer that the model also calls itself is tracked through that call."""
    inside = range(function.line, (getattr(function.syntax, "end_lineno", None) or function.line) + 1)
    for other in reference.file.references:
        path = other.path or ""
        if (path == name or path.startswith(f"{name}.")) and not (
            other.line in inside and isinstance(other.syntax, ast.expr) and other.scope.function() is function.body
        ):
            return True
    return False
