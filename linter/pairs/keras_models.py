"""Keras models that a function makes: their inputs, and what they were compiled with."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from ..analysis.index import Scope
from ..analysis.names import PLACEHOLDERS
from ..analysis.paths import path_of
from ..rule_api.model import Call, File
from .found import Found, Given, Missing
from .placeholders import width
from .tracing import UNKNOWN, Program, Spot

__all__ = ["Tf2", "find_maker", "read_keras", "read_tf2"]

_MODELS = ("keras.Model", "keras.Sequential")
_OF_CALLS = ("training", "is_training", "mask", "labels", "mode", "params")
_CALLED = {"layer", "model", "module", "sonnet"}
"""Kinds of classes whose instances are called."""
_SPARSE, _ONE_HOT, _BINARY = (
    ("sparse_categorical", "SparseCategorical"),
    ("categorical", "Categorical"),
    ("binary", "Binary"),
)


@dataclass
class Tf2:
    """The TF2 side.

    Attributes:
        name: of what makes it; empty where that is not told.
        missing_arguments: its parameters that have no default.
        trains: whether it is compiled, or has a step of its own.
        takes_one: whether its ``call`` has one parameter for all inputs, as Keras gives them.
        told: what was found.
        not_understood: what was not.
    """

    name: str = ""
    missing_arguments: list[str] = field(default_factory=list)
    trains: bool = False
    takes_one: bool = False
    told: list[str] = field(default_factory=list)
    not_understood: list[str] = field(default_factory=list)


def find_maker(program: Program, main: File, scope: Scope | None = None) -> Scope | None:
    """The function of a file that makes and returns a Keras model; of a program without placeholders."""
    if any(call.name in PLACEHOLDERS for call in program.calls()):
        return None
    makers = list(_makers(program, main))
    if scope is not None:
        return scope if scope in makers else None
    return makers[0] if len(makers) == 1 else None


def outside_functions(main: File) -> str:
    """Where a file makes a Keras model at the level of the module; empty where it does not."""
    made = [call for call in main.calls if call.name in _MODELS and call.scope.function() is main.index.module]
    return f"{main.display}:{made[0].line}" if made else ""


def _makers(program: Program, main: File, kinds: Set[str] = _CALLED) -> Iterator[Scope]:
    for function in main.index.scopes:
        if function.kind != "function" or function.owner() is not None or function.name == "__init__":
            continue
        returned = [Spot(main, one.scope, one.value) for one in main.index.returns_in(function)]
        if any(_is_of(program, spot, kinds) for spot in returned):
            yield function


def _is_of(program: Program, spot: Spot, kinds: Set[str]) -> bool:
    """Whether a model, or an instance of a class of those kinds, is returned."""
    names = [name.canonical.removesuffix("()") for name in spot.file.names(spot.scope, path_of(spot.node))]
    return any(name in _MODELS for name in names) or any(
        kinds & spot.file.project.kinds(one) for one in program.classes_of(spot)
    )


def missing_arguments(file: File, scope: Scope) -> list[str]:
    """The parameters without a default of a function, or of the constructor of a class."""
    made = [bind.scope for bind in scope.binds.get("__init__", ())] if scope.kind == "class" else [scope]
    function = made[0] if made else None
    if function is None:
        return []
    own = function.parameters[1:] if function.owner() is not None else function.parameters
    return [one for one in own if file.default_of(function, one) is None and not one.startswith("*")]


def read_keras(program: Program, main: File, function: Scope, found: Found) -> None:
    """Fill in what a function says that makes a Keras model."""
    found.kind, found.call, found.built = "keras", function.name, f"in the function {function.name}"
    found.missing_arguments = [one for one in function.parameters if main.default_of(function, one) is None]
    own = main.calls_by_function.get(function.id, [])
    found.told.append(f"{main.display}:{getattr(function.node, 'lineno', 1)} Keras model made by `{function.name}`")
    for call in own:
        if (given := _input(program, call, len(found.given))) is not None:
            found.given.append(given)
    if not found.given:
        found.given.append(
            Given("features", main.display, shape=(None, Missing("the shape of an example of the inputs")))
        )
        found.not_understood.append("no `Input`, `input_shape` or `input_dim` was found")
    compiled = next((call for call in own if call.method == "compile"), None)
    if compiled is None:
        compiled = next(
            (call for call in main.calls if call.method == "compile" and call.value("loss", 1) is not None), None
        )
    if compiled is None:
        found.loss = Missing("optimizer and loss: no `compile` was found")
        found.not_understood.append("no `compile` was found")
    else:
        found.runs = compiled in own
        loss, optimizer = compiled.value("loss", 1), compiled.value("optimizer", 0)
        found.told.append(f"{main.display}:{compiled.line} compiled: `{compiled.text[:160]}`")
        found.loss_text = ast.unparse(loss) if loss is not None else ""
        found.optimizer_text = ast.unparse(optimizer) if optimizer is not None else ""
        if not found.runs:
            text = ", ".join([*map(ast.unparse, compiled.call.args), *map(ast.unparse, compiled.call.keywords)])
            found.loss = Missing(f"what {main.display}:{compiled.line} compiles it with: {text}")
    found.given.append(_label(program, main, own, found))
    for given in found.given:
        shape = [None if isinstance(one, Missing) else one for one in given.shape or ()]
        found.told.append(f"{given.where} {given.role} `{given.name}`: {given.dtype or 'float32'} {shape}")


def _input(program: Program, call: Call, number: int) -> Given | None:
    spot = Spot(call.file, call.scope, call.call)
    sizes: object = UNKNOWN
    is_input = call.name in ("keras.Input", "keras.layers.InputLayer")
    if (is_input and (node := call.value("shape", 0) or call.value("input_shape")) is not None) or (
        call.name.startswith("keras.layers.") and (node := call.value("input_shape")) is not None
    ):
        sizes = program.value(spot.at(node))
    elif call.name.startswith("keras.layers.") and (node := call.value("input_dim")) is not None:
        sizes = (program.value(spot.at(node)),)
        if call.name == "keras.layers.Embedding":
            sizes = UNKNOWN
    elif not is_input:
        return None
    given = Given(f"features_{number}" if number else "features", spot.where)
    dtype = call.literal("dtype")
    given.dtype = dtype if isinstance(dtype, str) else None
    if not isinstance(sizes, tuple):
        sizes = (UNKNOWN,)
    given.shape = (
        None,
        *(
            one if one is None or isinstance(one, int) else Missing(f"a size of the input, {spot.where}")
            for one in sizes
        ),
    )
    return given


def _label(program: Program, main: File, own: list[Call], found: Found) -> Given:
    given = Given("labels", main.display, role="label")
    layers = [
        call
        for call in own
        if call.name.startswith("keras.layers.") and not call.name.endswith(("Dropout", "Activation"))
    ]
    size = next((found_ for call in reversed(layers) if (found_ := _units(program, call)) is not None), None)
    text = found.loss_text
    if any(word in text for word in _SPARSE):
        given.dtype, given.shape, given.bound = "int32", (None,), size
        return given
    given.shape = (None, Missing("the size of the labels behind the rows") if size is None else size)
    if any(word in text for word in _BINARY):
        given.bound = 2
    elif any(word in text for word in _ONE_HOT):
        given.one_hot = True
    return given


def _units(program: Program, call: Call) -> int | None:
    return width(program, Spot(call.file, call.scope, call.call))


def read_tf2(program: Program, main: File, scope: Scope | None) -> Tf2:
    """What makes the TF2 side: what is named, or the only function or class of the file that can."""
    made = Tf2()
    if scope is None:
        for kinds in ({"model"}, _CALLED):
            makers = [
                one
                for one in _makers(program, main, kinds)
                if all(main.default_of(one, p) is not None or p == "params" for p in one.parameters)
            ]
            classes = [one.body for one in main.classes if kinds & main.project.kinds((main.key, one.body.id))]
            if candidates := makers or classes:
                break
        if len(candidates) != 1:
            names = ", ".join(one.name for one in candidates) or "none"
            made.not_understood.append(f"{main.display}: what makes the TF2 side is not clear (found: {names})")
            return made
        scope = candidates[0]
    made.name = scope.name
    within = [scope, *(inner for inner in main.index.scopes if inner.parent is scope)]
    compiled = any(call.method == "compile" for one in within for call in main.calls_by_function.get(one.id, ()))
    steps = [one.node.args for one in within if one.name == "train_step" and isinstance(one.node, ast.FunctionDef)]
    own = not compiled and any(len(_inputs_of(one)) == 1 for one in steps)  # as Keras calls it, with the data
    made.trains = compiled or own
    calls = [one.node.args for one in within if one.name == "call" and isinstance(one.node, ast.FunctionDef)]
    made.takes_one = any(len(_inputs_of(one)) == 1 for one in calls)
    how = "is not compiled, so that the pair has a training step"
    how = "has a `train_step`" if own else "is compiled" if compiled else how
    made.missing_arguments = [one for one in missing_arguments(main, scope) if one != "params"]
    made.told.append(f"{main.display}:{getattr(scope.node, 'lineno', 1)} TF2 side `{scope.name}`, which {how}")
    return made


def _inputs_of(parameters: ast.arguments) -> list[str]:
    """The parameters of a ``call`` in front of those that say something of it; two where there may be any number."""
    names = [one.arg for one in (*parameters.posonlyargs, *parameters.args)][1:]
    own = next((place for place, name in enumerate(names) if name in _OF_CALLS), len(names))
    return names[:own] if parameters.vararg is None else ["", ""]
