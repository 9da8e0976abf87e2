"""TF307: objects of one Keras that are given to another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Name, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity

_ROOTS = {"keras": "Keras 3", "tf_keras": "tf_keras"}
_PARTS = ("callbacks", "layers", "metrics", "models", "optimizers")
_MODELS = ("keras.Input", "keras.Model", "keras.Sequential")


class MixedKerasImports(Rule):
    """A layer, an optimizer, a metric or a callback of one Keras is given to another Keras.

    ## Why
    tf_keras, which `tf.keras` is with `TF_USE_LEGACY_KERAS=1`, and Keras 3 do not know each other's classes.
    A `Sequential` refuses the other's layers, `compile` its optimizers, a layer its inputs, with ValueError or
    AttributeError; a metric or a callback of Keras 3 raises AttributeError in `fit` of tf_keras.
    Losses, initializers and regularizers are plain functions and mostly work.
    Without that switch `tf.keras` and `keras` are the same objects from TensorFlow 2.16 on, and the rule is silent of
    them.
    For Keras 2 it is a warning: up to TensorFlow 2.15 `keras` is Keras 2 as well.

    ## Example
    ```python
    import keras
    import tf_keras

    model = keras.Sequential([tf_keras.layers.Dense(1)])
    ```

    ## Fix
    ```python
    import keras

    model = keras.Sequential([keras.layers.Dense(1)])
    ```

    ## Source
    - https://keras.io/getting_started/
    - https://github.com/tensorflow/probability/issues/1774
    """

    code = "TF307"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    calls = ("keras.*",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Compare whose what is called is with whose its arguments are."""
        owner = _owner(call.names, call.target)
        if not owner or call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        for node in _given(call):
            made = call.file.call_at(node)
            names = made.names if made is not None else call.names_of(node)
            other = _owner(names, call.target)
            if other and other != owner and _is_refused(owner, names[0].canonical):
                where = "" if call.target is Target.KERAS3 else " where `keras` is Keras 3, as from TensorFlow 2.16 on"
                yield self.report(
                    call,
                    f"`{call.path or call.method}` is of {owner}, and `{_short(node)}` of {other}: that raises{where}. "
                    "Use one of them.",
                    Severity.ERROR if call.target is Target.KERAS3 else Severity.WARNING,
                )
                return


def _owner(names: tuple[Name, ...], target: Target) -> str:
    """Whose Keras some names surely are; an empty text where that is not known, or for what both take."""
    found = {_ROOTS.get(name.spelled.partition(".")[0], _of_tensorflow(name, target)) for name in names}
    if len(found) != 1 or not all(_is_part(name.canonical) for name in names):
        return ""
    return found.pop()


def _of_tensorflow(name: Name, target: Target) -> str:
    if not name.spelled.startswith("tensorflow."):
        return ""
    return "Keras 3" if target is Target.KERAS3 else "tf_keras"


def _is_part(canonical: str) -> bool:
    parts = canonical.split(".")
    whole = ".".join(parts[:2]).partition("(")[0] in _MODELS
    return parts[0] == "keras" and (whole or (len(parts) > 2 and parts[1] in _PARTS))


def _is_refused(owner: str, given: str) -> bool:
    """Whether the other's object is refused: tf_keras' callbacks work in Keras 3 [run], its inputs at least go in."""
    if owner == "Keras 3" and given.startswith(("keras.callbacks.", "keras.Input")):
        return False
    kind = given.removesuffix("()").rpartition(".")[2]
    return given in ("keras.Input", "keras.Input()") or (kind[:1].isupper() and "." not in given.partition("(")[2])


def _given(call: Call) -> Iterator[ast.expr]:
    """The arguments, and the items of those that are lists."""
    for argument in call.arguments:
        yield from argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument]


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) < 40 else f"{text[:36]}..."
