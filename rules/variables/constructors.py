"""What makes state: which constructors create variables, on which target, and how a place comes to run them again.

Every set below was checked by making the object and calling it once under `tf.variable_creator_scope`, on TF 2.21 with
Keras 3 and with tf_keras.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ...linter.rule_api.model import (
    UNKNOWN,
    Block,
    Call,
    Context,
    Entity,
    File,
    FunctionSite,
    Project,
    Site,
    Target,
    canonical,
    is_none,
    path_of,
    runs_by_itself,
)
from .keeping import kept

_TABLE = json.loads(Path(__file__).with_name("keras_layers.json").read_text("utf-8"))
STATELESS = frozenset[str](_TABLE["stateless"])
SEEDED = frozenset[str](_TABLE["stateful_keras3"])
"""No variable on Keras 2; the state of a seed generator on Keras 3."""

STATEFUL = frozenset(
    {
        "AdditiveAttention", "BatchNormalization", "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D",
        "Conv3DTranspose", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Convolution1D", "Convolution1DTranspose",
        "Convolution2D", "Convolution2DTranspose", "Convolution3D", "Convolution3DTranspose", "CuDNNGRU", "CuDNNLSTM",
        "Dense", "DepthwiseConv1D", "DepthwiseConv2D", "EinsumDense", "Embedding", "GRU", "GRUCell",
        "GroupNormalization", "GroupQueryAttention", "LSTM", "LSTMCell", "LayerNormalization", "LocallyConnected1D",
        "LocallyConnected2D", "MultiHeadAttention", "Normalization", "PReLU", "RMSNormalization", "RandAugment",
        "RandomBrightness", "RandomContrast", "RandomCrop", "RandomErasing", "RandomFlip", "RandomGrayscale",
        "RandomHeight", "RandomHue", "RandomRotation", "RandomSaturation", "RandomTranslation", "RandomWidth",
        "RandomZoom", "ReversibleEmbedding", "SeparableConv1D", "SeparableConv2D", "SeparableConvolution1D",
        "SeparableConvolution2D", "SimpleRNN", "SimpleRNNCell", "SyncBatchNormalization",
    }
)  # fmt: skip
"""Layers that create variables on both targets, when they are made or first called."""

_AFFINE = frozenset({"GroupNormalization", "LayerNormalization"})
_HOLDERS = frozenset({"Bidirectional", "RNN", "SpectralNormalization", "StackedRNNCells", "TimeDistributed"})

VARIABLES = frozenset(
    {
        "keras.Variable", "keras.backend.Variable", "keras.backend.random_normal_variable",
        "keras.backend.random_uniform_variable", "keras.backend.variable", "tensorflow.Variable",
        "tensorflow.contrib.eager.Variable", "tensorflow.random.Generator",
        "tensorflow.random.Generator.from_key_counter", "tensorflow.random.Generator.from_non_deterministic_state",
        "tensorflow.random.Generator.from_seed", "tensorflow.random.Generator.from_state",
    }
)  # fmt: skip
FILLED = ("keras.backend.eye", "keras.backend.ones", "keras.backend.zeros")
"""They give a variable where the shape is known; `keras.backend.zeros_like` never does."""

SEED_GENERATOR = "keras.random.SeedGenerator"
_FORWARD = ("call", "__call__")
_FILLED_BY_KERAS = frozenset({"mask", "training"})
"""Keras calls with `training` both ways, and has a mask for few inputs."""
_ADDED = (".add_weight()", ".add_variable()")
_MAX_DEPTH = 4
_MOST_WAYS = 16
"""Combinations of what a call may give to the parameters of one test."""

TF1_GRAPHS = ("tensorflow.Session", "tensorflow.InteractiveSession", "tensorflow.train.*", "tensorflow.estimator.*")


def is_variable(call: Call) -> bool:
    """Whether a call certainly makes a variable."""
    names = {name.canonical for name in call.names}
    if not names or len(call.found) != len(call.names):
        return False
    if names <= set(FILLED):
        return _is_static(call.value("size" if call.name.endswith(".eye") else "shape", 0))
    if names == {SEED_GENERATOR}:
        return call.target is Target.KERAS3
    return names <= VARIABLES


def is_layer(call: Call) -> bool:
    """Whether a call makes a layer or model that certainly has variables of its own, on the target."""
    if call.names and len(call.found) == len(call.names):
        return all(_is_layer_name(name.canonical, call) for name in call.names)
    classes = [entity for entity in call.found if entity.kind == "class"]
    return bool(classes) and all(holds_state(call.file.project, entity) for entity in classes)


def _is_layer_name(name: str, call: Call) -> bool:
    last = name.rpartition(".")[2]
    if name.startswith("keras.applications."):
        return last[:1].isupper() and "(" not in name
    if name == "keras.Sequential":
        return any(_makes_layer(call, argument) for argument in call.arguments)
    if not name.startswith("keras.layers.") or "(" in name:
        return False
    if last in _HOLDERS:
        return any(_makes_layer(call, argument) for argument in call.arguments)
    if last in SEEDED:
        rate = call.literal("stddev" if last == "GaussianNoise" else "rate", 0)
        return call.target is Target.KERAS3 and rate != 0
    if last not in STATEFUL:
        return False
    if last in _AFFINE:
        return call.literal("center", default=True) is not False or call.literal("scale", default=True) is not False
    if last == "Normalization":
        return call.value("mean") is None
    return last != "AdditiveAttention" or call.literal("use_scale", 0, default=True) is not False


def _makes_layer(call: Call, argument: ast.expr) -> bool:
    inner = (call.file.call_at(node) for node in ast.walk(argument) if isinstance(node, ast.Call))
    return any(is_layer(made) for made in inner if made is not None and made is not call)


def inside_other(call: Call) -> bool:
    """Whether the call stands in the arguments of another one that is reported, as in ``Sequential([Dense(3)])``."""
    return any(
        other is not call and other.line <= call.line <= other.end_line and _contains(other, call) and is_layer(other)
        for other in call.file.calls_by_function.get(call.scope.function().id, [])
    )


def _contains(outer: Call, inner: Call) -> bool:
    return any(node is inner.syntax for argument in outer.arguments for node in ast.walk(argument))


def holds_state(project: Project, made: Entity, depth: int = 0) -> bool:
    """Whether an instance of a class of the project certainly has variables: its class assigns some to ``self``."""
    kinds = project.kinds(made.key)
    if depth > _MAX_DEPTH or "v1layer" in kinds or not kinds & {"layer", "model", "module"}:
        return False
    return attributes_hold_state(project, made, depth)


def attributes_hold_state(project: Project, made: Entity, depth: int = 0) -> bool:
    """Whether a class, of any kind, assigns layers or variables that it makes itself to its attributes."""
    classes, bases = project.mro(made.key)
    if any(is_stateful_base(canonical(base)) for base in bases):
        return True
    for key in classes:
        summary = project.cls(key)
        for texts in summary["attributes"].values() if summary else ():
            found = [entity for text in texts for entity in project.resolve(key[0], text)]
            if found and all(_is_state(project, entity, depth) for entity in found):
                return True
    return False


def is_stateful_base(name: str) -> bool:
    """Whether a public class of this canonical name has variables by itself."""
    return name.startswith("keras.layers.") and name.rpartition(".")[2] in STATEFUL


def _is_state(project: Project, entity: Entity, depth: int) -> bool:
    if entity.kind == "instance":
        return entity.text != "self" and holds_state(project, entity, depth + 1)
    if entity.kind != "external" or not entity.text.endswith("()"):
        return False
    name = canonical(entity.text)
    plain = name.removesuffix("()")
    return (
        plain in VARIABLES
        or plain == "keras.Sequential"
        or ("(" not in plain and is_stateful_base(plain))
        or (name.startswith("keras.") and name.endswith(_ADDED))
    )


def is_state(project: Project, entities: tuple[Entity, ...]) -> bool:
    """Whether a value is certainly a variable, or a layer or model that has some."""
    return bool(entities) and all(_is_state(project, entity, 0) for entity in entities)


def _is_static(shape: ast.expr | None) -> bool:
    """Whether a shape is written in numbers."""
    items = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
    return all(isinstance(item, ast.Constant) and isinstance(item.value, int) for item in items)


# -- how often it runs -------------------------------------------------------------------------------------------------


def runs_each_call(site: Site) -> bool:
    """Whether a place runs at each call of a layer, model or module, and is not part of another rule's node."""
    if not site.in_forward or site.guarded or in_lambda_layer(site):
        return False
    return for_absent_argument(site, Context.FORWARD) is not False


