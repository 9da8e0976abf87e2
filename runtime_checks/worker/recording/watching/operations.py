"""What the operations of a TF1 graph tell: where they were made, what they depend on, which of them draw."""

from __future__ import annotations

import contextlib
from typing import Any, Iterable, Iterator

from ...frames import UserCode

__all__ = [
    "constant_of",
    "initial_value",
    "place_of",
    "position",
    "random_operations",
    "reseeded",
    "upstream",
]

_NOT_DRAWING = ("Dataset", "Iterator", "Queue", "Generator", "Candidate")
_READS = ("Identity", "ReadVariableOp", "Cast")


def position(operation: Any) -> int:
    """The number of an operation within its graph, in the order of construction."""
    return int(operation._id)


def place_of(operation: Any, code: UserCode) -> tuple[str, int] | None:
    """The innermost user frame that made an operation, as file and line; None where no user's code did."""
    for entry in reversed(list(operation.traceback or ())):
        found = code.origin(entry[0], entry[1])
        if found is not None:
            return found
    return None


def upstream(operations: Iterable[Any], stop: Any = None) -> set[Any]:
    """The operations and all that they depend on, also by control; those for which `stop` is true are not included."""
    found: set[Any] = set()
    waiting = list(operations)
    while waiting:
        operation = waiting.pop()
        if operation in found or (stop is not None and stop(operation)):
            continue
        found.add(operation)
        waiting += [tensor.op for tensor in operation.inputs]
        waiting += operation.control_inputs
    return found


def random_operations(graph: Any) -> list[Any]:
    """The operations that draw from a generator of their own, which their seeds set, in the order of construction."""
    drawing: dict[str, bool] = {}
    found = []
    for operation in graph.get_operations():
        kind = operation.type
        if kind not in drawing:
            definition = operation.op_def
            names = {attribute.name for attribute in definition.attr} if definition is not None else set()
            drawing[kind] = {"seed", "seed2"} <= names and not any(part in kind for part in _NOT_DRAWING)
        if drawing[kind]:
            found.append(operation)
    return found


def ledger_of(ledger: Any) -> list[dict[str, Any]]:
    """What a graph draws, as JSON data, with the seeds that its operations have now."""
    described = []
    for draw, said in zip(ledger.draws, ledger.described()):
        with contextlib.suppress(AttributeError, ValueError):  # no operation, or one without seeds
            said["seed"] = int(draw.operation.get_attr("seed2"))
        described.append(said)
    return described


@contextlib.contextmanager
def reseeded(graph: Any, seed: int, operation_seed: int) -> Iterator[None]:
    """Give every operation that draws the same two seeds, as `numbering.tool` does in its mode ``constant``.

    Sessions that begin in the body see them.
    """
    operations = random_operations(graph)
    before = [(one.get_attr("seed"), one.get_attr("seed2")) for one in operations]
    for operation in operations:
        _seed(operation, seed, operation_seed or (0 if seed else 2**31 - 1))
    try:
        yield
    finally:
        for operation, seeds in zip(operations, before):
            _seed(operation, *seeds)


def _seed(operation: Any, seed: int, operation_seed: int) -> None:
    from tensorflow.core.framework import attr_value_pb2

    operation._set_attr("seed", attr_value_pb2.AttrValue(i=int(seed)))
    operation._set_attr("seed2", attr_value_pb2.AttrValue(i=int(operation_seed)))


def initial_value(variable: Any) -> str | None:
    """How a variable gets its initial value, in words: what draws it with its range, or the constant.

    None where it is neither, such as another variable's value.
    """
    assigned = list(variable.initializer.inputs)
    if len(assigned) < 2:
        return None
    return _described(assigned[1].op)


def _described(operation: Any) -> str | None:
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


def constant_of(tensor: Any) -> Any:
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


def _constant(operation: Any) -> str:
    value = constant_of(operation.outputs[0])
    if value is None:
        return "?"
    flat = value.reshape(-1)
    if not flat.size or (flat != flat[0]).any():
        return f"of shape {list(value.shape)}"
    return str(flat[0])
