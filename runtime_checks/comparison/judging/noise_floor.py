"""The noise of a side: how far its own runs are apart that differ in nothing but the order of rounding.

The runs are the same scenario from values that were moved by about one unit in the last place, once more, and in the
other mode (a session without grappler, a ``tf.function``). Moved values show how the program amplifies noise itself.
They count unless what a forward pass gives is another number from the first step on, such as one of the other sign:
that no rounding does. The others count as long as they are not far above that: a mode that computes something else is
no noise (see rung 8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Record, Recorded
from .measuring import apart, largest
from .pairing import Couple, Index
from .tolerances import table
from .values import Values

__all__ = ["MODERATE", "NoiseFloor"]

MODERATE = 10.0
"""How far above what moved values change another mode may lie and still be noise."""

_FORWARD = ("output", "loss", "regularization", "metric")
_FAR = 0.5
"""The share of a value's own magnitude that rounding does not change in one pass; TF1's grappler has changed signs."""

Difference = Callable[[Index, Index, Record], "float | None"]


class _Runs:
    """One side's scenario, and its other runs."""

    def __init__(self, recorded: Recorded, scenario: str, others: Iterable[str]) -> None:
        self.main = Index(recorded.scenario(scenario))
        found = [recorded.scenario(name) for name in others]
        self.nudged = [Index(run) for run in found if run.name in scenarios.NUDGED and run.records]
        self.others = [Index(run) for run in found if run.name not in scenarios.NUDGED and run.records]


