"""What the search for causes looks at: the failed checks by scenario and step, and the arrays behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Record, Recorded, RecordingError
from ...worker.recording.format.rows import Place
from ...worker.recording.pairs.mapping import plain
from ...worker.recording.values.layout import is_reshaped, laid_out
from ..judging.naming import OTHER_NAMES
from ..passes import Pass
from ..results import Deviation, Results, Status, VariableRow

__all__ = ["ROUNDING", "Clue", "Seen", "Twin", "fit", "near", "whole"]

ROUNDING = 1e-5
"""A relative difference of float32 values that no program's own fault explains."""


@dataclass(frozen=True, slots=True)
class Clue:
    """One piece of evidence for a class of causes: its weight from 0 to 1, a sentence with figures, and lines."""

    kind: str
    weight: float
    text: str
    tf2_place: Place | None = None
    tf1_place: Place | None = None


@dataclass(frozen=True, slots=True)
class Twin:
    """A variable of both sides.

    ``axes`` turn a TF1 value into the TF2 one, None where they lie alike; ``reshaped`` says that its elements lie there
    in another shape.
    """

    old: str
    new: str
    shape: tuple[int, ...]
    trainable: bool
    axes: tuple[int, ...] | None
    reshaped: bool = False


@dataclass
class Seen:
    """A report together with the recordings that it compares."""

    report: Results
    tf1: Recorded
    tf2: Recorded
    _indexes: dict[tuple[str, str], dict[tuple[str, str, int], Record]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.checks = [check for rung in self.report.rungs for check in rung.checks]
        pair = _mapping(self.tf1.content.get("pair"))
        reshapes = tuple(str(name) for name in pair.get("reshapes") or ())
        self.twins = tuple(_twins(self.report, _mapping(pair.get("transposes")), reshapes))

    def failed(self, scenario: str, *kinds: str, step: int | None = None) -> list[Deviation]:
        """What counts and did not pass, in the order of the report; of all kinds if none is named.

        What was compared with nothing is not among it.
        """
        checks = self.all(scenario, *kinds, step=step)
        return [check for check in checks if check.counts and not check.passed and not check.is_alone]

    def all(self, scenario: str, *kinds: str, step: int | None = None) -> list[Deviation]:
        """Every check of a scenario, passed or not."""
        return [
            check
            for check in self.checks
            if check.scenario == scenario and (not kinds or check.kind in kinds) and step in (None, check.step)
        ]

    def rung_failed(self, number: str) -> bool:
        """Whether that rung was reached and failed."""
        return any(rung.number == number and rung.status is Status.FAIL for rung in self.report.rungs)

    @property
    def only_names(self) -> bool:
        """Whether each variable has a counterpart that is like it, and some of them under another name."""
        rows = self.report.variables
        said = {row.problem for row in rows if row.problem}
        return said == {OTHER_NAMES} and all(row.tf1 is not None and row.tf2 is not None for row in rows)

    def is_apart(self, row: VariableRow) -> bool:
        """Whether TF1 alone has a weight, and nothing that agrees or trains needs it: it is of another network."""
        if row.tf1 is None or row.tf2 is not None or not row.tf1.get("trainable"):
            return False
        return bool(self._reached) and plain(str(row.tf1["name"])) not in self._reached

    @cached_property
    def _reached(self) -> set[str]:
        """The weights that TF1's training step gives a gradient; none where inference differs: it may need others."""
        if self.failed(scenarios.CONSTANT) or self.failed(scenarios.FINGERPRINT):
            return set()
        return {plain(name).partition("#")[0] for name in self.names("tf1", scenarios.STEPS, "gradient")}

    @property
    def unmatched(self) -> bool:
        """Whether rung 2 failed by more than names, and by what belongs to the network."""
        if not self.rung_failed("2") or self.only_names:
            return False
        wrong = [row for row in self.report.variables if row.problem and row.problem != OTHER_NAMES]
        return not wrong or not all(map(self.is_apart, wrong))

    def ran(self, scenario: str) -> bool:
        """Whether anything of a scenario was compared."""
        return any(check.scenario == scenario for check in self.checks)

    def value(self, side: str, scenario: str, kind: str, name: str, step: int = 0) -> Any:
        """A recorded array, float64 where it is real; None where there is none that can be read."""
        record = self.record(side, scenario, kind, name, step)
        if record is None or not record.kept:
            return None
        try:
            value = np.asarray(record.value)
        except RecordingError:
            return None
        return value.astype(np.float64) if value.dtype.kind in "biuf" else None

    def record(self, side: str, scenario: str, kind: str, name: str, step: int = 0) -> Record | None:
        """The record itself; ``side`` is ``tf1`` or ``tf2``."""
        return self._index(side, scenario).get((kind, name, step))

    def names(self, side: str, scenario: str, kind: str, step: int = 0) -> list[str]:
        """The names of a kind at a step, in the order of execution."""
        return [name for found, name, at in self._index(side, scenario) if (found, at) == (kind, step)]

    def operations(self, side: str, scenario: str, step: int = 0) -> Pass | None:
        """The single operations of a pass, where they were recorded."""
        record = self.record(side, scenario, "operation", "all", step)
        if record is None or not record.kept:
            return None
        try:
            return Pass(record, np.asarray(record.value))
        except RecordingError:
            return None

    def scalar(self, side: str, scenario: str, kind: str, name: str, step: int = 0) -> float | None:
        """A recorded number."""
        value = self.value(side, scenario, kind, name, step)
        return None if value is None or value.size != 1 else float(value.reshape(()))

    def both(self, twin: Twin, scenario: str, kind: str, step: int) -> tuple[Any, Any] | None:
        """A variable's, or its gradient's, values on both sides, as they lie on TF2; None where one lacks."""
        old = self.value("tf1", scenario, kind, twin.old, step)
        new = self.value("tf2", scenario, kind, twin.new, step)
        if old is None or new is None:
            return None
        old = laid_out(old, twin.axes, new.shape, twin.reshaped)
        return (old, new) if old.shape == new.shape else None

    def change(self, twin: Twin, scenario: str, step: int) -> tuple[Any, Any] | None:
        """What a training step changed in a variable, on both sides."""
        before = self.both(twin, scenario, "variable", step - 1)
        after = self.both(twin, scenario, "variable", step)
        if before is None or after is None:
            return None
        return after[0] - before[0], after[1] - before[1]

    def _index(self, side: str, scenario: str) -> dict[tuple[str, str, int], Record]:
        key = (side, scenario)
        if key not in self._indexes:
            recorded = self.tf1 if side == "tf1" else self.tf2
            records = recorded.scenario(scenario).records
            self._indexes[key] = {(record.kind, record.name, record.step): record for record in records}
        return self._indexes[key]


def fit(old: Any, new: Any) -> tuple[float, float]:
    """The factor that turns one array into the other best, and what it leaves, relative to the other's norm.

    Both are NaN where an array is zero everywhere or holds what is not finite.
    """
    square = float(np.sum(old * old))
    size = float(np.linalg.norm(np.ravel(new)))
    if not square or not size or not np.isfinite(square + size):
        return float("nan"), float("nan")
    factor = float(np.sum(old * new)) / square
    return factor, float(np.linalg.norm(np.ravel(new - factor * old))) / size


def near(one: float, other: float, relative: float = 1e-3) -> bool:
    """Whether two numbers agree, relative to the larger."""
    return abs(one - other) <= relative * max(abs(one), abs(other))


def whole(number: float, relative: float) -> int:
    """The whole number that a number is but for rounding; 0 where it is none."""
    if not np.isfinite(number):
        return 0
    return round(number) if near(number, round(number), relative) else 0


def _twins(report: Results, transposes: Mapping[str, Any], reshapes: tuple[str, ...]) -> Iterator[Twin]:
    for row in report.variables:
        if row.tf1 is not None and row.tf2 is not None:
            old, new = str(row.tf1.get("name")), str(row.tf2.get("name"))
            axes = transposes.get(old)
            yield Twin(
                old,
                new,
                _shape(row.tf1.get("shape")),
                bool(row.tf1.get("trainable", True)),
                tuple(int(axis) for axis in axes) if isinstance(axes, list | tuple) else None,
                is_reshaped(old, reshapes),
            )


def _shape(value: Any) -> tuple[int, ...]:
    if not isinstance(value, Iterable) or isinstance(value, str):
        return ()
    return tuple(size if isinstance(size, int) else -1 for size in value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
