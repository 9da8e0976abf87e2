"""The seeds of the random operations in a TF1 graph, set anew once it is built; sessions that begin then see them."""

from __future__ import annotations

import contextlib
import itertools
from types import MappingProxyType
from typing import Collection, Iterable, Iterator, Mapping, Sequence

from ..format.rows import DrawRow
from ..tensors import Graph, Operation
from .function_seeds import PARALLEL, FunctionSeeds, draws, has_functions, seeds
from .ledger import Ledger

__all__ = ["initial_ops", "ledger_of", "number_step_ops", "numbered", "random_operations", "reseeded"]

_LOOPING = ("Enter", "RefEnter", "While", "StatelessWhile")
_NOT_DRAWING = ("Dataset", "Iterator", "Queue", "Generator", "Candidate")


def number_step_ops(graph: Graph, seed: int = 42) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Give the random operations of a TF1 graph that are for no initial value the seeds 0, 1, 2 ... in their order.

    Its loops take one turn after the other from then on, so that what they draw is the same each time. To be called
    before a session has run any of them, and when the graph is complete. What a branch or the body of a loop draws is
    numbered where the condition or the loop stands; in TF 1.15 only with control flow v1, its default.

    Returns:
        The names of the operations and their numbers; and the same of those in functions, by their names within these,
        which operations of the graph may have as well.
    """
    from tensorflow.core.framework import attr_value_pb2

    initial = {operation.name for operation in initial_ops(graph)}
    functions = FunctionSeeds(graph, seed)
    numbered: list[tuple[str, int]] = []
    count = 0
    for operation in graph.get_operations():
        if operation.type in _LOOPING:
            operation._set_attr(PARALLEL, attr_value_pb2.AttrValue(i=1))
        if operation.name in initial:
            continue
        if draws(operation):
            _give([operation], [seeds(seed, count)])
            numbered.append((operation.name, count))
            count += 1
        elif has_functions(operation) and hasattr(graph._c_graph, "get"):
            count = functions.number(operation, count)
    return numbered, functions.numbered


@contextlib.contextmanager
def numbered(graph: Graph, seed: int = 42, first: int = 0) -> Iterator[None]:
    """The same in the body, from a first number on; what functions draw keeps its seeds."""
    drawing = [operation for operation in graph.get_operations() if draws(operation)]
    initial = {operation.name for operation in initial_ops(graph)} if drawing else set()
    drawing = [operation for operation in drawing if operation.name not in initial]
    with _seeded(drawing, (seeds(seed, number) for number in itertools.count(first))):
        yield


@contextlib.contextmanager
def reseeded(graph: Graph, seed: int) -> Iterator[None]:
    """Give every operation that draws the same seeds in the body, as `numbering.tool` does in mode ``constant``."""
    with _seeded(random_operations(graph), itertools.repeat(seeds(seed, 0))):
        yield


@contextlib.contextmanager
def _seeded(operations: Sequence[Operation], pairs: Iterable[tuple[int, int]]) -> Iterator[None]:
    before = [(operation.get_attr("seed"), operation.get_attr("seed2")) for operation in operations]
    _give(operations, pairs)
    try:
        yield
    finally:
        _give(operations, before)


def _give(operations: Iterable[Operation], pairs: Iterable[tuple[int, int]]) -> None:
    from tensorflow.core.framework import attr_value_pb2

    for operation, pair in zip(operations, pairs):
        for name, value in zip(("seed", "seed2"), pair):
            operation._set_attr(name, attr_value_pb2.AttrValue(i=value))


def initial_ops(graph: Graph) -> list[Operation]:
    """The random operations of a TF1 graph that initial values of variables are computed from."""
    waiting = [
        variable.initializer
        for name in graph.get_all_collection_keys()
        for variable in graph.get_collection(name)
        if hasattr(variable, "initializer") and hasattr(variable.initializer, "inputs")
    ]
    seen = set()
    found = [
        operation for operation in graph.get_operations() if "/Initializer/" in operation.name and draws(operation)
    ]
    known = {operation.name for operation in found}
    while waiting:
        operation = waiting.pop()
        if operation.name in seen:
            continue
        seen.add(operation.name)
        if operation.name not in known and draws(operation):
            found.append(operation)
        waiting += [tensor.op for tensor in operation.inputs]
    return found


def random_operations(graph: Graph) -> list[Operation]:
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


def ledger_of(
    ledger: Ledger, idle: Collection[Operation] = (), turns: Mapping[Operation, Sequence[int]] = MappingProxyType({})
) -> list[DrawRow]:
    """What a graph draws, as JSON data, with the seeds that its operations have now.

    Args:
        ledger: of the graph.
        idle: the operations on which nothing depends.
        turns: how many turns their loops take in each step, where that is known.
    """
    described = []
    for draw, said in zip(ledger.draws, ledger.described()):
        with contextlib.suppress(AttributeError, ValueError):  # no operation, or one without seeds
            said["seed"] = int(draw.operation.get_attr("seed2")) if draw.number is None else draw.number
        if draw.operation in idle:
            said["idle"] = True
        if draw.operation in turns:
            said["turns"] = list(turns[draw.operation])
        described.append(said)
    return described