def in_lambda_layer(site: Site) -> bool:
    """Whether the place is written in the lambda of a `Lambda` layer, which has rules of its own."""
    function = site.function
    if function is None or not isinstance(function.syntax, ast.Lambda):
        return False
    return id(function.syntax) in site.file.once("in lambda layers", lambda: _in_lambda_layers(site.file))


def _in_lambda_layers(file: File) -> frozenset[int]:
    """The nodes in the arguments of `Lambda` layers, by their identity."""
    layers = [call for call in file.calls if call.name == "keras.layers.Lambda"]
    return frozenset(id(node) for call in layers for argument in call.arguments for node in ast.walk(argument))


def may_be_tf1(site: Site) -> bool:
    """Whether the place may well run in TF1 graphs only: below layers for TF1, in a program that builds graphs."""
    if site.runs(Context.FORWARD, without=Context.LEGACY):
        return False
    return site.runs(Context.LEGACY) and site.file.project.uses(*TF1_GRAPHS)


def is_unproven(site: Site) -> bool:
    """Whether it is likely but not certain that the place runs again and again with eager execution on."""
    return may_be_tf1(site) or for_absent_argument(site, Context.FORWARD) is None or may_be_guarded(site)


def may_be_guarded(site: Site, flag: Context = Context.FORWARD) -> bool:
    """Whether a guard around the place may hold, or not, or Keras may run it only while a model is made."""
    return site.runs(flag) and not site.runs(flag, without=Context.UNSURE | Context.ONCE)