class NoiseFloor:
    """The noise of each value of a scenario.

    What was measured at a step holds for the later ones at least, and each value's share of its own magnitude, as the
    fingerprint fill showed it, for the forward passes that were run once.

    Args:
        tf1: the TF1 side.
        tf2: the TF2 side.
        values: reads both.
        measured_by: by scenario, its other runs.
    """

    def __init__(self, tf1: Recorded, tf2: Recorded, values: Values, measured_by: Mapping[str, Sequence[str]]) -> None:
        self._recorded = (tf1, tf2)
        self._values = values
        self._measured_by = measured_by
        self._runs: dict[str, tuple[_Runs, _Runs]] = {}
        self._so_far: dict[tuple[str, str, str], float] = {}
        self._moved: dict[tuple[str, str, str], float] = {}
        self._shares: dict[tuple[str, str], float] = {}

    def of(self, scenario: str, couple: Couple, tf1: Any) -> float | None:
        """The noise of a couple of records, absolute; `tf1` is the TF1 value. None where it was not measured."""
        if scenario == scenarios.STEPS_FORCED:
            return self._of_first_step(couple, tf1)
        if scenario not in self._measured_by:
            return self._share(couple, tf1)
        floor = self._floor(scenario, couple, self._plain)
        key = (scenario, couple.known.kind, couple.known.name)
        if floor is None:
            return self._so_far.get(key, self._share(couple, tf1))
        self._so_far[key] = max(floor, self._so_far.get(key, 0.0))
        size = largest(tf1)
        if scenario == scenarios.FINGERPRINT and size:
            self._shares[key[1:]] = floor / size
        return self._so_far[key]

    def _share(self, couple: Couple, tf1: Any) -> float | None:
        share = self._shares.get((couple.known.kind, couple.known.name))
        return None if share is None else share * largest(tf1)

    def _of_first_step(self, couple: Couple, tf1: Any) -> float | None:
        """The share of its own magnitude that a value's noise has in the first step, where none is amplified yet."""
        found, first = self._first(couple), None
        if found is not None:
            first = self._floor(scenarios.STEPS, found, self._plain)
        if first is None or found is None or found.tf1 is None:
            return self._share(couple, tf1)
        size = largest(self._values.of(found.tf1))
        return first * max(1.0, largest(tf1) / size) if size else first

    def _first(self, couple: Couple) -> Couple | None:
        """The same records in the first step."""
        one, other = (
            None if record is None else runs.main.find(record.kind, record.name, 0)
            for runs, record in zip(self._of(scenarios.STEPS), (couple.tf1, couple.tf2), strict=True)
        )
        return None if one is None or other is None else replace(couple, tf1=one, tf2=other)

    def nudged(self, scenario: str, couple: Couple) -> float | None:
        """What values that were moved by about one unit in the last place change, up to that step."""
        found = [
            one
            for runs, record in zip(self._of(scenario), (couple.tf1, couple.tf2), strict=True)
            if record is not None
            for one in self._by_moved(self._plain, runs, record)
        ]
        key = (scenario, couple.known.kind, couple.known.name)
        if found:
            self._moved[key] = max(*found, self._moved.get(key, 0.0))
        return self._moved.get(key)

    def of_update(self, scenario: str, couple: Couple, before: int) -> float | None:
        """The noise of the change that a variable made since step `before`."""
        if scenario == scenarios.STEPS_FORCED:
            first = self._first(couple)
            return None if first is None else self.of_update(scenarios.STEPS, first, -1)

        def changed(index: Index, record: Record) -> Any:
            earlier, later = index.find(record.kind, record.name, before), self._kept(index, record)
            if later is None or earlier is None:
                return None
            return self._values.of(later) - self._values.of(earlier)

        def difference(main: Index, run: Index, record: Record) -> float | None:
            return _between(changed(main, record), changed(run, record))

        return self._floor(scenario, couple, difference)

    def _plain(self, main: Index, run: Index, record: Record) -> float | None:
        one, other = self._kept(main, record), self._kept(run, record)
        return None if one is None or other is None else _between(self._values.of(one), self._values.of(other))

    def _kept(self, index: Index, record: Record) -> Record | None:
        found = index.find(record.kind, record.name, record.step)
        return found if found is not None and found.kept else None

    def _floor(self, scenario: str, couple: Couple, difference: Difference) -> float | None:
        """The largest difference between runs of a side, without those that are too large to be noise."""
        nudged: list[float] = []
        others: list[tuple[float, str]] = []
        for runs, record in zip(self._of(scenario), (couple.tf1, couple.tf2), strict=True):
            if record is None:
                continue
            nudged += self._by_moved(difference, runs, record)
            others += [(one, record.dtype) for one in _differences(difference, runs.main, runs.others, record)]
        if not nudged and not others:
            return None
        floor = max(nudged, default=0.0)
        return max([floor, *(one for one, dtype in others if one <= max(table(dtype)[1], MODERATE * floor))])

    def _by_moved(self, difference: Difference, runs: _Runs, record: Record) -> list[float]:
        """What moved values change of a record; nothing where they make another number of it in the first step."""
        first = runs.main.find(record.kind, record.name, 0) or record
        if record.kind in _FORWARD and first.kept and self._values.of(first).dtype.kind in "fc":
            most = max(_FAR * largest(self._values.of(first)), table(first.dtype)[1])
            if any(one > most for one in _differences(self._plain, runs.main, runs.nudged, first)):
                return []
        return _differences(difference, runs.main, runs.nudged, record)

    def _of(self, scenario: str) -> tuple[_Runs, _Runs]:
        if scenario not in self._runs:
            one, other = self._recorded
            others = self._measured_by.get(scenario, ())
            self._runs[scenario] = _Runs(one, scenario, others), _Runs(other, scenario, others)
        return self._runs[scenario]


def _differences(difference: Difference, main: Index, runs: Iterable[Index], record: Record) -> list[float]:
    found = [difference(main, run, record) for run in runs]
    return [one for one in found if one is not None]


def _between(one: Any, other: Any) -> float | None:
    """The largest difference of two values; None where that is no number."""
    if one is None or other is None or one.shape != other.shape or one.dtype.kind in "SU" or other.dtype.kind in "SU":
        return None
    error = float(np.max(apart(one, other), initial=0.0))
    return error if np.isfinite(error) else None
