"""TF429: one switch for all layers, by which Keras once told them whether they train."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import UNKNOWN, Call, Context, Reference, Target
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..keras.members import member_of
from .api_status import missing
from .contexts import certainty

if TYPE_CHECKING:
    import libcst

_PHASE, _SET, _SCOPE = (
    f"keras.backend.{name}" for name in ("learning_phase", "set_learning_phase", "learning_phase_scope")
)
_REASON = "code of other files may have looked at what was set"
_DECIDE = {
    False: frozenset({"fit", "fit_generator", "train_on_batch"}),
    True: frozenset({"evaluate", "evaluate_generator", "predict", "predict_generator", "predict_on_batch"}),
}
"""The methods of a model that say the opposite to their layers, by what the switch is set to."""


class LearningPhase(Rule):
    """The learning phase is set or read, and `fit`, `evaluate` and `predict` no longer look at it.

    ## Why
    In TF1 `K.set_learning_phase(0)` held for all that came after it: `fit` dropped nothing and left the moving averages
    of BatchNormalization alone, and with a 1 `predict` dropped as in training.
    Keras 3 has none of the functions: reading one raises AttributeError.
    With Keras 2 each method tells its layers itself, whatever was set, and so does `training=` of a call.
    With Dropout(0.9), `fit` after `set_learning_phase(0)` has the loss 257 where TF1 had 52, and `predict` after
    `set_learning_phase(1)` drops 0 of 1000 numbers where TF1 dropped 898.
    Only a plain call, `model(x)`, still follows the switch there.

    `K.learning_phase()` is the number 0 in eager execution, under `fit` too, where TF1 had a placeholder: a branch on
    it never takes the side of training, and as an input of `K.function` it raises ValueError.
    In a graph that is built on purpose all of it works with Keras 2, and is not reported.

    ## Example
    ```python
    import tensorflow as tf

    tf.keras.backend.set_learning_phase(0)
    model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)])
    model.layers[0].trainable = False
    model.compile("adam", "mse")
    model.fit(x, y)
    ```

    ## Fix safety
    Unsafe: a file that is not seen here may call what looked at it.
    It goes where a 0 is set and nothing in the file trains: calls, `predict` and `evaluate` infer by themselves.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/Model#call
    - https://keras.io/getting_started/faq/
    """

    code = "TF429"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF309", "TF406")
    fixes_statement = True
    calls = (_PHASE, _SET, _SCOPE)
    references = (_PHASE, _SET, _SCOPE)

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """Speak of a name that the target's Keras does not have."""
        found = None if reference.version_checked else missing(reference)
        if found is not None:
            yield self.report(
                reference,
                f"`{found.written}` raises AttributeError with Keras 3, where `training=` of each call says whether "
                f"layers train. {_advice(reference.name)}",
            )

    def fix(self, node: libcst.SimpleStatementLine, site: Call | Reference) -> Replacement | None:
        """Take out what sets the phase that all calls have anyway."""
        around = site.statement
        call = site.file.call_at(around.value) if isinstance(around, ast.Expr) else None
        value = call.literal("value", 0, default=UNKNOWN) if call is not None else UNKNOWN
        if call is None or value not in (0, False) or {one.canonical for one in call.names} != {_SET}:
            return None
        if any(other.method in _DECIDE[False] for other in site.file.calls):
            return None
        return Replacement(None, Applicability.UNSAFE, _REASON)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what Keras 2 makes of the switch in eager execution."""
        if call.target is not Target.KERAS2 or {one.canonical for one in call.names} != {call.name}:
            return
        certain = certainty(call)
        if certain is None or any(entity.kind != "external" for entity in call.found):
            return
        if call.name == _PHASE:
            yield from self._read(call, certain)
        else:
            severity = Severity.WARNING if certain is not Severity.INFO and _is_overruled(call) else Severity.INFO
            yield self.report(
                call,
                f"`{call.path}` silently says nothing to `fit`, `evaluate` and `predict`, which tell their layers "
                f"themselves. {_advice(call.name)}",
                severity,
                consequence=Consequence.CHANGES,
            )

    def _read(self, call: Call, certain: Severity) -> Iterator[Diagnostic]:
        if _is_input(call):
            yield self.report(
                call,
                f"`{call.path}()` is a number in eager execution, and `K.function` raises ValueError for it. Call the "
                "model with `training=`.",
                certain,
            )
        elif call.in_forward or call.runs(Context.FIT):
            is_set = call.file.project.uses(_SET, _SCOPE)
            yield self.report(
                call,
                f"`{call.path}()` is 0 under `fit` too: the layer silently never behaves as in training. Take "
                "`training` as an argument of `call`.",
                Severity.INFO if is_set or certain is Severity.INFO else Severity.WARNING,
                consequence=Consequence.CHANGES,
            )


def _is_input(call: Call) -> bool:
    """Whether the phase stands in the list of inputs of `K.function`."""
    inputs = call.file.parent_of(call.call)
    outer = call.file.parent_of(inputs) if isinstance(inputs, ast.List | ast.Tuple) else None
    made = call.file.call_at(outer) if isinstance(outer, ast.Call) else None
    return made is not None and made.name == "keras.backend.function" and made.value("inputs", 0) is inputs


def _is_overruled(call: Call) -> bool:
    """Whether a method of a model says the opposite to its layers, further down in the same function."""
    value = call.literal("value", 0, default=UNKNOWN)
    if value is UNKNOWN or not isinstance(value, int):
        return False
    return any(
        other.line > call.line and other.method in _DECIDE[bool(value)] and _is_of_model(other)
        for other in call.file.calls_by_function.get(call.scope.function().id, [])
    )


def _is_of_model(call: Call) -> bool:
    found = {member_of(name) for name in call.names}
    return bool(found) and all(member is not None and member.kind == "Model" for member in found)


def _advice(name: str) -> str:
    if name == _PHASE:
        return "Take `training` as an argument of `call`."
    return "Pass `training=` to the calls, or set `layer.trainable = False` to freeze BatchNormalization."
