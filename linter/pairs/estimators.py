"""The ``model_fn`` of an Estimator: what it asks of its features, and what it is given as ``params``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..analysis.index import Scope
from ..analysis.paths import path_of
from ..rule_api.model import File
from .found import Found, Given, Missing
from .placeholders import dtype_of, range_of, width
from .tracing import Program, Spot, is_step, optimizers_of

__all__ = ["find_model_fn", "read_model_fn"]

_ESTIMATORS = (
    "tensorflow.estimator.Estimator",
    "tensorflow.contrib.tpu.TPUEstimator",
    "tensorflow.estimator.tpu.TPUEstimator",
)
_TOLD = ("labels", "mode", "params", "config", "training", "is_training")
"""Parameters that get what they say."""
_SPECS = ("EstimatorSpec", "TPUEstimatorSpec", "ModelFnOps")


def find_model_fn(program: Program, main: File) -> Scope | None:
    """What an Estimator of the program is given, or the only function of the file that returns the spec of one."""
    for call in program.calls():
        if call.name in _ESTIMATORS and (node := call.value("model_fn", 0)) is not None:
            for entity in call.entities(path_of(node)):
                if entity.kind == "function" and entity.file == main.key:
                    return main.index.scopes[entity.scope]
    makers = {
        call.scope.function().id: call.scope.function()
        for call in main.calls
        if call.name.rpartition(".")[2] in _SPECS and "features" in call.scope.function().parameters
    }
    return next(iter(makers.values())) if len(makers) == 1 else None


def read_model_fn(program: Program, main: File, function: Scope, found: Found) -> None:
    """Fill in what a ``model_fn`` says."""
    found.kind, found.call, found.built = "estimator", function.name, f"in the function {function.name}"
    node = function.node
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    found.told.append(f"{main.display}:{node.lineno} function `{function.name}`, which a pair calls as it is")
    _params(program, main, function, found)
    fed = function.parameters[0]
    more = [one for one in function.parameters[1:] if one not in _TOLD and main.default_of(function, one) is None]
    if more:
        found.not_understood.append(f"{main.display}:{node.lineno} what {', '.join(more)} of {function.name} are given")
    roots = [Spot(main, one.scope, one.value) for one in main.index.returns_in(function)]
    roots += [Spot(main, call.scope, call.call) for call in main.calls_by_function.get(function.id, ())]
    keys = _keys(main, function, fed)
    for key, spots in (keys or {"": _reads(main, function, fed)}).items():
        given = Given(key or fed, spots[0].where if spots else f"{main.display}:{node.lineno}", key=key or None)
        _shape(program, given, spots, roots)
        found.given.append(given)
    if "labels" in function.parameters and (spots := _reads(main, function, "labels")):
        found.given.append(label := Given("labels", spots[0].where, role="label"))
        _label(program, label, spots, roots)
    for given in found.given:
        shape = (
            "not told"
            if given.shape is None
            else str([None if isinstance(one, Missing) else one for one in given.shape])
        )
        found.told.append(f"{given.where} {given.role} `{given.name}`: {given.dtype or 'float32'}, shape {shape}")
    for call in main.calls_by_function.get(function.id, ()):
        if is_step(call):
            found.told.append(f"{main.display}:{call.line} training step: `{call.text[:90]}`")
            found.optimizer_text = optimizers_of(program, Spot(main, call.scope, call.call)) or found.optimizer_text
        if call.name.rpartition(".")[2] in _SPECS and (loss := call.value("loss")) is not None:
            made = program.sources(Spot(main, call.scope, loss))
            found.loss_text = "; ".join(dict.fromkeys(f"{one.where}: {one.text[:160]}" for one in made))


def _params(program: Program, main: File, function: Scope, found: Found) -> None:
    if "params" not in function.parameters:
        return
    for call in program.calls():
        node = call.value("params", 3) if call.name in _ESTIMATORS else None
        if node is None:
            continue
        made = [one for one in program.closure(Spot(call.file, call.scope, node)) if isinstance(one.node, ast.Dict)]
        if made and isinstance(made[0].node, ast.Dict) and None not in made[0].node.keys:
            parts = []
            for key, value in zip(made[0].node.keys, made[0].node.values, strict=True):
                assert key is not None
                told = program.value(made[0].at(value))
                plain = isinstance(told, bool | int | float | str | tuple)
                word = ast.unparse(key)
                fill = f"params[{word}], which {made[0].where} gives as `{ast.unparse(value)}`"
                parts.append(f"{word}: {told!r}" if plain else f"{word}: to_fill({fill!r})")
            found.params = "{" + ", ".join(parts) + "}"
            found.told.append(f"{made[0].where} params: {found.params}")
            return
    found.params = Missing(f"the params of {function.name}, a dict")


def _reads(main: File, function: Scope, name: str) -> list[Spot]:
    """Where a parameter is read."""
    return [
        Spot(main, one.scope, one.node)
        for one in main.index.references
        if one.path == name and isinstance(one.node, ast.Name) and one.scope.function() is function
    ]


def _keys(main: File, function: Scope, name: str) -> dict[str, list[Spot]]:
    """The keys by which a dict of features is asked, and where."""
    found: dict[str, list[Spot]] = {}
    for node in ast.walk(function.node):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                found.setdefault(node.slice.value, []).append(Spot(main, function, node))
    return found


def _shape(program: Program, given: Given, spots: Sequence[Spot], roots: Sequence[Spot]) -> None:
    """By what a feature is given to: a reshape, a cast, a column, an embedding."""
    for _, call, name in program.named(*roots):
        mine = [one for one in call.arguments if any(one is spot.node for spot in spots)]
        if name == "tensorflow.reshape" and mine and (node := call.value("shape", 1)) is not None:
            sizes = program.value(Spot(call.file, call.scope, node))
            if isinstance(sizes, tuple) and all(isinstance(size, int) for size in sizes):
                given.shape = tuple(None if size < 0 else size for size in sizes)
        if name == "tensorflow.cast" and mine and (node := call.value("dtype", 1)) is not None:
            given.dtype = given.dtype or None if dtype_of(program, Spot(call.file, call.scope, node)) else None
        if name.rpartition(".")[2] == "embedding_lookup" and mine:
            given.dtype = "int32"
    for call in program.calls():
        if call.name == "tensorflow.feature_column.numeric_column" and call.literal("key", 0) == given.key:
            node = call.value("shape", 1)
            size = 1 if node is None else program.value(Spot(call.file, call.scope, node))
            sizes = size if isinstance(size, tuple) else (size,)
            if all(isinstance(one, int) for one in sizes):
                given.shape = (None, *sizes)
    for spot in spots:
        range_of(program, given, spot, list(roots))
    if given.bound is not None:
        given.dtype = given.dtype or "int32"
    if given.shape is None:
        given.shape = (None, Missing(f"the shape of `{given.name}` behind the rows, {given.where}"))


def _label(program: Program, given: Given, spots: Sequence[Spot], roots: Sequence[Spot]) -> None:
    for spot in spots:
        range_of(program, given, spot, list(roots))
    if given.bound is not None:
        given.dtype, given.shape = "int32", (None,)
        return
    for one, call, name in program.named(*roots):
        last = name.rpartition(".")[2]
        mine = [
            arg
            for arg in call.arguments
            if any(part.node is s.node for part in program.closure(one.at(arg)) for s in spots)
        ]
        if not mine or not (
            "loss" in name or "cross_entropy" in last or last in ("mean_squared_error", "square", "squared_difference")
        ):
            continue
        given.one_hot = "softmax" in last
        others = [one.at(arg) for arg in call.arguments if arg not in mine]
        size = width(program, *others) if others else None
        if size is not None:
            given.shape = (None, size)
            return
    given.shape = (None, Missing(f"the shape of `labels` behind the rows, {given.where}"))
