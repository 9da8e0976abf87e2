"""TF114: a weight or sublayer that a layer adds to itself during a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, ClassSite, Context, Target
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .constructors import SEEDED, STATEFUL, STATELESS, is_layer, may_be_guarded, reached, runs_each_call
from .hoisting import around, hoisted

if TYPE_CHECKING:
    import libcst

_REASON = "the weights stay from one call to the next"
_ADDERS = ("add_weight", "add_variable")
_FORWARD = ("call", "__call__")
_STEPS = ("train_step", "test_step", "predict_step")
_SET_UP = ("__init__", "build")
_SOME_LAYER = STATEFUL | STATELESS | SEEDED


class StateOutsideBuild(Rule):
    """A Keras layer adds a weight or a sublayer to itself in `call`.

    ## Why
    Keras builds a layer once: `__init__` and `build` add its state, `call` uses it.
    With Keras 2, `self.add_weight` in `call` adds another tracked weight at every call, and `self.dense = Dense(...)`
    replaces the weights that were there; under `fit` the second trace raises ValueError.
    Keras 3 locks a layer once it is built and raises
    `ValueError: You cannot add new elements of state (variables or sub-layers) to a layer that is already built`.
    That holds for layers without weights, models and metrics too, and for a creation under `if self.dense is None`,
    unless Keras had to run `call` to build other sublayers.

    ## Example
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def call(self, inputs):
            factor = self.add_weight(name="factor", shape=(), initializer="ones")
            return inputs * factor
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight(name="factor", shape=(), initializer="ones")

        def call(self, inputs):
            return inputs * self.factor
    ```

    ## Fix safety
    Unsafe: it keeps its weights from one call to the next, as it was meant to.
    It is offered where the forward pass makes it once and in no branch, with constants, names of the module and
    attributes that the constructor alone sets.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/guides/making_new_layers_and_models_via_subclassing/
    """

    code = "TF114"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF102", "TF109")
    calls = ("keras.layers.*", "keras.applications.*", "keras.Sequential", "keras.Model", "keras.metrics.*")
    creates = ("layer", "metric")
    methods = _ADDERS

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a weight or a layer that becomes part of ``self``."""
        owner = _owner(call)
        if owner is None or not owner.is_keras:
            return
        added = call.method in _ADDERS
        metric = not added and _is_metric(call)
        if not added and not metric and not _is_any_layer(call):
            return
        kind = "metric" if metric else "layer"
        what = f"`{call.path}` adds a weight" if added else f"`{_target(call)}` gets a new {kind}"
        if runs_each_call(call):
            if not metric:
                yield from self._at_each_call(call, what, added)
        elif call.target is Target.KERAS3 and _is_once_in_call(call, owner):
            built = owner.defines("build") or _is_in_step(call)
            if built or not _may_build_others(owner):
                if _is_in_step(call):
                    reason = "before the first step"
                elif built:
                    reason = "once `build` has run"
                else:
                    reason = "before its first call, for it has nothing else to build"
                yield self.report(
                    call,
                    f"{what} {reached(call, Context.FIT)}, though only once: Keras 3 has locked the layer "
                    f"{reason}, and raises ValueError (cannot add new elements of state). Create it in `__init__` or "
                    "`build`.",
                    Severity.WARNING,
                    subject=_target(call),
                    related=[*call.guards, *call.callers(Context.FIT)],
                )

    def _at_each_call(self, call: Call, what: str, added: bool) -> Iterator[Diagnostic]:
        where = f"at every call, {reached(call, Context.FORWARD)}"
        if call.target is Target.KERAS3:
            effect = "Keras 3 raises ValueError (cannot add new elements of state to a layer that is already built)"
        elif not added and not is_layer(call):
            return
        else:
            lost = "each call tracks one more weight" if added else "each call loses the weights of the last one"
            effect = f"eagerly, {lost}; under `fit`, the second trace raises ValueError"
        place = "`build`" if added else "`__init__` or `build`"
        yield self.report(
            call,
            f"{what} {where}: {effect}. Create it in {place}.",
            Severity.INFO if may_be_guarded(call) else None,
            subject=_target(call),
            related=call.callers(Context.FORWARD),
        )

    def fixed_part(self, site: Call) -> ast.stmt | None:
        """The class."""
        return around(site)

    def fix(self, node: libcst.ClassDef, site: Call) -> Replacement | None:
        """Make it in the constructor."""
        new = hoisted(node, site)
        return None if new is None else Replacement(new, Applicability.UNSAFE, _REASON)


def _owner(call: Call) -> ClassSite | None:
    """The class of the instance that the call adds state to."""
    if call.method in _ADDERS:
        parts = (call.path or "").split(".")
        name = parts[0] if len(parts) == 2 else ""
    else:
        name = _target(call).partition(".")[0]
    return call.class_of_self(name) if name else None


def _target(call: Call) -> str:
    """``self.dense``, where the call's result is assigned to an attribute of ``self``."""
    return next((path for path in call.assigned_to if path.count(".") == 1 and "[" not in path), "")


def _is_any_layer(call: Call) -> bool:
    if call.names:
        return is_layer(call) or all(
            n.canonical == "keras.Model"
            or (n.canonical.startswith("keras.layers.") and n.canonical[13:] in _SOME_LAYER)
            for n in call.names
        )
    return "layer" in call.creates and "v1layer" not in call.creates


def _is_metric(call: Call) -> bool:
    if call.names:
        return all(n.canonical.startswith("keras.metrics.") and n.canonical[14:15].isupper() for n in call.names)
    return "metric" in call.creates


def _is_in_step(call: Call) -> bool:
    return call.function is not None and call.function.name in _STEPS


def _is_once_in_call(call: Call, owner: ClassSite) -> bool:
    """Whether the place runs at the first call: under a guard, in `call` or in a method that `call` alone calls."""
    function = call.function
    if function is None or function.name in (*_FORWARD, *_STEPS):
        return function is not None and call.guarded
    if not call.runs(Context.FIT | Context.ONCE):
        return False
    own = f"self.{function.name}"
    callers = {
        each.function.name
        for each in call.file.calls
        if each.path == own and each.function is not None and each.cls is not None and each.cls.body is owner.body
    }
    return bool(callers) and callers.isdisjoint(_SET_UP) and function.name not in _SET_UP


def _may_build_others(owner: ClassSite) -> bool:
    """Whether Keras 3 may have to run `call` to build the layer: an attribute may be a layer that is not built."""
    if len(owner.file.project.mro(owner.key)[0]) > 1:
        return True
    called = {reference.path for reference in owner.file.references if reference.called}
    return any(
        not isinstance(assignment.value, ast.Constant | ast.Name)
        or (isinstance(assignment.value, ast.Name) and assignment.path in called)
        for (scope, _), assignments in owner.file.attribute_assignments.items()
        if scope == owner.body.id
        for assignment in assignments
        if assignment.function is not None and assignment.function.name == "__init__"
    )
