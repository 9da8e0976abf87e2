"""The operation with which two passes part: its inputs agree, its output does not, on both sides.

No names are needed. An operation of TF1 has a counterpart where one of TF2 computes the same values, whatever it is.
From a result that differs the way leads back over operations without one; where it ends, at operations all of whose
inputs have one, the passes part. Sides that take a sum apart in other ways have steps between that lack counterparts,
and come together again: what agrees further on ends the way there. Where a difference comes to nothing on some way,
as one large negative number in place of another behind a softmax does, passes are said to part there only where they
part nowhere else.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.pairs.mapping import plain
from .climb import Climb
from .judging.measuring import largest
from .passes import Node, Pass
from .results import Deviation, OperationPair, OperationSide, Rung, Status
from .wording import figure, some

__all__ = ["Operations"]

_TOLERANCE = 5e-6
"""Relative to the tensor's typical values: what equal operations of two TensorFlows may be apart."""
_LEAST = 1e-7
_REGROUPED = ("Reshape", "ExpandDims", "Squeeze")
_LAYOUT = (*_REGROUPED, "Transpose")
"""Operations that change nothing but shapes: they have a counterpart only of the same shape."""
_ALSO = {
    scenarios.CONSTANT: scenarios.FINGERPRINT,
    scenarios.FINGERPRINT: scenarios.FINGERPRINT,
    scenarios.INFERENCE: scenarios.FINGERPRINT,
    scenarios.INFERENCE_COPIED: scenarios.FINGERPRINT,
    scenarios.TRAINING: scenarios.ALIGNED,
    scenarios.ALIGNED: scenarios.ALIGNED,
    scenarios.STEPS: scenarios.STEPS,
}
"""Where operations were recorded that show what differs in a scenario."""
_KINDS = ("output", "loss", "tap")


class Operations:
    """Finds operations where values are known to differ."""

    def __init__(self, climb: Climb) -> None:
        self._climb = climb
        self._pairings: dict[tuple[str, int], _Pairing | None] = {}

    def marked(self, rungs: Sequence[Rung]) -> tuple[Rung, ...]:
        """The rungs, with each layer that differs told whether its inputs do already."""
        return tuple(
            replace(rung, checks=tuple(self._marked(check) for check in rung.checks))
            if rung.status is Status.FAIL
            else rung
            for rung in rungs
        )

    def _marked(self, check: Deviation) -> Deviation:
        if check.kind != "tap" or check.passed or not (check.tf1_name and check.tf2_name):
            return check
        pairing = self._pairing(check.scenario, check.step)
        ones, others = self._climb.indexes(check.scenario)
        one, other = ones.find("tap", check.tf1_name, check.step), others.find("tap", check.tf2_name, check.step)
        if pairing is None or one is None or other is None:
            return check
        given = [tuple(record.more.get("inputs") or ()) for record in (one, other)]
        if not given[0] or not given[1]:
            return check
        same = all(any(second in pairing.to_tf2.get(first, ()) for second in given[1]) for first in given[0])
        return replace(check, inputs="agree" if same else "differ")

    def first(self, rung: Rung, failed: Deviation) -> OperationPair | None:
        """The operation with which the passes part in which a value differs; None where that cannot be told."""
        scenario = _ALSO.get(failed.scenario)
        if scenario is None or failed.kind not in _KINDS:
            return None
        step = failed.step if scenario == scenarios.STEPS else 0
        differing = self._differing(scenario, step, rung)
        pairing = self._pairing(scenario, step, tuple(differing)) if differing else None
        return None if pairing is None else pairing.parting(scenario, differing)

    def _differing(self, scenario: str, step: int, rung: Rung) -> list[Deviation]:
        """What counts and differs in the scenario whose operations are known."""
        checks: Sequence[Deviation] = rung.checks
        if not any(check.scenario == scenario for check in checks):
            checks = self._climb.forward(scenario)
        return [
            check
            for check in checks
            if (check.scenario, check.step) == (scenario, step)
            and check.kind in _KINDS
            and check.counts
            and not check.passed
        ]

    def _pairing(self, scenario: str, step: int, differing: Sequence[Deviation] = ()) -> _Pairing | None:
        key = (scenario, step)
        if key not in self._pairings or differing:
            records = [index.find("operation", "all", step) for index in self._climb.indexes(scenario)]
            one, other = records
            if one is None or other is None:
                return self._pairings.setdefault(key, None)
            values = self._climb.judge.values
            passes = Pass(one, values.of(one)), Pass(other, values.of(other))
            self._pairings[key] = _Pairing(*passes, self._climb, self._tolerance(differing))
        return self._pairings[key]

    def _tolerance(self, differing: Sequence[Deviation]) -> float:
        """Three times the noise of what differs, and less than the difference."""
        tolerance = _TOLERANCE
        for check in differing:
            index, _ = self._climb.indexes(check.scenario)
            record = index.find(check.kind, check.tf1_name, check.step)
            size = largest(self._climb.judge.values.of(record)) if record is not None and record.kept else 0.0
            if size and check.floor is not None:
                tolerance = max(tolerance, 3.0 * check.floor / size)
            if size and math.isfinite(check.error):
                tolerance = min(tolerance, max(_LEAST, check.error / size / 2.0))
        return tolerance


