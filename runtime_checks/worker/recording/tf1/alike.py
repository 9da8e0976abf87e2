"""What a TF1 graph reads off the batches alone, and finds to be the same everywhere: a mask where no row is padded."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from ...frames import UserCode
from ..format.rows import AlikeRow
from ..pairs.batches import Batch
from ..tensors import Array, Operation, Tensor, V1Session
from ..watching.alike import NO_VALUES, padded, row
from ..watching.operations import place_of, position
from .building import Network

__all__ = ["alike"]

_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")


def alike(network: Network, session: V1Session, batches: Sequence[Batch], code: UserCode) -> list[AlikeRow]:
    """The operations whose inputs differ within a batch, and whose output is one number in all batches.

    With padding it would be several. Only those count that depend on the batch and on no variable, and that outputs,
    losses or taps are computed from.

    Args:
        network: the graph.
        session: in which its variables have values.
        batches: that are compared.
        code: tells the user's files.
    """
    read = _read(network)
    fetched = {tensor.name: tensor for operation in read for tensor in [*operation.inputs, *operation.outputs]}
    numbers = [tensor for tensor in fetched.values() if _can(network, tensor)]
    single: dict[str, object] = {}
    changes: dict[str, bool] = {}
    for at, batch in enumerate(batches if numbers else ()):
        for tensor, value in zip(numbers, session.run(numbers, network.feeds(batch))):
            one = _single(value)
            if at == 0 or single.get(tensor.name) == one:
                single[tensor.name] = one
            else:
                single[tensor.name] = None
    if any(value is not None for value in single.values()):
        feeds = {tensor: padded(value) for tensor, value in network.feeds(batches[0]).items()}
        for tensor, value in zip(numbers, session.run(numbers, feeds)):
            changes[tensor.name] = _single(value) != single[tensor.name]
    found = []
    for operation in read:
        given = [single.get(tensor.name) for tensor in operation.inputs if tensor.op in read]
        for tensor in operation.outputs:
            value = single.get(tensor.name)
            if value is not None and changes[tensor.name] and operation.inputs and None in given:
                found.append(row(operation.type, place_of(operation, code), value))
    return found


def _read(network: Network) -> list[Operation]:
    """The operations that depend on the batch and on no variable, in the order of construction."""
    waiting = [value.tensor.op for value in network.values if hasattr(value.tensor, "op")]
    computed = set()
    while waiting:
        operation = waiting.pop()
        if operation not in computed:
            computed.add(operation)
            waiting += [] if operation.type in NO_VALUES else [tensor.op for tensor in operation.inputs]
    fed = {tensor.op for tensor in network.fed}
    driven, weighed = set(), set()
    for operation in sorted(computed, key=position):
        above = () if operation.type in NO_VALUES else [tensor.op for tensor in operation.inputs]
        if operation in fed or operation.type == "IteratorGetNext" or any(one in driven for one in above):
            driven.add(operation)
        if operation.type in _VARIABLES or any(one in weighed for one in above):
            weighed.add(operation)
    return [operation for operation in sorted(driven, key=position) if operation not in weighed]


def _can(network: Network, tensor: Tensor) -> bool:
    """Whether a session can compute it without a loop or a branch, and it is numbers."""
    dtype = tensor.dtype
    numbers = dtype.is_floating or dtype.is_integer or dtype.is_bool
    inside = tensor.op._get_control_flow_context() is not None
    return numbers and not dtype._is_ref_dtype and not inside and network.graph.is_fetchable(tensor.op)


def _single(value: Array) -> object:
    """The number that all elements are, where there are several; None where they differ."""
    flat = np.asarray(value).reshape(-1)
    return flat[0].item() if flat.size > 1 and np.all(flat == flat[0]) else None
