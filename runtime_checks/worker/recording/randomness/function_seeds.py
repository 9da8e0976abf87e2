"""The seeds of random operations in the bodies of a TF1 graph's functions, as control flow v2 makes them."""

from __future__ import annotations

from ..tensors import Graph, Operation, Protobuf

__all__ = ["PARALLEL", "FunctionSeeds", "draws", "has_functions", "number_of", "seeds"]

PARALLEL = "parallel_iterations"
"""The setting of a loop that says how many of its turns may run side by side."""

_MAXIMUM = 2**31 - 1
_BRANCHING = ("If", "StatelessIf", "Case", "StatelessCase")


_kinds: dict[str, tuple[bool, tuple[str, ...]]] = {}


def draws(operation: Operation) -> bool:
    """Whether an operation of a graph is a stateful random one, with a pair of seeds."""
    return _kind(operation)[0]


def has_functions(operation: Operation) -> bool:
    """Whether an operation of a graph calls functions: conditions, loops, calls."""
    return bool(_kind(operation)[1])


def _kind(operation: Operation) -> tuple[bool, tuple[str, ...]]:
    found = _kinds.get(operation.type)
    if found is None:
        definition = operation.op_def
        attributes = () if definition is None else definition.attr
        seeds = sum(attribute.name in ("seed", "seed2") for attribute in attributes)
        functions = tuple(attribute.name for attribute in attributes if attribute.type in ("func", "list(func)"))
        found = _kinds[operation.type] = definition is not None and definition.is_stateful and seeds == 2, functions
    return found


def seeds(seed: int, number: int) -> tuple[int, int]:
    """Kernels take two zeros for no seed at all; TensorFlow replaces the second one by this as well."""
    return (0, _MAXIMUM) if seed == number == 0 else (seed, number)


def number_of(seed: int) -> int:
    """The number of an operation, by the second of its `seeds`."""
    return 0 if seed == _MAXIMUM else seed


class FunctionSeeds:
    """Numbers what the functions of a graph draw.

    A function cannot be changed once it is in a graph, so a changed copy is added, and the operation gets that one.
    All branches of a condition begin with the same number, as only one of them will run.

    Args:
        graph: of TF1.
        seed: of the graph.
    """

    def __init__(self, graph: Graph, seed: int) -> None:
        self._graph = graph
        self._seed = seed
        self._library: dict[str, Protobuf] | None = None
        self._copies = 0
        self.numbered: list[tuple[str, int]] = []
        """The names of the random operations within their functions, and their numbers."""

    def number(self, operation: Operation, first: int) -> int:
        """Number what an operation's functions draw, from `first`; gives back the next number."""
        end = start = first
        for attribute in _kind(operation)[1]:
            value = operation.node_def.attr[attribute]
            reached = self._number_attribute(value, start, operation.type in _BRANCHING)
            if reached > start:
                operation._set_attr(attribute, value)
            end = max(end, reached)
            start = first if operation.type in _BRANCHING else end
        return end

    def _number_attribute(self, value: Protobuf, first: int, branching: bool) -> int:
        """As `number`, for an attribute, which then names the copies."""
        named = list(value.list.func) or ([value.func] if value.func.name else [])
        end = start = first
        for function in named:
            copy, reached = self._copied(function.name, start)
            function.name = copy
            end = max(end, reached)
            start = first if branching else end
        return end

    def _copied(self, name: str, first: int) -> tuple[str, int]:
        """The name of a copy in which draws are numbered, and the next number; of one that draws nothing, itself."""
        original = self._definitions().get(name)
        if original is None:
            return name, first
        copy = type(original)()
        copy.CopyFrom(original)
        number = first
        for node in copy.node_def:
            if "seed" in node.attr and "seed2" in node.attr:
                node.attr["seed"].i, node.attr["seed2"].i = seeds(self._seed, number)
                self.numbered.append((node.name, number))
                number += 1
                continue
            if PARALLEL in node.attr:
                node.attr[PARALLEL].i = 1
            start = number
            for attribute in sorted(node.attr):
                if node.attr[attribute].WhichOneof("value") in ("func", "list"):
                    reached = self._number_attribute(node.attr[attribute], start, node.op in _BRANCHING)
                    number = max(number, reached)
                    start = start if node.op in _BRANCHING else number
        if number == first:
            return name, first
        self._copies += 1
        copy.signature.name = f"{name}_numbered_{self._copies}"
        self._add(copy)
        return copy.signature.name, number

    def _definitions(self) -> dict[str, Protobuf]:
        if self._library is None:
            functions = self._graph.as_graph_def().library.function
            self._library = {function.signature.name: function for function in functions}
        return self._library

    def _add(self, definition: Protobuf) -> None:
        from tensorflow.python.client import pywrap_tf_session

        function = pywrap_tf_session.TF_FunctionImportFunctionDef(definition.SerializeToString())
        with self._graph._c_graph.get() as graph:
            pywrap_tf_session.TF_GraphCopyFunction(graph, function, None)
        self._definitions()[definition.signature.name] = definition
