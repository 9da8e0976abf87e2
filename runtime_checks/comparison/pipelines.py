"""What two input pipelines have to do with each other: order, batches, shuffling, and what became of the values."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Record, Scenario
from ..worker.recording.format.rows import Place
from .judging.judge import Judge
from .judging.measuring import Measured, digest, numeric
from .judging.pairing import Couple, Index
from .judging.tolerances import Tolerance
from .judging.values import Values
from .results import Deviation
from .wording import figure, some

__all__ = ["Pipelines", "Shared", "deviation", "shared"]

_KINDS = {"int": "whole", "uin": "whole", "flo": "real", "bfl": "real", "str": "text", "obj": "text", "byt": "text"}
_ROUNDING = 1e-5
_PARTS = (255.0, 127.5, 128.0, 256.0, 65535.0)
"""What pictures are divided by."""


_BATCHES = Record("data", "batches", -1, -1, "", (), None, {}, None, "")
"""All that a pipeline gives, where it is not about a value of a batch."""


def deviation(judge: Judge, problem: str, place: Place | None = None) -> Deviation:
    """What is said of pipelines as a whole: how they differ, at a line of TF2; without a problem, that they agree."""
    found = Measured(False, problem=problem) if problem else Measured(True, 0.0, 0.0, excess=0.0, needed_rtol=0.0)
    couple = Couple(_BATCHES, replace(_BATCHES, place=place))
    return judge.deviation(scenarios.DATA, couple, found, Tolerance(0.0, 0.0), True, None, kind="data")


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

    @property
    def races(self) -> bool:
        """Whether it is chance in which order TF1's threads read, and nothing shuffles."""
        return bool(self.sides[0].scenario.said.get("races")) and not self.shuffled[1]

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
        if self.races:
            return ""
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


class Shared(NamedTuple):
    """What replicas get of a pipeline, held against the batches of one device.

    `problem` says how they differ, at the line `place`; `agreed` what agrees; `left` what was not compared, a few words
    each with what explains them in brackets. Where nothing was compared the first two are empty.
    """

    problem: str = ""
    agreed: str = ""
    left: tuple[str, ...] = ()
    place: Place | None = None


_Rows = Counter[bytes]
_Parts = Sequence[Sequence[bytes]]
"""The rows of a batch, by replica, as digests."""
_PIPELINE = "the input pipeline"
_CLOSE = 1e-5
_FEW = 0.2
"""So small a part of the rows may a dataset that is divided twice keep more or less than one of so many."""
_FROM_FUNCTION = "distribute_datasets_from_function"


def shared(one: Scenario, other: Scenario, values: Values) -> Shared:
    """How the rows that all replicas get have to do with those of one device.

    Batch by batch they are the same, whatever their order in a batch. Where they are not, as where a file goes to one
    replica alone, each row has to come as often in an epoch, in batches of the same size.
    """
    device, replicas = _Given(one, "data", values), _Given(other, "data", values)
    if not device.batches:
        return Shared(left=(f"{_PIPELINE} (it gives no batch on one device)",))
    if not replicas.batches:
        return Shared(f"one device gets {len(device.batches)} batches, and replicas none", place=replicas.line())
    ones, others = device.names(), replicas.names()
    if set(ones) != set(others):
        text = f"one device gets {', '.join(ones)}, and replicas get {', '.join(others)}"
        return Shared(text, place=replicas.line())
    by_row = [name for name in ones if device.has_rows(name) and replicas.has_rows(name)]
    if not by_row:
        return Shared(left=(f"{_PIPELINE} (its batches have no row for each example)",))
    found = _compared(device, replicas, by_row)
    whole = [name for name in ones if name not in by_row]
    left = (*found.left, *([f"{some(whole)} of batches (no row for each example)"] if whole else []))
    if found.agreed and replicas.random and other.of_kind("unseeded"):
        left += _unseeded(device, _Given(other, "unseeded", values), by_row)
    return found._replace(left=left)


