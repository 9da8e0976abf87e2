"""Evidence of what each side drops in training: the share is read off the numbers that it drew and what became of them.

A dropout is whatever makes a mask of uniform numbers and leaves zeros where the mask says so, in a layer, in a function
of TensorFlow or by hand. As it compares the numbers with a bound, its rate lies between the last number that is dropped
and the first that is kept. That of a branch of a TF1 graph, whose numbers no session gives, tells its rate by the
factor that it multiplies with what it keeps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from ...worker.recording.format import scenarios
from ...worker.recording.format.draws import STEP
from ...worker.recording.format.reading import Recorded
from ...worker.recording.format.rows import Place
from ...worker.recording.values.sketch import sampled
from ..draws import drawn, unaligned
from ..passes import Node, Pass
from ..results import RandomOp
from ..wording import place as shown
from .evidence import Clue, Seen
from .lines import of_layer

__all__ = ["KIND", "at_parting", "clues"]

KIND = "dropout rate"
_FEWEST = 8
"""Numbers that a draw needs to say anything of a rate."""
_EXACT = 1e-5
"""How far a rate may be off that the program computes in float32."""
_FAR = 24
"""Operations between a draw and the zeros that it leaves."""


@dataclass(frozen=True, slots=True)
class _Drop:
    """A dropout that was seen: `least` and `most` bound its rate, and are the same where an operand of it says so.

    `dropped` of `count` numbers were; `number` is that of the draw. `place` is the line of the mask, or of TF2 that
    which makes the layer. `parts` are the operations of it that are known.
    """

    number: int
    shape: tuple[int, ...]
    least: float
    most: float
    dropped: int
    count: int
    place: Place | None
    parts: frozenset[int] = frozenset()

    @property
    def rate(self) -> float:
        return 0.5 * (self.least + self.most)

    @property
    def words(self) -> str:
        """The rate, as exactly as it is known, and the line."""
        known = f"{self.rate:.6g}" if self.least == self.most else f"about {self.rate:.2g}"
        where = "" if self.place is None else f" at {shown(self.place)}"
        return f"{known}{where} ({self.dropped} of {self.count} numbers)"

    def differs(self, other: _Drop) -> bool:
        """Whether no rate lies within the bounds of both."""
        return self.least > other.most + _EXACT or other.least > self.most + _EXACT


def clues(seen: Seen, weight: float) -> Iterator[Clue]:
    """Dropouts whose rates differ, and those that one side has alone, in the first training pass that shows any.

    Args:
        seen: the report with its recordings.
        weight: of a rate that differs.
    """
    for scenario in (scenarios.ALIGNED, scenarios.STEPS):
        passes = [seen.operations(side, scenario) for side in ("tf1", "tf2")]
        if passes[0] is None or passes[1] is None:
            continue
        draws = ([side.scenario(one) for side in (seen.tf1, seen.tf2)] for one in (scenario, scenarios.STEPS))
        if scenario == scenarios.ALIGNED and unaligned(*draws)[1]:
            continue  # what TF1's graph drops besides, TF2 does in its training step
        (olds, hidden), (news, lost) = (
            _of_side(run, drawn(side.scenario(scenario)))
            for run, side in zip(passes, (seen.tf1, seen.tf2), strict=True)
            if run is not None
        )
        news = [_at_layer(seen, scenario, drop) for drop in news]
        if len(olds) != len(news) and (hidden or lost or scenario == scenarios.STEPS):
            yield from _alike(olds, news, weight)
            return  # there may be more; the step may do without what a training pass has
        found = list(_compared(seen, olds, news, weight))
        yield from found
        if found:
            return


def at_parting(seen: Seen, weight: float) -> Clue | None:
    """The dropout of one side with which the passes begin to part, where the other side goes on without one.

    None where the other side drops nothing at all, which is seen without operations.
    """
    first = seen.report.first_divergence
    found = None if first is None else first.operation
    if found is None or found.tf1 is None or found.tf2 is None:
        return None
    sides = (("tf1", found.tf1), ("tf2", found.tf2))
    drops = [_at_operation(seen.operations(side, found.scenario, found.step), one.number) for side, one in sides]
    (one, first_count), (two, second_count) = drops
    if (one is None) == (two is None) or not (second_count if two is None else first_count):
        return None
    drop, side, other, goes_on = (one, "TF1", "TF2", found.tf2) if one is not None else (two, "TF2", "TF1", found.tf1)
    assert drop is not None
    where = "" if goes_on.place is None else f" at {shown(goes_on.place)}"
    text = (
        f"{side} drops with the rate {drop.words} where the passes part, and {other} goes on with {goes_on.op}{where}: "
        "the layer is missing there, or this call of it is not one of training."
    )
    if one is not None:
        return Clue(KIND, weight, text, found.tf2.place, drop.place)
    return Clue(KIND, weight, text, drop.place, found.tf1.place)


def _at_operation(run: Pass | None, number: int) -> tuple[_Drop | None, int]:
    """The dropout of a pass that an operation is of, and how many the pass has."""
    drops = [] if run is None else list(_drops(run))
    return next((drop for drop in drops if number in drop.parts), None), len(drops)


def _compared(seen: Seen, olds: Sequence[_Drop], news: Sequence[_Drop], weight: float) -> Iterator[Clue]:
    pairs = list(_together(olds, news))
    alone = [(one, two) for one, two in pairs if one is None or two is None]
    for one, two in pairs:
        if one is not None and two is not None and one.differs(two):
            yield _other_rate(one, two, weight)
            return
    for one, two in alone:
        drop, side, other = (one, "TF1", "TF2") if two is None else (two, "TF2", "TF1")
        assert drop is not None
        recorded, those = (seen.tf2, news) if two is None else (seen.tf1, olds)
        told = not those and _has_rate(recorded)  # it is there, and does nothing: the flag does not reach it
        counts = "".join(f"; {whose} drops {some}" for whose, some in (("TF1", _times(olds)), ("TF2", _times(news))))
        text = f"Training drops with the rate {drop.words} on {side}, and {other} drops nothing there"
        yield Clue(
            KIND,
            0.5 * weight if told else weight,
            f"{text}{counts if those else ': its dropout is missing, or a flag keeps it off'}.",
            drop.place if two is not None else None,
            drop.place if one is not None else None,
        )
        return


def _other_rate(one: _Drop, two: _Drop, weight: float) -> Clue:
    inverse = abs(one.rate + two.rate - 1.0) <= 0.5 * (one.most - one.least + two.most - two.least) + _EXACT
    why = ": a probability to keep is used as a rate" if inverse else ""
    text = f"Training drops other shares: the rate is {one.words} on TF1 and {two.words} on TF2{why}."
    return Clue(KIND, weight, text, two.place, one.place)


def _alike(olds: Sequence[_Drop], news: Sequence[_Drop], weight: float) -> Iterator[Clue]:
    """Where a side may have more than are seen: those whose shape no other has, by their rates."""
    sides = [{tuple(sorted(drop.shape)): drop for drop in side} for side in (olds, news)]
    counts = [Counter(tuple(sorted(drop.shape)) for drop in side) for side in (olds, news)]
    for shape, one in sides[0].items():
        two = sides[1].get(shape)
        if two is not None and counts[0][shape] == counts[1][shape] == 1 and one.differs(two):
            yield _other_rate(one, two, weight)
            return


def _times(drops: Sequence[_Drop]) -> str:
    return "once" if len(drops) == 1 else f"{len(drops)} times"


def _at_layer(seen: Seen, scenario: str, drop: _Drop) -> _Drop:
    """A dropout of TF2 with the line that makes its layer."""
    return drop if drop.place is None else replace(drop, place=of_layer(seen, scenario, 0, drop.number, drop.place))


def _has_rate(recorded: Recorded) -> bool:
    """Whether a side told of a layer with a rate of dropout."""
    return any((row.get("config") or {}).get("rate") for row in recorded.content.get("layers") or ())


def _together(olds: Sequence[_Drop], news: Sequence[_Drop]) -> Iterator[tuple[_Drop | None, _Drop | None]]:
    """Both sides' dropouts in order, None where one has no counterpart; by shapes and rates where they are not as many.

    The axes of a shape may lie in another order on the other side.
    """
    if len(olds) == len(news):
        yield from zip(olds, news, strict=True)
        return
    keys = [[(tuple(sorted(drop.shape)), round(drop.rate, 2)) for drop in side] for side in (olds, news)]
    for _, begin, end, start, stop in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        ones, twos = list(olds[begin:end]), list(news[start:stop])
        both = min(len(ones), len(twos))
        yield from zip(ones[:both], twos[:both], strict=True)
        yield from ((one, None) for one in ones[both:])
        yield from ((None, two) for two in twos[both:])


def _of_side(run: Pass, draws: Sequence[RandomOp]) -> tuple[list[_Drop], bool]:
    """The dropouts of a side's pass, and whether it drew numbers that may be of another one.

    Those of a loop or a branch of a TF1 graph are not among the operations; what a branch gives may tell all the same.
    """
    found = list(_drops(run))
    hidden = sum(draw.purpose == STEP and "RandomUniform" in draw.op and _is_large(draw) for draw in draws) - len(found)
    if hidden > 0:
        met = {drop.number for drop in found}
        branches = [drop for node in run.nodes.values() if (drop := _scaled(run, node, met)) is not None]
        found = sorted([*found, *branches], key=lambda drop: run.order[drop.number])
        hidden -= len(branches)
    return found, hidden > 0


def _is_large(draw: RandomOp) -> bool:
    """Whether a draw may be of a dropout that is told by its numbers."""
    return draw.shape is None or None in draw.shape or math.prod(size for size in draw.shape if size) >= _FEWEST


def _scaled(run: Pass, node: Node, met: set[int]) -> _Drop | None:
    """An operation that leaves zeros of what it is given, and multiplies the rest so that their sum is about the same.

    Args:
        run: the pass.
        node: the operation.
        met: the draws whose dropouts are known: what is made of these is none of its own.
    """
    if met & set(run.behind([node.number])):
        return None
    for parent in node.parents:
        given = run.nodes.get(parent)
        if given is None or given.shape != node.shape:
            continue
        alive = given.sample != 0
        if np.count_nonzero(alive) < _FEWEST:
            continue
        factors = node.sample[alive].astype(np.float64) / given.sample[alive]
        kept = factors[factors != 0]
        dropping = factors.size - kept.size
        if not dropping or not kept.size or not np.isfinite(factors).all():
            continue
        factor = float(np.median(kept))
        if factor <= 1.0 + _EXACT or np.max(np.abs(kept - factor)) > _EXACT * factor:
            continue
        rate = 1.0 - 1.0 / factor
        spread = 5.0 * math.sqrt(rate * (1.0 - rate) / factors.size)
        if abs(dropping / factors.size - rate) <= spread:
            known = round(rate, 6)
            return _Drop(node.number, node.shape, known, known, dropping, int(factors.size), node.place)
    return None


def _drops(run: Pass) -> Iterator[_Drop]:
    """The dropouts of a pass, in the order of their draws."""
    children: dict[int, list[Node]] = {}
    for node in run.nodes.values():
        for parent in dict.fromkeys(node.parents):
            children.setdefault(parent, []).append(node)
    for draw in run.nodes.values():
        if draw.kind == "RandomUniform" and draw.sample.size >= _FEWEST:
            found = _drop(run, draw, children)
            if found is not None:
                yield found


def _drop(run: Pass, draw: Node, children: dict[int, list[Node]]) -> _Drop | None:
    below = list(_below(draw, children))
    mask = next((node for node in below if node.shape == draw.shape and _is_mask(node)), None)
    if mask is None:
        return None
    masked = list(_below(mask, children))
    dropped, left = next(((part, node) for node in masked if (part := _zeros(mask, node)) is not None), (None, mask))
    if dropped is None:
        return None
    ones, others = draw.sample[dropped], draw.sample[~dropped]
    if ones.max() <= others.min():
        least, most = float(ones.max()), float(others.min())
    elif others.max() <= ones.min():
        least, most = 1.0 - float(ones.min()), 1.0 - float(others.max())
    else:
        return None
    between = [node for node in below if run.order[node.number] <= run.order[mask.number]]
    for value in _operands(run, between):
        for rate in (value, 1.0 - value):
            if least - _EXACT <= rate <= most + _EXACT:
                least = most = float(np.float32(rate))
    dropping = int(np.count_nonzero(dropped)), int(dropped.size)
    made_of = {draw.number, *(node.number for node in below)} & set(run.behind([left.number]))
    scaled = {parent for parent in left.parents if parent in run.nodes and _scales(run, run.nodes[parent])}
    place = mask.made or mask.place or draw.place
    return _Drop(draw.number, draw.shape, least, most, *dropping, place, frozenset(made_of | scaled))


def _scales(run: Pass, node: Node) -> bool:
    """Whether an operation multiplies with a single number, or divides by one."""
    return node.kind in ("Mul", "RealDiv") and any(_operands(run, [node]))


def _below(start: Node, children: dict[int, list[Node]]) -> Iterator[Node]:
    """What is made of an operation, the nearest first."""
    met, waiting = {start.number}, [start]
    for _ in range(_FAR):
        if not waiting:
            return
        for node in children.get(waiting.pop(0).number, ()):
            if node.number not in met:
                met.add(node.number)
                waiting.append(node)
                yield node


def _is_mask(node: Node) -> bool:
    """Whether an operation gave zeros and ones, and both."""
    values = node.sample
    return bool(np.all((values == 0) | (values == 1)) and 0 < np.count_nonzero(values) < values.size)


def _zeros(mask: Node, node: Node) -> np.ndarray | None:
    """Which numbers of a mask make zeros of what an operation gives: those that are 0, or those that are 1.

    None where neither do. Where the mask is spread over an axis each of its numbers has several values.
    """
    values = node.sample
    if _is_mask(node) or not np.any(values):
        return None
    of_mask = mask.sample
    spread = of_mask if node.shape == mask.shape else _spread(mask, node)
    if spread is None or spread.size != values.size:
        return None
    for number in (0.0, 1.0):
        chosen = np.equal(spread, number)
        if not np.any(values[chosen]) and np.any(values[~chosen]):
            found: np.ndarray = np.equal(of_mask, number)
            return found
    return None


def _spread(mask: Node, node: Node) -> np.ndarray | None:
    """The numbers of a mask at the places that are kept of what an operation gives; None where that has other axes."""
    alike = len(mask.shape) == len(node.shape) and mask.sample.size == math.prod(mask.shape)
    if not alike or any(one not in (1, size) for one, size in zip(mask.shape, node.shape, strict=True)):
        return None
    count = math.prod(node.shape)
    places = np.unravel_index(np.arange(count)[sampled(count)], node.shape)
    whole: np.ndarray = mask.sample.reshape(mask.shape)
    found: np.ndarray = whole[tuple(at % size for at, size in zip(places, mask.shape, strict=True))]
    return found


def _operands(run: Pass, nodes: Iterable[Node]) -> Iterator[float]:
    """The single numbers that operations take, constants and computed ones."""
    for node in nodes:
        for kind, value in node.inputs:
            if kind == "constant" and len(value) == 1:
                yield float(value[0])
            elif kind == "row" and value in run.nodes and run.nodes[value].sample.size == 1:
                yield float(run.nodes[value].sample[0])