class _Pairing:
    """Which operations of two passes compute the same values."""

    def __init__(self, tf1: Pass, tf2: Pass, climb: Climb, tolerance: float) -> None:
        self._tf1 = tf1
        self._tf2 = tf2
        self._names = climb.judge.names
        self._tolerance = tolerance
        self._through: tuple[str, ...] = _REGROUPED
        self.to_tf2 = self._counterparts()
        self.to_tf1: dict[int, list[int]] = {}
        for one, others in self.to_tf2.items():
            for other in others:
                self.to_tf1.setdefault(other, []).append(one)
        for run, counterparts in ((self._tf1, self.to_tf2), (self._tf2, self.to_tf1)):
            run.take_for_constants(
                number for number, node in run.nodes.items() if node.is_setting and not counterparts.get(number)
            )

    def _counterparts(self) -> dict[int, list[int]]:
        by_size: dict[int, list[Node]] = {}
        for node in self._tf2.nodes.values():
            by_size.setdefault(math.prod(node.shape), []).append(node)
        found = {}
        for number, node in self._tf1.nodes.items():
            candidates = by_size.get(math.prod(node.shape), [])
            others = [other.number for other in candidates if self._same(node, other)]
            if others:
                found[number] = others
        return found

    def _same(self, one: Node, other: Node) -> bool:
        """Whether both compute the same values: in the same order, or with their axes in another one."""
        layout = one.op in _LAYOUT or other.op in _LAYOUT
        if (one.is_dull or other.is_dull) and (one.kind != other.kind or one.shape != other.shape):
            return False
        if layout and one.shape != other.shape:
            return False
        if self._near(one.sample, other.sample, max(one.scale, other.scale)):
            return self._near(one.moments, other.moments, max(one.scale, other.scale), 4.0)
        if layout or one.shape == other.shape or sorted(one.shape) != sorted(other.shape) or one.is_dull:
            return False
        if not self._near(one.moments, other.moments, max(one.scale, other.scale), 4.0):
            return False
        self._through = _LAYOUT  # the sides keep their axes in another order
        return True

    def _near(self, one: Any, other: Any, scale: float, times: float = 1.0) -> bool:
        with np.errstate(all="ignore"):
            first, second = one.astype(np.float64), other.astype(np.float64)
            allowed = times * self._tolerance * np.maximum(np.abs(first), scale)
            apart = np.abs(first - second)
            same = (first == second) | (np.isnan(first) & np.isnan(second)) | (apart <= allowed)
        return bool(np.all(same))

    # Where they part

    def parting(self, scenario: str, differing: Sequence[Deviation]) -> OperationPair | None:
        """The operation with which the ways to results that differ begin to."""
        ends = [
            (self._tf1.results.get((check.kind, check.tf1_name)), self._tf2.results.get((check.kind, check.tf2_name)))
            for check in differing
        ]
        known = [(one, other) for one, other in ends if one is not None and other is not None]
        ones = self._tf1.region([one for one, _ in known], self.to_tf2)
        others = self._tf2.region([other for _, other in known], self.to_tf1)
        lasting = self._lasting(self._tf1, ones, self.to_tf2), self._lasting(self._tf2, others, self.to_tf1)
        found = self._first(*lasting) or self._first(ones, others)
        if found is None:
            return None
        one, other = self._given_way(*self._idle(*found))
        step = differing[0].step
        error = float("nan")
        if one is not None and other is not None and one.sample.shape == other.sample.shape:
            with np.errstate(all="ignore"):
                error = float(np.max(np.abs(one.sample.astype(np.float64) - other.sample), initial=0.0))
        return OperationPair(
            scenario=scenario,
            step=step,
            tf1=None if one is None else self._side(self._tf1, one),
            tf2=None if other is None else self._side(self._tf2, other),
            agree=tuple(self._agreeing(one, other)),
            differences=tuple(self._differences(one, other, ones, others)),
            error=error,
        )

    def _first(self, ones: Sequence[Node], others: Sequence[Node]) -> tuple[Node | None, Node | None] | None:
        return self._of_one_kind(ones, others) or self._of_other_kinds(ones, others)

    def _lasting(self, run: Pass, region: Sequence[Node], counterparts: Mapping[int, Any]) -> list[Node]:
        """Those of what leads to the roots whose difference reaches them on every way: nothing made of it agrees.

        Nor what is made of the same value where that is computed once more, as a mask is for every layer.
        """
        ends: set[int] = set()
        for number in reversed(run.behind(node.number for node in region)):
            agrees = counterparts.get(number)
            if number in ends if not agrees else not run.nodes[number].is_whole:
                ends.update(run.nodes[number].parents)
        alike = {(run.nodes[number].kind, run.nodes[number].sample.tobytes()) for number in ends if number in run.nodes}
        return [node for node in region if (node.kind, node.sample.tobytes()) not in alike]

    def _of_one_kind(self, ones: Sequence[Node], others: Sequence[Node]) -> tuple[Node, Node] | None:
        """The first operation of TF1 that TF2 has too, of the same inputs and with another output."""
        for one in ones:
            fitting = [other for other in others if other.kind == one.kind and self._fit(one, other)]
            if fitting:
                return one, max(fitting, key=lambda other: self._likeness(one, other))
        return None

    def _idle(self, one: Node | None, other: Node | None) -> tuple[Node | None, Node | None]:
        """The same operations, or what stands before one of them and fits the other: it gives back what it gets.

        A factor of one has the value of its input, and so a counterpart that is no factor.
        """
        if one is not None and other is not None and one.kind != other.kind:
            for parent in self._before(self._tf1, one):
                if parent.kind == other.kind and self._fit(parent, other):
                    return parent, other
            for parent in self._before(self._tf2, other):
                if parent.kind == one.kind and self._fit(one, parent):
                    return one, parent
        return one, other

    def _before(self, run: Pass, node: Node) -> list[Node]:
        return [run.nodes[number] for number in node.parents if number in run.nodes]

    def _likeness(self, one: Node, other: Node) -> tuple[bool, int, int]:
        same = sum(other.attributes.get(key) == value for key, value in one.attributes.items())
        variables = len(self._moved(one.variables) & other.variables)
        return one.shape == other.shape, same + variables, -self._tf2.order[other.number]

    def _fit(self, one: Node, other: Node) -> bool:
        """Whether two operations have the same inputs, as far as these depend on more than variables."""
        given, taken = self._given(self._tf1, one, self.to_tf2), self._given(self._tf2, other, self.to_tf1)
        if given is None or taken is None:
            return False
        if not given and not taken:
            alone = one.number in self._tf1.driven, other.number in self._tf2.driven
            return alone[0] == alone[1] and self._moved(one.variables) == other.variables
        reached = [[second for second in taken if self._agree(first, second)] for first in given]
        return all(reached) and {second for found in reached for second in found} == set(taken)

    def _given(self, run: Pass, node: Node, counterparts: Mapping[int, Any]) -> list[int] | None:
        """The inputs that have counterparts; None where one that depends on more than variables has none."""
        found: list[int] = []
        waiting = list(node.parents)
        while waiting:
            number = waiting.pop(0)
            parent = run.nodes.get(number)
            if parent is None or number not in run.driven:
                continue
            if counterparts.get(number):
                found.append(number)
            elif parent.op in self._through and parent.parents:
                waiting += parent.parents
            elif not parent.is_leaf:
                return None
        return found

    def _agree(self, one: int, other: int) -> bool:
        """Whether two inputs are the same also in shape, as far as an operation would see it."""
        if other not in self.to_tf2.get(one, ()):
            return False
        first, second = self._tf1.nodes[one].shape, self._tf2.nodes[other].shape
        if first == second or len(first) != len(second):
            return True
        # Values in the same order under another shape of the same rank are taken for other things.
        return not self._near(self._tf1.nodes[one].sample, self._tf2.nodes[other].sample, self._tf1.nodes[one].scale)

    def _of_other_kinds(
        self, ones: Sequence[Node], others: Sequence[Node]
    ) -> tuple[Node | None, Node | None] | None:
        """The first operations of both sides that only have inputs which agree, whatever they are."""
        entries = [node for node in ones if self._given(self._tf1, node, self.to_tf2) is not None]
        beginnings = [node for node in others if self._given(self._tf2, node, self.to_tf1) is not None]
        first_ones, first_others = self._telling(entries, self._tf1), self._telling(beginnings, self._tf2)
        for among in (first_others, others):
            for one in first_ones:
                given = self._given(self._tf1, one, self.to_tf2) or ()
                partners = {other for parent in given for other in self.to_tf2.get(parent, ())}
                taking = [(self._in_common(partners & self._taken(other)), other) for other in among]
                taking = [(common, other) for common, other in taking if common[1]]
                if taking:
                    return one, max(taking, key=lambda found: (found[0], self._nearness(one, found[1])))[1]
        if not entries and not beginnings:
            return None
        return next(iter(first_ones), None), next(iter(first_others), None)

    def _given_way(self, one: Node | None, other: Node | None) -> tuple[Node | None, Node | None]:
        """The same operations, or those before them that take each other's place and differ.

        What TF1 computes there may by chance be computed elsewhere on TF2, and so have a counterpart.
        """
        if one is None or other is None or one.kind != other.kind:
            return one, other
        taken = self._taken(other)
        olds = [node for node in self._before(self._tf1, one) if not taken & set(self.to_tf2.get(node.number, ()))]
        news = [node for node in self._before(self._tf2, other) if not self.to_tf1.get(node.number)]
        alike = [(old, new) for old in olds for new in news if old.kind == new.kind and self._fit(old, new)]
        return alike[0] if len(olds) == len(news) == len(alike) == 1 else (one, other)

    def _telling(self, nodes: Sequence[Node], run: Pass) -> Sequence[Node]:
        """Those that compute something of what the pass was given, if there are any."""
        driven = [node for node in nodes if node.number in run.driven]
        return [node for node in driven if node.op not in self._through] or driven or nodes

    def _taken(self, node: Node) -> set[int]:
        """The inputs of a TF2 operation, also through such as change nothing but shapes."""
        found = set(node.parents)
        for parent in node.parents:
            if parent in self._tf2.nodes and self._tf2.nodes[parent].op in self._through:
                found.update(self._tf2.nodes[parent].parents)
        return found

    def _in_common(self, common: set[int]) -> tuple[bool, int]:
        """How much two operations have in common that take these: what weights make is more than labels are."""
        return not self._tf2.learned.isdisjoint(common), len(common)

    def _nearness(self, one: Node, other: Node) -> tuple[bool, bool, int]:
        return one.kind == other.kind, one.shape == other.shape, -self._tf2.order[other.number]

    def _moved(self, variables: Iterable[str]) -> set[str]:
        return {self._names.to_tf2.get(name, name) for name in variables}

    # In words

    def _side(self, run: Pass, node: Node) -> OperationSide:
        counted = Counter(filter(None, (self._told(run, kind, value) for kind, value in node.inputs)))
        inputs = [[f"{words} ({count} times)"] if count > 2 else [words] * count for words, count in counted.items()]
        return OperationSide(node.op, node.place, node.shape, tuple(itertools.chain(*inputs)), node.made, node.number)

    def _told(self, run: Pass, kind: str, value: Any) -> str:
        if kind == "row" and value in run.nodes:
            node = run.nodes[value]
            if node.is_leaf:
                return "an input" if node.op != "Const" else f"constants of shape {list(node.shape)}"
            line = "" if node.place is None else f" of line {node.place[1]}"
            return f"{node.op}{line}"
        if kind == "variable":
            return f"variable {value}" if value else "a variable"
        return _shown(value) if kind == "constant" else ""

    def _agreeing(self, one: Node | None, other: Node | None) -> Iterator[str]:
        """The inputs that agree, as TF1 has them."""
        if one is None:
            return
        for kind, value in one.inputs:
            if kind == "row" and value in self._tf1.nodes:
                taken = set() if other is None else self._taken(other)
                given = self._tf1.nodes[value].is_leaf and value in self._tf1.driven
                if given or taken & set(self.to_tf2.get(value, ())):
                    yield self._told(self._tf1, kind, value)
            elif kind == "variable" and other is not None and self._moved({plain(str(value))}) <= other.variables:
                yield self._told(self._tf1, kind, value)

    def _differences(
        self, one: Node | None, other: Node | None, ones: Sequence[Node], others: Sequence[Node]
    ) -> Iterator[str]:
        """What is seen to be different about the operations themselves."""
        if one is None or other is None:
            lone = one or other
            assert lone is not None
            yield _lacking("TF1", lone) if one else _lacking("TF2", lone)
            return
        if one.kind != other.kind:
            if any(self._alike(node, other, one) for node in _after(one, ones)):
                yield _lacking("TF1", one)
            elif any(self._alike(one, node, other) for node in _after(other, others)):
                yield _lacking("TF2", other)
            else:
                yield f"{one.op} on TF1, {other.op} on TF2"
            return
        for key, value in one.attributes.items():
            if key in other.attributes and not _equal(value, other.attributes[key]):
                yield f"{key} {_shown(value)} on TF1, {_shown(other.attributes[key])} on TF2"
        yield from self._other_inputs(one, other)
        if one.shape != other.shape:
            yield f"shape {list(one.shape)} on TF1, {list(other.shape)} on TF2"

    def _alike(self, one: Node, other: Node, before: Node) -> bool:
        """Whether two operations look like the same one, which on one side is of what `before` computes."""
        if one.kind != other.kind or self._moved(one.variables) != other.variables:
            return False
        return bool(other.variables) or (one.shape == other.shape and before.number in (*one.parents, *other.parents))

    def _other_inputs(self, one: Node, other: Node) -> Iterator[str]:
        if len(one.inputs) != len(other.inputs) or one.op == "AddN":
            return
        for (kind, first), (other_kind, second) in zip(one.inputs, other.inputs, strict=True):
            if kind == other_kind == "constant":
                if not _equal(first, second):
                    yield f"{_shown(first)} on TF1, {_shown(second)} on TF2"
            elif kind == other_kind == "variable":
                if second and self._moved({plain(str(first))}) != {plain(str(second))}:
                    yield f"variable {first} on TF1, {second} on TF2"
            elif kind == other_kind == "row":
                if self.to_tf2.get(first) and second not in self.to_tf2[first] and self.to_tf1.get(second):
                    yield f"{self._told(self._tf1, kind, first)} on TF1, {self._told(self._tf2, kind, second)} on TF2"


def _lacking(side: str, node: Node) -> str:
    """In words, that the other side computes nothing that corresponds to an operation."""
    line = "" if node.place is None else f" at line {node.place[1]}"
    return f"{'TF2' if side == 'TF1' else 'TF1'} computes nothing that corresponds to {side}'s {node.op}{line}"


def _after(first: Node, nodes: Sequence[Node]) -> Iterator[Node]:
    """The nodes that depend on the first, which are in the order of execution."""
    found = {first.number}
    for node in nodes:
        if found & set(node.parents):
            found.add(node.number)
            yield node


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    first, second = np.asarray(one, np.float64).reshape(-1), np.asarray(other, np.float64).reshape(-1)
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=1e-6, atol=0.0, equal_nan=True))


def _shown(value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list):
        return f"[{some([_shown(one) for one in value])}]"
    return figure(value) if isinstance(value, float) else str(value)