def _compared(device: _Given, replicas: _Given, names: Sequence[str]) -> Shared:
    ones, others = device.rows(names), replicas.rows(names)
    complete = device.ended and replicas.ended
    comparable = len(ones) == len(others) if complete else not (device.ended or replicas.ended)
    count = min(len(ones), len(others))
    if comparable and all(_same(ones[at], others[at]) or device.close(replicas, at) for at in range(count)):
        many = f"{count} batches" if complete else f"the first {count} batches"
        idle = [at for at, parts in enumerate(others) if not all(parts)]
        text = f"; in batch {idle[0]} a replica gets none, so a mean over its rows is no number" if idle else ""
        return Shared(agreed=f"{many} are shared out to the replicas, each row once{text}")
    whole = [Counter(itertools.chain(*map(_joined, batches))) for batches in (ones, others)]
    alike = device.rows_alike(replicas, names)
    if whole[1].keys() - whole[0].keys() and (device.random or not alike):
        why = "values of rows are drawn at random" if alike else "rows are padded to another length"
        return Shared(left=(f"{_PIPELINE} ({why}, so it is not known which row is which)",))
    if replicas.count > 1 and all(map(_repeating, others)) and not any(map(_repeating, map(_halves, ones))):
        text = f"all of the {replicas.count} replicas get the same rows: no process reads a part of its own"
        if complete:
            text += f"; the strategy gives {len(others)} batches, one device {len(ones)}"
        return Shared(text, place=replicas.line("Options", "Batch"))
    most, larger = (max(len(_joined(parts)) for parts in batches) for batches in (ones, others))
    part = max(len(part) for parts in others for part in parts)
    if larger > most:
        if not replicas.from_function:
            text = f"the size of batches (the program asks for {larger} rows together, and for {most} on one device)"
            return _epoch(device, replicas, whole, text)
        text = (
            f"replicas get {larger} rows together in a batch, and one device {most}: what makes the dataset of each "
            "process has to divide the batch by the replicas"
        )
        return Shared(text, place=replicas.line("Batch"))
    if part * replicas.count < most:
        text = f"a replica gets {part} rows at most, and one device {most}: the batch is divided more than once"
        return Shared(text, place=replicas.line("Batch"))
    return _epoch(device, replicas, whole, "which rows come together in a batch (each process reads a part of its own)")


def _epoch(device: _Given, replicas: _Given, whole: Sequence[_Rows], otherwise: str) -> Shared:
    """How the rows of a whole epoch agree; `otherwise` says what was not compared then."""
    one, other = whole
    repeated, missing = other - one, one - other
    new = {row: number for row, number in repeated.items() if row not in one}
    if device.ended and replicas.ended:
        more, less = sum(repeated.values()), sum(missing.values())
        if missing and not repeated and less < replicas.full:
            otherwise = f"{less} rows (replicas drop a last batch that is not full), {otherwise}"
        elif repeated and not missing and len(new) == len(repeated) and more < device.full:
            otherwise = f"{more} rows (one device drops a last batch that is not full), {otherwise}"
        elif repeated or missing:
            return _uneven(one, other, replicas)
        return Shared(agreed="each row comes as often in an epoch as on one device", left=(otherwise,))
    if (repeated if device.ended else replicas.ended and missing):
        return _uneven(one, other, replicas)
    lost = one.keys() - other.keys()
    again = min(one.values(), default=0) >= replicas.count
    if lost and not device.ended and again and other.total() >= one.total():  # enough for each replica to see all
        return _uneven(one, other, replicas)
    why = "it goes on after the batches that were looked at, which are other ones by replica"
    return Shared(left=(f"{_PIPELINE} ({why})",))


def _uneven(one: _Rows, other: _Rows, replicas: _Given) -> Shared:
    """Rows that come more or less often than on one device."""
    repeated, missing = other - one, one - other
    new, lost = repeated.keys() - one.keys(), missing.keys() - other.keys()
    words = [
        f"{len(lost)} of {len(one)} rows reach no replica" if lost else "",
        f"{len(repeated) - len(new)} of {len(one)} come more often than on one device" if repeated.keys() - new else "",
        f"{len(new)} come that one device does not get" if new else "",
    ]
    text = ", ".join(filter(None, words)) or f"{len(missing)} of {len(one)} rows come less often than on one device"
    if lost and not repeated and abs(len(one) - replicas.count * len(other)) <= len(one) * _FEW:
        text += f", and one of {replicas.count} does: the dataset is divided twice, by the program and by the strategy"
    return Shared(text, place=replicas.line("Shard", "Batch"))


def _unseeded(device: _Given, replicas: _Given, names: Sequence[str]) -> tuple[str, ...]:
    """What has to be said of processes that set no seed: the others were seeded alike."""
    one, other = (Counter(itertools.chain(*map(_joined, given.rows(names)))) for given in (device, replicas))
    if one == other:
        return ()
    what = "processes that set no seed"
    if not device.ended or other.keys() - one.keys():
        return (f"{what} (which rows these get is not known)",)
    return (f"{what} (they draw other numbers, and some rows come more often then and others never: seed all alike)",)


