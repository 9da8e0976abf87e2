"""What two input pipelines have to do with each other: order, batches, shuffling, and what became of the values."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..worker.recording.format.reading import Record
from .judging.measuring import digest, numeric
from .judging.pairing import Index
from .judging.values import Values
from .wording import figure

__all__ = ["Pipelines"]

_KINDS = {"int": "whole", "uin": "whole", "flo": "real", "bfl": "real", "str": "text", "obj": "text", "byt": "text"}
_ROUNDING = 1e-5
_PARTS = (255.0, 127.5, 128.0, 256.0, 65535.0)
"""What pictures are divided by."""


class Pipelines:
    """The batches of both sides."""

    def __init__(self, tf1: Index, tf2: Index, values: Values) -> None:
        self.sides = (tf1, tf2)
        self._values = values
        self._steps = [[step for step in side.steps() if side.all("data", step)] for side in self.sides]
        self._names = [[record.name for record in side.all("data", 0)] for side in self.sides]

    @property
    def shuffled(self) -> list[bool]:
        """Of each side, whether another seed gives other batches."""
        return [bool(side.scenario.said.get("random")) for side in self.sides]

    @property
    def ended(self) -> list[bool]:
        """Of each side, whether all of its batches are here."""
        return [bool(side.scenario.said.get("ended")) for side in self.sides]

    def any_batch(self) -> bool:
        """Whether either side gives one."""
        return any(self._steps)

    def structure(self) -> str:
        """How the structures of the batches differ, or that a side gives none; empty where they agree."""
        for number, side in enumerate(("TF1", "TF2")):
            if not self._steps[number]:
                return f"{side} gives no batch"
        ones, others = self._names
        if len(ones) == len(others):
            return ""
        return f"TF1 gives {len(ones)} values a batch ({', '.join(ones)}), TF2 {len(others)} ({', '.join(others)})"

    def pairs(self) -> Iterator[tuple[Record, Record]]:
        """The values of the batches that both sides give, by their names, or by their order."""
        for step in sorted(set(self._steps[0]) & set(self._steps[1])):
            for name, named in self._pairs():
                one, other = self.sides[0].find("data", name, step), self.sides[1].find("data", named, step)
                if one is not None and other is not None:
                    yield one, other

    def dtypes(self) -> tuple[list[str], list[str]]:
        """Values of other dtypes in the first batch: those of another kind, and those of another width alone."""
        found: tuple[list[str], list[str]] = ([], [])
        for one, other in self.pairs():
            if one.step == 0 and one.dtype != other.dtype:
                same = _KINDS.get(one.dtype[:3]) == _KINDS.get(other.dtype[:3])
                found[same].append(f"{one.name}: {one.dtype} on TF1, {other.dtype} on TF2")
        return found

    def _pairs(self) -> list[tuple[str, str]]:
        ones, others = self._names
        if set(ones) == set(others):
            return [(name, name) for name in ones]
        return list(zip(ones, others, strict=False))

    # What differs without any value being another one

    def end(self) -> str:
        """How the ends differ; empty where they agree, or neither was come to."""
        counts = [len(steps) for steps in self._steps]
        if counts[0] == counts[1] or not any(self.ended):
            return ""
        sizes = [self._sizes(number) for number in (0, 1)]
        words = [
            f"{side} {'ends after' if ended else 'gives more than'} {count} batches"
            for side, count, ended in zip(("TF1", "TF2"), counts, self.ended, strict=True)
        ]
        text = "; ".join(words)
        longer = max((0, 1), key=lambda number: counts[number])
        if all(self.ended) and abs(counts[0] - counts[1]) == 1 and sizes[longer][-1] < sizes[longer][0]:
            text += f": {('TF2', 'TF1')[longer]} drops the last one, of {sizes[longer][-1]}"
        return text

    def shuffling(self) -> str:
        """How the shuffling differs; empty where it does not."""
        one, other = self.shuffled
        if one != other:
            return f"{'TF1' if one else 'TF2'} shuffles, and {'TF2' if one else 'TF1'} gives the same order each time"
        windows = [self._window(number) for number in (0, 1)]
        if not one or None in windows or windows[0] == windows[1]:
            return ""
        total = self._total()
        if total is not None and all(window >= total for window in windows if window is not None):
            return ""  # both shuffle all there is
        return f"TF1 shuffles among {windows[0]} examples at a time, TF2 among {windows[1]}"

    def _window(self, number: int) -> int | None:
        """The most examples that a side shuffles among; None where it does not say."""
        sizes = [int(one["size"]) for one in self.sides[number].scenario.said.get("shuffles") or ()]
        return max(sizes, default=None)

    def _total(self) -> int | None:
        """How many examples there are, where both sides came to an end."""
        return max(sum(self._sizes(number)) for number in (0, 1)) if all(self.ended) else None

    def _sizes(self, number: int) -> list[int]:
        side = self.sides[number]
        firsts = [side.all("data", step)[0] for step in self._steps[number]]
        return [record.shape[0] if record.shape else 1 for record in firsts]

    # Examples

    def examples(self) -> str:
        """How the examples of both sides differ, whatever their order; empty where they are the same ones."""
        whole = [Counter(self._joint(number)) for number in (0, 1)]
        if whole[0] == whole[1]:
            return ""
        apart = [
            (one, other)
            for one, other in self._pairs()
            if Counter(self._rows(0, one)) != Counter(self._rows(1, other))
        ]
        if not apart and len(self._pairs()) > 1:
            return f"the values of {' and '.join(one for one, _ in self._pairs())} no longer belong together"
        lacking, more = (sum((whole[at] - whole[1 - at]).values()) for at in (0, 1))
        text = f"{lacking} examples of TF1 are not among those of TF2, and {more} of TF2 not among those of TF1"
        ranges = [] if whole[0] & whole[1] else [self._ranges(*pair) for pair in apart]
        return "; ".join([text, *filter(None, ranges)])

    def _ranges(self, *names: str) -> str:
        """Between what the values lie on both sides; empty where that is the same, or they are no numbers."""
        words = []
        for number, name in enumerate(names):
            records = [self.sides[number].find("data", name, step) for step in self._steps[number]]
            values = [self._values.of(record) for record in records if record is not None]
            if any(value.dtype.kind not in "biuf" for value in values):
                return ""
            least, most = min(float(value.min()) for value in values), max(float(value.max()) for value in values)
            words.append(f"between {figure(least)} and {figure(most)} on TF{number + 1}")
        return "" if words[0][:-1] == words[1][:-1] else f"{names[0]} lies {', '.join(words)}"

    def _joint(self, number: int) -> list[bytes]:
        columns = [self._rows(number, pair[number]) for pair in self._pairs()]
        return [b"".join(rows) for rows in zip(*columns, strict=False)]

    def _rows(self, number: int, name: str) -> list[bytes]:
        found: list[bytes] = []
        for step in self._steps[number]:
            record = self.sides[number].find("data", name, step)
            if record is not None:
                value = self._values.of(record)
                found += map(digest, value) if value.ndim else [digest(value)]
        return found

    # What became of a value

    def became(self, one: Record, other: Record) -> str:
        """What turns a value of TF1 into that of TF2, as far as it is something known."""
        first, second = self._values.of(one), self._values.of(other)
        text = "" if one.dtype == other.dtype else f"{one.dtype} on TF1, {other.dtype} on TF2; "
        if first.shape != second.shape:
            return text + self._reshaped(one, other, first, second)
        if first.dtype.kind in "SU" or second.dtype.kind in "SU":
            return text + self._moved(one, other, "other texts")
        moved = self._moved(one, other, "")
        return text + (moved or _computed(numeric(first), numeric(second)))

    def _reshaped(self, one: Record, other: Record, first: Any, second: Any) -> str:
        shapes = f"shape {list(one.shape)} on TF1, {list(other.shape)} on TF2"
        if first.ndim == second.ndim <= 5:
            for axes in itertools.permutations(range(first.ndim)):
                if first.transpose(axes).shape == second.shape and np.array_equal(first.transpose(axes), second):
                    return f"{shapes}: the axes {list(axes)} of TF1's"
        rows = self._rows(0, one.name), self._rows(1, other.name)
        length = min(map(len, rows))
        if one.shape[1:] == other.shape[1:] and rows[0][:length] == rows[1][:length]:
            return f"{shapes}: the same examples in batches of another size"
        return shapes

    def _moved(self, one: Record, other: Record, otherwise: str) -> str:
        """Says so where the same examples come elsewhere."""
        rows = self._rows(0, one.name), self._rows(1, other.name)
        if Counter(rows[0]) == Counter(rows[1]):
            return self.examples() or "the same examples come in another order"
        own = digest(self._values.of(other))
        for step in self._steps[0]:
            record = self.sides[0].find("data", one.name, step)
            if record is not None and step != one.step and digest(self._values.of(record)) == own:
                return f"TF2 gives in batch {one.step} what TF1 gives in batch {step}"
        return otherwise


def _computed(first: Any, second: Any) -> str:
    """What was computed of the one to get the other."""
    if first.ndim > 1 and np.array_equal(first[..., ::-1], second):
        return "the last axis is reversed, as between RGB and BGR"
    for words, value in (
        ("cut off at both ends", np.clip(first, second.min(), second.max())),
        ("rounded", np.round(first)),
        ("cut off behind the point", np.trunc(first)),
    ):
        if np.array_equal(value, second):
            return f"TF2's are TF1's, {words}"
    scale, offset, left = _line(first.reshape(-1), second.reshape(-1))
    if left < _ROUNDING:
        return f"TF2's are TF1's{_times(scale)}{_plus(offset)}"
    if first.ndim > 1 and 1 < first.shape[-1] <= 64:
        lines = [_line(first[..., at].reshape(-1), second[..., at].reshape(-1)) for at in range(first.shape[-1])]
        if all(line[2] < _ROUNDING for line in lines):
            return f"TF2's are TF1's times and plus something of its own for each of the {len(lines)} channels"
    share = float(np.mean(first != second))
    return f"other values, {share:.0%} of them"


def _line(first: Any, second: Any) -> tuple[float, float, float]:
    """The line through the points of two arrays: scale, offset, and what it leaves of the second's spread."""
    spread = float(np.linalg.norm(second - second.mean()))
    if not np.isfinite([first, second]).all() or not spread or not np.ptp(first):
        return 1.0, 0.0, float("inf")
    (scale, offset), *_ = np.linalg.lstsq(np.stack([first, np.ones_like(first)], 1), second, rcond=None)
    return float(scale), float(offset), float(np.linalg.norm(scale * first + offset - second)) / spread


def _times(scale: float) -> str:
    if abs(scale - 1.0) < _ROUNDING:
        return ""
    for part in _PARTS:
        if abs(scale * part - 1.0) < _ROUNDING:
            return f" / {part:g}"
        if abs(scale / part - 1.0) < _ROUNDING:
            return f" * {part:g}"
    return f" * {figure(scale)}"


def _plus(offset: float) -> str:
    if abs(offset) < _ROUNDING:
        return ""
    return f" {'+' if offset > 0 else '-'} {figure(abs(offset))}"
