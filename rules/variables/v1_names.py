"""TF1's variables by name: which functions make them, and what names a call gives.

The tables say at which position, from 0, a function takes the name of its variable scope; they stand in
``v1_layers.json`` and were read off TensorFlow itself.
"""

from __future__ import annotations

import ast
import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context, Site, defaults_to_none, is_none
from ...linter.rule_api.rewriting import argument, expression, has_comment, with_argument
from ...linter.rule_api.rule import Applicability, Replacement

if TYPE_CHECKING:
    import libcst

_TABLE = json.loads(Path(__file__).with_name("v1_layers.json").read_text(encoding="utf-8"))

LAYERS: dict[str, int] = {f"tensorflow.layers.{name}": position for name, position in _TABLE["layers"].items()}
"""Functions of `tf.compat.v1.layers`, to the position of ``name``."""
SLIM: dict[str, int | None] = {f"slim.{name}": position for name, position in _TABLE["slim"].items()} | {
    f"slim.{name}": None for name in _TABLE["slim_scope_keyword"]
}
"""Functions of slim, to the position of ``scope``; None where it goes by keyword only."""
FIRST_NAMES: dict[str, str] = {name: name.rpartition(".")[2] for name in LAYERS} | {
    f"slim.{name}": scope for name, scope in _TABLE["slim_default_scope"].items()
}
"""Functions of both, to the name that the first call without one gets."""
LAYER_CLASSES = frozenset(
    f"tensorflow.layers.{name}"
    for name in (
        *("BatchNormalization", "Conv1D", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense"),
        *("SeparableConv1D", "SeparableConv2D"),
    )
)
"""Layers as objects; each object makes its own variables."""
CELLS = frozenset(f"tensorflow.nn.rnn_cell.{name}" for name in ("BasicLSTMCell", "BasicRNNCell", "GRUCell", "LSTMCell"))
GETTERS = frozenset({"tensorflow.get_variable", "tensorflow.get_local_variable"})
"""What gets a variable by the name that it is given."""
SLIM_GETTERS = frozenset({"slim.variable", "slim.model_variable", "slim.local_variable", "slim.get_variable"})
MAKERS = frozenset({*LAYERS, *SLIM, *GETTERS, *SLIM_GETTERS})
"""Every function that makes variables by name."""
SCOPES = ("tensorflow.variable_scope", "tensorflow.variable_op_scope")

SHIMMED = Context.FORWARD | Context.SHIM
_SHIMS = frozenset({"keras.utils.track_tf1_style_variables", "keras.utils.track_tf1_layers_and_variables"})


class Naming(Enum):
    """Whether a call gives a name of its own; a name that some caller below the shim leaves out is none."""

    NAMED = "named"
    UNNAMED = "unnamed"
    UNKNOWN = "unknown"


def naming(call: Call, keyword: str, position: int | None) -> Naming:
    """Whether a call names its variables by the argument `keyword`."""
    value = call.value(keyword, position)
    if value is None:
        return Naming.UNKNOWN if call.has_stars else Naming.UNNAMED
    if isinstance(value, ast.Constant):
        return Naming.NAMED if value.value else Naming.UNNAMED
    if isinstance(value, ast.Name):
        return naming_of_parameter(call, value.id)
    return Naming.NAMED


def naming_of_parameter(site: Site, name: str) -> Naming:
    """Whether `name`, as a parameter of the function around the site, always says something."""
    function = site.function
    if function is None or name not in function.parameters or not defaults_to_none(function.body, name):
        return Naming.NAMED
    if any(assignment.path == name for assignment in function.assignments):
        return Naming.NAMED
    omitting, _, calls = site.file.project.callers_omitting_under(function.key, name, int(SHIMMED), int(Context.SCOPED))
    if not calls:
        return Naming.UNKNOWN
    return Naming.UNNAMED if omitting else Naming.NAMED


def is_called(call: Call) -> bool:
    """Whether the layer that a call constructs is itself called in the same function."""
    targets = set(call.assigned_to)
    return any(
        other.call.func is call.syntax or other.path in targets
        for other in call.file.calls_by_function.get(call.scope.function().id, [])
    )


def is_named_once(call: Call, text: str) -> bool:
    """Whether a name that a call is given is its own at each call of the method that has the shim.

    It stands in the method itself and in no loop, and nothing in there, or in what the method calls, makes the same or
    has that name.
    """
    function = call.function
    if function is None or call.loops or not isinstance(function.syntax, ast.FunctionDef):
        return False
    if not _SHIMS & {name.canonical for name in function.decorators}:
        return False
    for other in function.calls:
        if other is call:
            continue
        if call.name in FIRST_NAMES and FIRST_NAMES.get(other.name) == text:
            return False
        if any(isinstance(value, ast.Constant) and value.value == text for value in other.arguments):
            return False
        for entity in other.found:
            if entity.kind == "function":
                made = call.file.project.v1_calls(entity.key)
                if call.name in made or (call.name in FIRST_NAMES and text in map(FIRST_NAMES.get, made)):
                    return False
    return True


def named(node: libcst.Call, call: Call, parameter: str, position: int | None) -> Replacement | None:
    """A layer below the shim with the name that its first call made."""
    text = FIRST_NAMES.get(call.name)
    if text is None or call.has_stars or has_comment(*node.args):
        return None
    value, given = call.value(parameter, position), argument(node, parameter, position)
    if (value is not None and not is_none(value)) or not is_named_once(call, text):
        return None
    name = expression(f'"{text}"')
    if given is None:
        new = with_argument(node, parameter, name)
    else:
        new = node.with_changes(args=[one.with_changes(value=name) if one is given else one for one in node.args])
    reason = "each call now finds the variables of the first one, and a checkpoint knows them by these names"
    return Replacement(new, Applicability.UNSAFE, reason)


def how_reached(site: Site) -> str:
    """`` (reached by `Net.call` -> `block`)`` where a place is not in the forward method itself, else nothing."""
    trail = site.trail(Context.FORWARD)
    return f" (reached by {trail})" if " -> " in trail else ""