def _joined(parts: _Parts) -> list[bytes]:
    return [row for part in parts for row in part]


def _same(one: _Parts, other: _Parts) -> bool:
    return Counter(_joined(one)) == Counter(_joined(other))


def _repeating(parts: _Parts) -> bool:
    """Whether all parts of a batch have the same rows."""
    return len({tuple(sorted(part)) for part in parts}) == 1


def _halves(parts: _Parts) -> _Parts:
    rows = _joined(parts)
    return [rows[: len(rows) // 2], rows[len(rows) // 2 :]]


class _Given:
    """The batches of a kind that one device or replicas get: of each batch the parts of the replicas, by name."""

    def __init__(self, scenario: Scenario, kind: str, values: Values) -> None:
        said = scenario.said
        self.ended, self.random = bool(said.get("ended")), bool(said.get("random"))
        self._datasets = said.get("datasets")
        self._values = values
        steps: dict[int, dict[int, dict[str, Record]]] = {}
        for record in scenario.of_kind(kind):
            at, _, name = record.name.partition("/") if self._datasets is not None else ("0", "", record.name)
            steps.setdefault(record.step, {}).setdefault(int(at), {})[name] = record
        self.batches = [[parts[at] for at in sorted(parts)] for _, parts in sorted(steps.items())]

    @property
    def count(self) -> int:
        """How many replicas there are."""
        return max(map(len, self.batches))

    @property
    def from_function(self) -> bool:
        """Whether the program makes the dataset of each process itself."""
        return any(one["what"] == _FROM_FUNCTION for one in self._datasets or ())

    def names(self) -> list[str]:
        """The values of a batch."""
        return list(self.batches[0][0])

    @property
    def full(self) -> int:
        """How many rows all batches have; 0 where one has fewer than another."""
        name = next(name for name in self.names() if self.has_rows(name))
        sizes = {sum(part[name].shape[0] for part in parts) for parts in self.batches}
        return sizes.pop() if len(sizes) == 1 else 0

    def has_rows(self, name: str) -> bool:
        """Whether a value has as many rows as the first one that has any."""
        for part in itertools.chain(*self.batches):
            shapes = [record.shape for record in part.values() if record.shape]
            if name not in part or not part[name].shape or part[name].shape[0] != shapes[0][0]:
                return False
        return True

    def rows(self, names: Sequence[str]) -> list[_Parts]:
        """The rows of each replica in each batch, as digests of these values of theirs."""
        return [[self._digests(part, names) for part in parts] for parts in self.batches]

    def _digests(self, part: Mapping[str, Record], names: Sequence[str]) -> list[bytes]:
        columns = [map(digest, self._of(part, name)) for name in names]
        return [b"".join(row) for row in zip(*columns, strict=True)]

    def rows_alike(self, other: _Given, names: Sequence[str]) -> bool:
        """Whether rows are of the same shapes."""
        shapes = [
            {(name, part[name].shape[1:]) for part in itertools.chain(*given.batches) for name in names}
            for given in (self, other)
        ]
        return shapes[1] <= shapes[0]

    def close(self, other: _Given, step: int) -> bool:
        """Whether a batch has the same rows in the same order, but for how they are rounded."""
        for name in self.names():
            ones, others = ([given._of(part, name) for part in given.batches[step]] for given in (self, other))
            if any(one.shape[1:] != ones[0].shape[1:] for one in (*ones, *others)) or not ones[0].ndim:
                return False
            first, second = np.concatenate(ones), np.concatenate(others)
            if first.dtype.kind != "f" or second.dtype.kind != "f" or first.shape != second.shape:
                if not np.array_equal(first, second):
                    return False
            elif not np.allclose(first, second, rtol=_CLOSE, atol=_CLOSE, equal_nan=True):
                return False
        return True

    def line(self, *ends: str) -> Place | None:
        """The user's line that makes the last dataset of a class with such an end; of the first end that has one."""
        made = self._datasets or ()
        for end in (*ends, ""):
            found = [one["place"] for one in made if one["what"].removesuffix("Dataset").endswith(end)]
            if found:
                return str(found[-1][0]), int(found[-1][1])
        return None

    def _of(self, part: Mapping[str, Record], name: str) -> Any:
        return self._values.of(part[name])
