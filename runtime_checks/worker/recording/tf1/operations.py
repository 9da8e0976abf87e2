"""The operations of a TF1 graph between its inputs and its results: what each computes, from what, at which line."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from ...frames import UserCode
from ..format.store import Chapter
from ..tensors import Array, Json, Operation, Tensor
from ..values.sketch import FEW, Input, Sheet, packed, unpacked
from ..watching.operations import SAME, SHAPES, constant_of, place_of, position, settings
from .building import Network, Value
from .step import races

__all__ = ["Operations"]

_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
_READS = ("ReadVariableOp",)
_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
_SWITCHES = ("Switch", "RefSwitch")
_ENTERS = ("Enter", "RefEnter")
"""Of a loop's frame, which no session can fetch, though the graph allows it."""
_RESULTS = ("output", "loss", "tap")


class Operations:
    """What a session has to fetch so that the operations of a pass are known.

    Args:
        network: a graph, to which nodes are added.
        code: tells the user's files.
        within: what a training step depends on: operations that it would race with are left out; None of a forward
            pass.

    Attributes:
        values: to be fetched with those of the network; `record` takes what they came to.
    """

    def __init__(self, network: Network, code: UserCode, within: set[Operation] | None = None) -> None:
        self.values: list[Value] = []
        self._network = network
        self._code = code
        self._within = within
        self._sources: dict[str, tuple[Input, ...]] = {}
        self._data: set[str] = set()
        self._rows: list[tuple[int, Operation, Sequence[Input]]] = []
        self._results = [value for value in network.values if value.kind in _RESULTS and hasattr(value.tensor, "op")]
        tensors = [tensor for value in self._results for tensor in (value.tensor, *value.given)]
        for operation in sorted(_computed(tensors), key=position):
            self._meet(operation)

    def ids(self, tensors: Sequence[Tensor]) -> list[int]:
        """The identities of the operations that tensors come from."""
        known = [self._sources.get(getattr(tensor, "name", ""), ()) for tensor in tensors]
        return [source[0][1] for source in known if len(source) == 1 and source[0][0] == "row"]

    def record(self, chapter: Chapter, computed: Sequence[Array], step: int = 0) -> None:
        """Record what `values` came to."""
        sheet = Sheet()
        for (number, operation, inputs), vector in zip(self._rows, computed):
            shape, value = unpacked(vector)
            sheet.row(
                number, operation.type, place_of(operation, self._code), shape, value, inputs, _attributes(operation)
            )
        for result in self._results:
            for number in self.ids([result.tensor]):
                sheet.result(result.kind, result.name, number)
            sheet.wanted(self.ids(result.given))
        sheet.record(chapter, step)

    def _meet(self, operation: Operation) -> None:
        sources = [self._sources.get(tensor.name, (["unknown"],)) for tensor in operation.inputs]
        data = any(tensor.name in self._data for tensor in operation.inputs)
        for tensor in operation.outputs:
            self._sources[tensor.name], own = self._of(operation, tensor, sources, data)
            if own:
                self._data.add(tensor.name)

    def _of(
        self, operation: Operation, tensor: Tensor, sources: Sequence[Sequence[Input]], data: bool
    ) -> tuple[tuple[Input, ...], bool]:
        """What a tensor is made of, and whether it is more than a constant or a shape."""
        kind = operation.type
        if kind in _VARIABLES:
            return (["variable", operation.name],), True
        if kind == "Const":
            count = tensor.shape.num_elements()
            if count is not None and count <= FEW:
                return (_constant(tensor),), False
            return self._row(operation, tensor, [])
        if kind in SHAPES:
            return (["unknown"],), False
        if kind in _BRANCHES:
            sources = sources[1:]  # which branch is taken shows in what comes out
        elif kind in _SWITCHES:
            sources = sources[:1]
        inputs = [one for source in sources for one in source]
        if kind in _READS:
            return tuple(inputs[:1]) or (["unknown"],), data
        if kind in SAME and len(operation.outputs) == 1:
            made = operation.inputs[0].op
            if self._network.graph.is_fetchable(made) or made.type in _SWITCHES or not self._can(operation, tensor):
                return self._sources.get(operation.inputs[0].name, (["unknown"],)), data
            return self._row(made, tensor, inputs)  # a loop or a branch
        definition = operation.op_def
        data = data or (definition is not None and definition.is_stateful) or kind.startswith("Placeholder")
        if not data and not tensor.dtype.is_floating:
            return (["unknown"],), False
        return self._row(operation, tensor, inputs)

    def _can(self, operation: Operation, tensor: Tensor) -> bool:
        """Whether a session can compute it, and it is numbers."""
        dtype = tensor.dtype
        numbers = dtype.is_floating or dtype.is_integer or dtype.is_bool or dtype.is_complex
        if not numbers or dtype._is_ref_dtype or tensor.shape.num_elements() == 0:
            return False
        if operation.type in _ENTERS or not self._network.graph.is_fetchable(operation):
            return False
        return self._within is None or operation in self._within or not races(tensor, self._within)

    def _row(
        self, operation: Operation, tensor: Tensor, inputs: Sequence[Input]
    ) -> tuple[tuple[Input, ...], bool]:
        """Have a tensor fetched; what cannot be is known by what it is made of."""
        import tensorflow as tf

        if not self._can(tensor.op, tensor):
            return tuple(_once(inputs)) or (["unknown"],), True
        number = len(self._rows)
        self._rows.append((number, operation, inputs))
        with self._network.graph.as_default(), tf.control_dependencies(None), tf.device(None):
            vector = tf.numpy_function(packed, [tensor], tf.float64)
        self.values.append(Value("operation", str(number), vector, None, {}))
        return (["row", number],), True


def _computed(tensors: Sequence[Tensor]) -> set[Operation]:
    """The operations that tensors are computed from, without those that they only wait for."""
    found: set[Operation] = set()
    waiting = [tensor.op for tensor in tensors if hasattr(tensor, "op")]
    while waiting:
        operation = waiting.pop()
        if operation not in found:
            found.add(operation)
            waiting += [tensor.op for tensor in operation.inputs]
    return found


def _constant(tensor: Tensor) -> Input:
    value = constant_of(tensor)
    if value is None or value.dtype.kind not in "biuf":
        return ["unknown"]
    return ["constant", np.asarray(value).reshape(-1).tolist()]


def _once(inputs: Sequence[Input]) -> list[Input]:
    found: list[Input] = []
    for one in inputs:
        if one not in found and one[0] in ("row", "variable"):
            found.append(one)
    return found


def _attributes(operation: Operation) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, value in operation.node_def.attr.items():
        kind = value.WhichOneof("value")
        if kind in ("i", "f", "b", "s"):
            found[name] = getattr(value, kind)
        elif kind == "list" and value.list.i:
            found[name] = list(value.list.i)
    return settings(found)
