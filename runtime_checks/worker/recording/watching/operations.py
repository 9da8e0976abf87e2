"""What the operations of a TF1 graph tell: where they were made, what they depend on, what they always give."""

from __future__ import annotations

from typing import Callable, Iterable, Mapping

from ...frames import UserCode
from ..tensors import Array, Graph, Json, Operation, Tensor, Variable

__all__ = [
    "SAME", "SHAPES", "averages", "constant_of", "initial_value", "place_of", "position", "settings", "upstream"
]

SAME = (
    "Identity", "StopGradient", "PreventGradient", "CheckNumerics", "EnsureShape", "Snapshot", "PlaceholderWithDefault",
    "Enter", "RefEnter"
)
"""Operations whose output is their first input."""
SHAPES = ("Shape", "ShapeN", "Size", "Rank", "BroadcastGradientArgs")
"""Operations that see no values."""
_READS = ("Identity", "ReadVariableOp", "Cast")
_SUBTRACTS = ("AssignSub", "AssignSubVariableOp")
_WITHIN = ("Mul", "Sub", "Squeeze", "Reshape", *_READS)
_FAR = 12
_IDLE = (
    "dtype", "out_type", "index_type", "seed", "seed2", "container", "shared_name", "grad_a", "grad_b",
    "use_cudnn_on_gpu", "validate_indices", "allowed_devices", "debug_name", "parallel_iterations"
)
"""Settings of operations that change no value, or are aligned elsewhere."""


def position(operation: Operation) -> int:
    """The number of an operation within its graph, in the order of construction."""
    return int(operation._id)


def place_of(operation: Operation, code: UserCode) -> tuple[str, int] | None:
    """The innermost user frame that made an operation, as file and line; None where no user's code did."""
    for entry in reversed(list(operation.traceback or ())):
        found = code.origin(entry[0], entry[1])
        if found is not None:
            return found
    return None


def upstream(
    operations: Iterable[Operation], stop: Callable[[Operation], bool] | None = None, control: bool = True
) -> set[Operation]:
    """The operations and all that they depend on, by control as well unless that is false.

    Those for which `stop` is true are not included.
    """
    found: set[Operation] = set()
    waiting = list(operations)
    while waiting:
        operation = waiting.pop()
        if operation in found or (stop is not None and stop(operation)):
            continue
        found.add(operation)
        waiting += [tensor.op for tensor in operation.inputs]
        waiting += operation.control_inputs if control else []
    return found


def initial_value(variable: Variable) -> str | None:
    """How a variable gets its initial value, in words: what draws it with its range, or the constant.

    None where it is neither, such as another variable's value.
    """
    assigned = list(variable.initializer.inputs)
    if len(assigned) < 2:
        return None
    return _described(assigned[1].op)


def _described(operation: Operation) -> str | None:
    for _ in range(8):
        kind = operation.type
        if kind in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal") or kind.startswith("Stateless"):
            return str(kind)
        if kind == "Const":
            return f"Const {_constant(operation)}"
        if kind in ("Fill", "ZerosLike", "OnesLike"):
            return f"Fill {_constant(operation.inputs[1].op)}" if kind == "Fill" else str(kind)
        inputs = [tensor.op for tensor in operation.inputs]
        drawing = [one for one in inputs if one.type not in ("Const", "Sub")]
        if kind not in ("Add", "AddV2", "Mul", *_READS) or not drawing:
            return str(kind)
        operation = drawing[0]
    return None


def constant_of(tensor: Tensor) -> Array:
    """The array that a tensor always is, None if it is computed.

    ``tf.get_static_value`` would keep the tensor from ever being fed, and so the variable from being assigned.
    """
    operation = tensor.op
    while operation.type in ("Identity", "Cast") and operation.inputs:
        operation = operation.inputs[0].op
    if operation.type != "Const":
        return None
    from tensorflow.python.framework import tensor_util

    return tensor_util.MakeNdarray(operation.get_attr("value"))


def averages(graph: Graph) -> dict[str, float]:
    """The decay of each variable that follows an average, by name: ``v -= (v - value) * (1 - decay)``."""
    found: dict[str, float] = {}
    for operation in graph.get_operations():
        if operation.type in _SUBTRACTS:
            share = _share(operation.inputs[1].op)
            if share is not None:
                found[str(operation.inputs[0].op.name)] = round(1.0 - share, 7)
    return found


def _share(operation: Operation) -> float | None:
    """What a difference is multiplied with, a constant between 0 and 1."""
    waiting = [operation]
    for _ in range(_FAR):
        if not waiting:
            return None
        operation = waiting.pop(0)
        if operation.type == "Mul":
            for tensor in operation.inputs:
                value = _number(tensor)
                if value is not None and 0.0 < value < 1.0:
                    return value
        if operation.type in _WITHIN:
            waiting += [tensor.op for tensor in operation.inputs]
    return None


def _number(tensor: Tensor) -> float | None:
    """A scalar that is always the same, also where it is the difference of two."""
    value = constant_of(tensor)
    if value is not None:
        return float(value) if value.shape == () and value.dtype.kind == "f" else None
    if tensor.op.type != "Sub":
        return None
    one, other = map(_number, tensor.op.inputs)
    return None if one is None or other is None else one - other


def settings(attributes: Mapping[str, Json]) -> dict[str, Json]:
    """The attributes of an operation that change what it computes, as JSON data; those of types are left out."""
    found: dict[str, Json] = {}
    for name, value in attributes.items():
        if name in _IDLE or name[:1] == "_" or name[:1].isupper():
            continue
        if isinstance(value, bytes):
            found[name] = value.decode("utf-8", "replace")
        elif isinstance(value, (bool, int, float, str)):
            found[name] = value
        elif isinstance(value, (list, tuple)) and all(isinstance(one, int) for one in value):
            found[name] = list(value)
    return found


def _constant(operation: Operation) -> str:
    value = constant_of(operation.outputs[0])
    if value is None:
        return "?"
    flat = value.reshape(-1)
    if not flat.size or (flat != flat[0]).any():
        return f"of shape {list(value.shape)}"
    return str(flat[0])