def for_absent_argument(site: Site, flag: Context) -> bool | None:
    """Whether code that stands in for an absent argument (``if w is None: create``) runs under `flag`.

    None where no call is known to leave the argument out; True for code that depends on no argument.
    """
    function = site.function
    if function is None or not function.parameters:
        return True
    kept = site.file.once(f"absent arguments of {function.body.id} under {flag}", dict[int, bool | None])
    return site.block.inherited(kept, True, lambda level, around: _and(around, _is_left_out(function, level, flag)))


def _and(first: bool | None, second: bool | None) -> bool | None:
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def _is_left_out(function: FunctionSite, level: Block, flag: Context) -> bool | None:
    """Whether a branch runs that hangs on an argument; True for other branches."""
    if level.kind not in ("if", "else") or not isinstance(level.node, ast.expr):
        return True
    holds = level.kind == "if"
    name, by_truth = _absent(level.node, holds)
    if name not in function.parameters:
        return not all(outcome is (not holds) for outcome in _outcomes(function, level, flag) or [None])
    if _is_taken_again(function, level, name):
        return True
    outcomes = _outcomes(function, level, flag)
    if outcomes and all(outcome is (not holds) for outcome in outcomes):
        return False
    if holds in outcomes:
        return True
    owner = function.cls
    called_by_keras = owner is not None and "layer" in owner.kinds and function.name in _FORWARD
    if called_by_keras and name in _FILLED_BY_KERAS:
        return True
    default = function.defaults.get(name)
    if not isinstance(default, ast.Constant) or not (default.value is None or (by_truth and not default.value)):
        return None
    omitting, giving, calls = _calls_without(function, name, flag)
    if omitting or (called_by_keras and not calls):
        return True
    if calls:
        return False if giving == calls and default.value is None else None
    return True if owner is not None and function.name in _FORWARD else None


def _calls_without(function: FunctionSite, name: str, flag: Context) -> tuple[int, int, int]:
    """See `Project.callers_omitting_under`."""
    return function.file.project.callers_omitting_under(function.key, name, int(flag), int(Context.ONCE))


def _outcomes(function: FunctionSite, level: Block, flag: Context) -> list[bool | None]:
    """What a test on arguments gives for each call that runs under `flag`, None for what its arguments do not decide.

    Empty where there are calls that nobody sees.
    """
    test = level.node
    if not isinstance(test, ast.expr) or runs_by_itself(function.body):
        return []
    if any(isinstance(part, ast.Call) for part in ast.walk(test)):
        return []
    read = dict.fromkeys(part.id for part in ast.walk(test) if isinstance(part, ast.Name))
    inner = level.scope.binds if level.scope is not function.body else ()
    names = tuple(n for n in read if n in function.parameters and function.body.keeps(n) and n not in inner)
    calls = function.arguments_under(names, flag) if names else []
    return [_outcome(test, names, values) for values in calls]


def _outcome(test: ast.expr, names: Sequence[str], values: Sequence[Sequence[Any]]) -> bool | None:
    """What a test gives for what its names may be; None where that is not the same for all."""
    if math.prod(map(len, values)) > _MOST_WAYS:
        return None
    ways = (dict(zip(names, way, strict=True)) for way in product(*values))
    found = {_decided(test, {name: value for name, value in way.items() if value is not UNKNOWN}) for way in ways}
    return found.pop() if len(found) == 1 else None


