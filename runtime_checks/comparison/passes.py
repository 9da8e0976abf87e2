"""The operations of one pass of a side, as it recorded them: what each computed, of what, at which line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..worker.recording.format.reading import Record
from ..worker.recording.format.rows import Place
from ..worker.recording.pairs.mapping import plain
from ..worker.recording.values.sketch import MOMENTS, sampled

__all__ = ["Node", "Pass", "Share"]

_LEAVES = ("input", "Const", "IteratorGetNext", "IteratorV2")
_PASSING = ("Identity", "Reshape", "Squeeze", "ExpandDims", "StopGradient", "Cast")
"""Of a number they make the same number."""
_ALIKE = (
    ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "SparseTensorDenseMatMul"),
    ("Add", "AddV2", "BiasAdd", "BiasAddV1", "AddN"),
    ("RealDiv", "Div", "DivNoNan", "TruncateDiv"),
    ("Gather", "GatherV2", "ResourceGather", "GatherNd", "ResourceGatherNd"),
    ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
    ("Select", "SelectV2", "Where"),
    ("Concat", "ConcatV2"),
    ("Tile", "BroadcastTo"),
    ("Pow", "Square"),
    ("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2"),
    ("RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2"),
)
"""Types that compute the same, in other versions or forms."""
_CLASSES = {op: alike[0] for alike in _ALIKE for op in alike}


@dataclass(frozen=True)
class Node:
    """An operation of a pass; ``made`` is where the layer was made that computes it, if that is another line."""

    number: int
    op: str
    place: Place | None
    shape: tuple[int, ...]
    inputs: tuple[tuple[str, Any], ...]
    attributes: Mapping[str, Any]
    moments: Any
    sample: Any
    made: Place | None = None

    @property
    def parents(self) -> tuple[int, ...]:
        """The numbers of the operations that it takes."""
        return tuple(value for kind, value in self.inputs if kind == "row")

    @property
    def variables(self) -> set[str]:
        """The names of the variables that it reads itself."""
        return {plain(str(value)) for kind, value in self.inputs if kind == "variable" and value}

    @property
    def kind(self) -> str:
        """Its type, the same for types that compute the same."""
        return _CLASSES.get(self.op, self.op)

    @property
    def is_leaf(self) -> bool:
        """Whether it is what the pass is given, which is compared elsewhere."""
        return not self.parents and (self.op in _LEAVES or self.op.startswith("Placeholder"))

    @property
    def is_setting(self) -> bool:
        """Whether the pass is given the same number throughout, as a rate of dropout is, or zeros to pad with."""
        return self.is_leaf and bool(np.all(self.sample == self.sample[:1]))

    @cached_property
    def scale(self) -> float:
        """The size of its typical values: a few enormous ones, as masks add them, hide nothing."""
        size = np.abs(self.sample[np.isfinite(self.sample) & (self.sample != 0)]).astype(np.float64)
        return float(min(np.max(size), 10.0 * np.quantile(size, 0.1))) if size.size else 0.0

    @cached_property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers, as indices and masks are, which many values come to."""
        return bool(np.all(self.sample == np.round(self.sample)))

    @cached_property
    def is_dull(self) -> bool:
        """Whether its values are such as many operations give: all the same, or a whole number."""
        if self.sample.size == 1:
            return float(self.sample[0]).is_integer()
        return bool(self.sample.size == 0 or np.all(self.sample == self.sample[0]))


@dataclass(frozen=True, slots=True)
class Share:
    """What depends on variables alone and is added to a loss, as what regularizes is.

    ``value`` is what it adds, ``place`` the line of the first operation on a variable, ``variables`` are their names.
    """

    value: float
    place: Place | None
    variables: frozenset[str]