def _decided(test: ast.expr, values: Mapping[str, Any]) -> bool | None:
    """What a test gives where some names have constants as their values; None where these do not decide it."""
    path = path_of(test.left if isinstance(test, ast.Compare) else test) or ""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _decided(test.operand, values)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_decided(part, values) for part in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if path not in values:
        return None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        if isinstance(right, ast.Constant) and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            return (values[path] == right.value) is isinstance(test.ops[0], ast.Eq | ast.Is)
        if isinstance(right, ast.Tuple | ast.List | ast.Set) and isinstance(test.ops[0], ast.In | ast.NotIn):
            if all(isinstance(item, ast.Constant) for item in right.elts):
                among = any(isinstance(item, ast.Constant) and values[path] == item.value for item in right.elts)
                return among is isinstance(test.ops[0], ast.In)
    return bool(values[path]) if isinstance(test, ast.Name) else None


def _is_taken_again(function: FunctionSite, level: Block, name: str) -> bool:
    """Whether the name of a parameter has another value by the time of a test, whatever was given."""
    around = frozenset(block.id for block in level.chain()) - {level.id}
    line = int(getattr(level.node, "lineno", 0))
    return any(
        made.path == name and made.line < line and made.block.id in around and not _reads_name(made.value, name)
        for made in function.assignments
    )


def _reads_name(value: ast.expr | None, name: str) -> bool:
    return value is None or any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))


def _absent(test: ast.expr, holds: bool) -> tuple[str, bool]:
    """The name that is None where `test` is `holds`, and whether another false value would do as well."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if isinstance(test, ast.Name):
        return "" if holds else test.id, True
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1:
        right = test.comparators[0]
        if is_none(right) and isinstance(test.ops[0], ast.Is | ast.IsNot):
            return test.left.id if isinstance(test.ops[0], ast.Is) == holds else "", False
    return "", False


def is_called(call: Call, flag: Context) -> bool:
    """Whether a layer that is made is also called under `flag`: most create their variables only then."""
    if call.name.startswith("keras.applications.") or _has_variables_when_made(call):
        return True
    around = call.file.calls_by_function.get(call.scope.function().id, [])
    if any(other.call.func is call.syntax for other in around):
        return True
    names = {holder.path for holder in kept(call) if not holder.inside}
    if any(_is_run_as(call, path, flag) for path in names if path.count(".") == 1):
        return True
    if any((other.path or "").removesuffix("[]") in names for other in around):
        return True
    function = call.function
    return (
        function is not None
        and _is_returned(call, function, names)
        and call.file.project.calls_result(function.key, int(flag))
    )


def _is_run_as(call: Call, path: str, flag: Context) -> bool:
    """Whether the methods around call an attribute of ``self`` under `flag`."""
    owner = call.class_of_self(path.partition(".")[0])
    return owner is not None and any(
        other.path == path and other.cls is not None and other.cls.body is owner.body and other.runs(flag)
        for other in call.file.calls
    )


def _has_variables_when_made(call: Call) -> bool:
    """Whether variables are there before a first call: those of seeds, and of modules that nothing builds."""
    if call.name.rpartition(".")[2] in SEEDED:
        return call.target is Target.KERAS3
    project = call.file.project
    made = [entity for entity in call.found if entity.kind == "class"]
    return bool(made) and all(
        "module" in project.kinds(entity.key) and _assigns_in_constructor(project, entity) for entity in made
    )


def _assigns_in_constructor(project: Project, entity: Entity) -> bool:
    if project.method(entity.key, "build") is not None:
        return False
    texts = (
        (key[0], text)
        for key in project.mro(entity.key)[0]
        for values in (project.cls(key) or {"attributes": {}})["attributes"].values()
        for text in values
    )
    return any(
        found.kind == "external" and canonical(found.text).removesuffix("()") in VARIABLES
        for file, text in texts
        for found in project.resolve(file, text)
    )


def _is_returned(call: Call, function: FunctionSite, names: set[str]) -> bool:
    if isinstance(function.syntax, ast.Lambda):
        return function.syntax.body is call.syntax
    return any(
        isinstance(statement, ast.Return)
        and statement.value is not None
        and (statement.value is call.syntax or path_of(statement.value) in names)
        for statement in function.statements
    )


def reached(site: Site, flag: Context) -> str:
    """Where it runs, for a message: "in `Net.call`", or with the way that leads there."""
    trail = site.trail(flag)
    return f"by {trail}" if " -> " in trail else f"in {trail}"