class Pass:
    """The operations of one side's pass, by number and in the order of execution."""

    def __init__(self, record: Record, values: Any) -> None:
        nodes = {int(row["id"]): _node(row, values) for row in record.more.get("operations") or ()}
        self.nodes = _without_merges(nodes)
        self.results = {(kind, name): int(number) for kind, name, number in record.more.get("results") or ()}
        self.order = {number: at for at, number in enumerate(self.nodes)}
        self.driven = self._driven()
        self.learned = self._made_of(lambda node: node.variables)
        """The operations that depend on variables."""

    def take_for_constants(self, numbers: Iterable[int]) -> None:
        """What depends on these alone is no longer driven: what is given, and no more than a setting."""
        self.driven = self._driven(frozenset(numbers))

    def _driven(self, settings: frozenset[int] = frozenset()) -> set[int]:
        """The operations that depend on more than variables, constants and settings."""
        return self._made_of(lambda node: not (node.parents or node.variables) and node.number not in settings)

    def _made_of(self, begins: Callable[[Node], object]) -> set[int]:
        """The operations for which it is true, and all that depends on them."""
        found: set[int] = set()
        for number, node in self.nodes.items():
            if begins(node) or any(parent in found for parent in node.parents):
                found.add(number)
        return found

    def region(self, roots: Iterable[int], counterparts: Mapping[int, Any]) -> list[Node]:
        """What leads to the roots and has no counterpart, in the order of execution."""
        found: set[int] = set()
        waiting = [root for root in roots if root in self.nodes]
        while waiting:
            number = waiting.pop()
            if number not in found and not counterparts.get(number) and not self.nodes[number].is_leaf:
                found.add(number)
                waiting += [parent for parent in self.nodes[number].parents if parent in self.nodes]
        return [self.nodes[number] for number in sorted(found, key=self.order.__getitem__)]

    def of_variables(self, kind: str, name: str) -> Share | None:
        """What of a sum depends on variables alone; None where that cannot be told, as of a loss for each example."""
        number = self.results.get((kind, name), -1)
        if number not in self.nodes or self.nodes[number].sample.size != 1:
            return None
        total, terms = 0.0, set()
        waiting = [(number, 1.0)]
        while waiting:
            at, factor = waiting.pop()
            node = self.nodes.get(at)
            if node is None:
                continue
            if at not in self.driven:
                if node.sample.size != 1:
                    return None
                total += factor * float(node.sample[0])
                terms.add(at)
            else:
                waiting += [(parent, factor * times) for parent, times in self._terms(node)]
        made = [self.nodes[one] for one in self.behind(terms)]
        first = next((node.place for node in made if node.variables), None)
        return Share(total, first, frozenset(name for node in made for name in node.variables))

    def _terms(self, node: Node) -> list[tuple[int, float]]:
        """The operations that a number is a sum of, each with its factor; none where it is no such sum."""
        if node.kind == "Add" or (node.op in _PASSING and len(node.parents) == 1):
            return [(parent, 1.0) for parent in node.parents]
        signs = {"Neg": (-1.0,), "Sub": (1.0, -1.0)}.get(node.op)
        if signs is not None:
            return [(value, sign) for (kind, value), sign in zip(node.inputs, signs, strict=False) if kind == "row"]
        if node.op in ("Sum", "Mean"):
            return self._summed(node)
        constants = [np.asarray(value, np.float64) for kind, value in node.inputs if kind == "constant"]
        if node.kind in ("Mul", "RealDiv") and len(node.parents) == len(constants) == 1 and constants[0].size == 1:
            factor = float(constants[0].reshape(()))
            if node.kind == "Mul":
                return [(node.parents[0], factor)]
            if factor and node.inputs[0][0] == "row":
                return [(node.parents[0], 1.0 / factor)]
        return []

    def _summed(self, node: Node) -> list[tuple[int, float]]:
        """The numbers that were put side by side to be summed up, or averaged."""
        one = self.nodes.get(node.parents[0]) if node.parents else None
        if one is None or one.sample.size == 1:
            return [] if one is None else [(one.number, 1.0)]
        parts = [self.nodes[parent] for parent in one.parents if parent in self.nodes]
        if (one.op != "Pack" and one.kind != "Concat") or any(part.sample.size != 1 for part in parts):
            return []
        return [(part.number, 1.0 if node.op == "Sum" else 1.0 / one.shape[0]) for part in parts]

    def behind(self, numbers: Iterable[int]) -> list[int]:
        """These operations and all that they are made of, in the order of execution."""
        found: set[int] = set()
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number in self.nodes and number not in found:
                found.add(number)
                waiting += self.nodes[number].parents
        return sorted(found, key=self.order.__getitem__)


def _without_merges(nodes: Mapping[int, Node]) -> dict[int, Node]:
    """What takes a merge of branches takes the one instead that has its value, which the session went through."""
    found: dict[int, Node] = {}
    taken: dict[int, tuple[str, Any]] = {}
    for number, node in nodes.items():
        inputs = tuple(taken.get(one[1], one) if one[0] == "row" else one for one in node.inputs)
        if node.op == "Merge":
            kept = tuple(one for one in inputs if one[0] != "row" or _has_value(found.get(one[1]), node))
            if len(set(kept)) == 1 and kept[0][0] in ("row", "variable"):
                taken[number] = kept[0]
            inputs = kept or inputs
        found[number] = replace(node, inputs=inputs)
    return found


def _has_value(one: Node | None, merged: Node) -> bool:
    return one is not None and one.shape == merged.shape and one.sample.tobytes() == merged.sample.tobytes()


def _node(row: Mapping[str, Any], values: Any) -> Node:
    shape = tuple(int(size) for size in row["shape"])
    begin = int(row["at"]) + MOMENTS
    length = len(range(math.prod(shape))[sampled(math.prod(shape))])
    place, made = (None if row.get(key) is None else (str(row[key][0]), int(row[key][1])) for key in ("place", "made"))
    return Node(
        int(row["id"]),
        str(row["op"]),
        place,
        shape,
        tuple((str(one[0]), one[1] if len(one) > 1 else None) for one in row["inputs"]),
        row["attributes"],
        values[begin - MOMENTS : begin],
        values[begin : begin + length],
        made,
    )
