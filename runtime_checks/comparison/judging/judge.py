"""One value of both sides against its tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...worker.recording.format.reading import Record, Recorded
from ...worker.recording.format.rows import Place
from ...worker.recording.pairs.mapping import plain
from ..results import Deviation
from .measuring import Measured, largest, measure, numeric
from .naming import Naming
from .noise_floor import NoiseFloor
from .pairing import Couple, Index
from .tolerances import Policy, Subject, Tolerance, coarser, epsilon, table
from .values import Values

__all__ = ["Judge", "scale_of"]

_CANCELLED = 0.1
"""The share of the largest value that one may have that cancels where nothing is rounded to 16 bits."""
_TURNED = frozenset({"variable", "gradient", "slot"})


class Judge:
    """Compares couples of records under a policy.

    Attributes:
        left_out: how many couples could not be compared, as a side had no room for them.
        lost: the variables whose recorded part lies in other places on the other side, which no layout tells.
        without_losses: whether regularization losses decide nothing, as one side has them within its loss.
        proven: by scenario, kind and TF1 name, the values of step 0 of which float64 shows that they are the same;
            what float32 rounds there is noise.
        alike: the same of values that were computed from other numbers.

    Args:
        tf1: the TF1 side.
        tf2: the TF2 side.
        policy: says what may differ.
        names: which variable is which.
        values: reads what was recorded.
        measured_by: by scenario, its other runs.
        computed_in: the dtype of what floating values were made of, where that is coarser than their own.
    """

    def __init__(
        self,
        tf1: Recorded,
        tf2: Recorded,
        policy: Policy,
        names: Naming,
        values: Values,
        measured_by: Mapping[str, Sequence[str]],
        computed_in: str = "",
    ) -> None:
        self.policy = policy
        self.names = names
        self.values = values
        self.noise_floor = NoiseFloor(tf1, tf2, values, measured_by)
        self.left_out = 0
        self.lost: set[str] = set()
        self.without_losses = False
        self.proven: Mapping[tuple[str, str, str], Deviation] = {}
        self.alike: Mapping[tuple[str, str, str], Deviation] = {}
        self._computed_in = computed_in
        self._gain = max(_gain(tf1), _gain(tf2))

    def all(self, scenario: str, couples: Iterable[Couple], *, counts: bool = True) -> list[Deviation]:
        """Compare what a forward pass gave; the noise is that of the same scenario."""
        found = [self.one(scenario, couple, counts=counts) for couple in couples]
        return [deviation for deviation in found if deviation is not None]

    def one(
        self,
        scenario: str,
        couple: Couple,
        *,
        counts: bool = True,
        scale: float | None = None,
        slack: Any = 0.0,
        grown: float = 1.0,
    ) -> Deviation | None:
        """Compare a couple; None where a side had no room to keep its value.

        Args:
            scenario: on the TF2 side.
            couple: of that scenario.
            counts: false where no difference decides anything.
            scale: the largest magnitude of such values; by default that of these two.
            slack: see `measure`.
            grown: how many times more than what was measured the noise is; see `coarser`.
        """
        one, other = couple.tf1, couple.tf2
        counts = counts and couple.counts and not (self.without_losses and couple.known.kind == "regularization")
        if one is None or other is None:
            return self._alone(scenario, couple, counts)
        if not one.kept or not other.kept:
            self.left_out += 1
            return None
        first, second = self.turned(one), self.values.of(other)
        if first.shape != second.shape and (one.places or other.places):
            self.lost.add(str(one.more.get("variable", one.name)))
            return None
        floor = self._floor(scenario, couple, first)
        floor = None if floor is None else grown * floor
        allowed = self.tolerance(
            scenario, couple, floor=floor, scale=max(largest(first), largest(second)) if scale is None else scale
        )
        if scale is not None and self._cancels(one, first, scale):
            slack = slack + _CANCELLED * scale
        found = measure(first, second, allowed.rtol, allowed.atol, slack)
        deviation = self.deviation(scenario, couple, found, allowed, counts and allowed.judged, floor)
        if not found.passed and not couple.counts and one.kind == "tap":
            return replace(deviation, sure=couple.sure and not _activated(first, second, allowed))
        return deviation

    def _cancels(self, record: Record, value: Any, scale: float) -> bool:
        """Whether what is computed in 16 bits is zero but for rounding, beside the largest value of its kind.

        Such as the gradient of a bias in front of a normalization: sums of what was rounded do not cancel.
        """
        coarse = epsilon(self._computed_in)
        return record.kind in ("gradient", "slot") and bool(coarse) and largest(value) <= coarse * scale

    def _floor(self, scenario: str, couple: Couple, tf1: Any) -> float | None:
        """The noise that was measured, and what float32 rounds where that is proven to be all.

        What it rounds in the first step it rounds in the later ones at least, as much more as the value is larger.
        """
        floor = self.noise_floor.of(scenario, couple, tf1)
        key = (scenario, couple.known.kind, couple.known.name)
        own, alike = self.proven.get(key), self.alike.get(key)
        later = couple.known.step > 0
        if own is not None and own.rounding is not None:
            grown = max(1.0, largest(tf1) / (own.rounding.size or 1.0)) if later else 1.0
            floor = max(floor or 0.0, own.rounding.most * grown)
        if alike is not None and alike.rounding is not None and not later:
            floor = max(floor or 0.0, alike.rounding.most * largest(tf1) / (alike.rounding.size or 1.0))
        return floor

    def coarser(self, scenario: str, couple: Couple) -> float:
        """How many times more than what was measured float32 is proven to round in a value; 1 where it is not."""
        key = (scenario, couple.known.kind, couple.known.name)
        if key not in self.proven or couple.tf1 is None or not couple.tf1.kept:
            return 1.0
        value = self.turned(couple.tf1)
        measured, proven = self.noise_floor.of(scenario, couple, value), self._floor(scenario, couple, value)
        return max(1.0, proven / measured) if measured and proven else 1.0

    def proof(self, check: Deviation) -> Deviation | None:
        """What shows in float64 that a value is the same on both sides; None where nothing does."""
        return self.proven.get((check.scenario, check.kind, check.tf1_name)) if check.step == 0 else None

    def turned(self, record: Record) -> Any:
        """The TF1 value of a record as the TF2 side has it."""
        value = self.values.of(record)
        if record.kind not in _TURNED:
            return value
        return self.names.turned(str(record.more.get("variable", record.name)), value)

    def tolerance(
        self, scenario: str, couple: Couple, *, kind: str = "", floor: float | None = None, scale: float = 1.0
    ) -> Tolerance:
        """What the policy tolerates; `kind` where it is not that of the records."""
        records = [record for record in (couple.tf1, couple.tf2) if record is not None]
        held = dtype = coarser(records[0].dtype, records[-1].dtype)
        if self._computed_in and table(dtype) != (0.0, 0.0) and records[0].kind != "learning_rate":
            dtype = coarser(dtype, self._computed_in)
        return self.policy.tolerance(
            Subject(
                scenario=scenario,
                kind=kind or records[0].kind,
                names=tuple(record.name for record in records),
                dtype=dtype,
                step=records[0].step,
                scale=scale,
                floor=floor,
                always=couple.always,
                declared=couple.counts,
                gain=self._gain,
                held=held,
            )
        )

    def deviation(
        self,
        scenario: str,
        couple: Couple,
        found: Measured,
        allowed: Tolerance,
        counts: bool,
        floor: float | None,
        *,
        kind: str = "",
    ) -> Deviation:
        """What was measured of a couple, as the report has it."""
        known, one, other = couple.known, couple.tf1, couple.tf2
        return Deviation(
            scenario=scenario,
            kind=kind or known.kind,
            tf1_name=one.name if one else "",
            tf2_name=other.name if other else "",
            step=known.step,
            order=known.order,
            dtype=coarser(known.dtype, other.dtype if other else known.dtype),
            shape=known.shape,
            passed=found.passed,
            counts=counts,
            error=found.error,
            relative=found.relative,
            at=self._at(known, found.at),
            tf1_value=found.tf1_value,
            tf2_value=found.tf2_value,
            rtol=allowed.rtol,
            atol=allowed.atol,
            excess=found.excess,
            floor=floor,
            needed_rtol=found.needed_rtol,
            tf1_place=self._place("tf1", one) or self._maker("tf1", other),
            tf2_place=self._place("tf2", other) or self._maker("tf2", one),
            problem=found.problem,
            sure=couple.sure,
        )

    def _at(self, record: Record, at: tuple[int, ...]) -> tuple[int, ...]:
        """The position in the whole value of one in what is compared of it."""
        if record.places is None or len(at) != 1:
            return at
        return tuple(int(axis) for axis in np.unravel_index(self.values.of(record.places)[at[0]], record.shape))

    def _place(self, side: str, record: Record | None) -> Place | None:
        """The line of a value; of what belongs to a variable, and has none, the line that makes the variable."""
        if record is None:
            return None
        if record.place or record.kind not in _TURNED:
            return record.place
        return self.names.made.get((side, plain(str(record.more.get("variable", record.name)))))

    def _maker(self, side: str, other: Record | None) -> Place | None:
        """The line that makes a variable, where only the record of the other side is known to belong to it."""
        if other is None or other.kind not in _TURNED:
            return None
        name = plain(str(other.more.get("variable", other.name)))
        to_side = self.names.to_tf2 if side == "tf2" else {new: old for old, new in self.names.to_tf2.items()}
        return self.names.made.get((side, to_side.get(name, "")))

    def _alone(self, scenario: str, couple: Couple, counts: bool) -> Deviation:
        """What only one side has; a gradient of zero is the same as none."""
        known = couple.known
        if known.kind == "gradient" and not np.any(self.values.of(known)):
            found = Measured(True, 0.0, 0.0, excess=0.0, needed_rtol=0.0)
        else:
            found = Measured(False, problem=f"only on the {'TF1' if couple.tf1 else 'TF2'} side")
        allowed = self.tolerance(scenario, couple)
        return self.deviation(scenario, couple, found, allowed, counts and allowed.judged, None)


def _gain(recorded: Recorded) -> float:
    """What 1 / (1 - decay) comes to for the slowest average of an optimizer; that of Adam where none is known."""
    optimizers = [one for one in recorded.content.get("optimizers") or () if isinstance(one, Mapping)]
    known = [one[key] for one in optimizers for key in ("beta_1", "beta_2", "rho") if key in one]
    decays = [float(one) for one in known if isinstance(one, int | float) and 0 < one < 1]
    return 1.0 / (1.0 - max(decays, default=0.0 if optimizers else 0.999))


def scale_of(judge: Judge, index: Index, kind: str, step: int | None = None) -> float:
    """The largest magnitude of a kind of value, in one step or in all."""
    steps = index.steps() if step is None else [step]
    records = [record for one in steps for record in index.all(kind, one) if record.kept]
    return max((largest(judge.values.of(record)) for record in records), default=0.0)


def _softmax(value: Any) -> Any:
    powers = np.exp(value - np.max(value, axis=-1, keepdims=True)) if value.ndim else np.ones_like(value)
    return powers / np.sum(powers, axis=-1, keepdims=True) if value.ndim else powers


_ACTIVATIONS: tuple[Callable[[Any], Any], ...] = (
    lambda value: np.maximum(value, 0.0),
    lambda value: np.clip(value, 0.0, 6.0),
    lambda value: 1.0 / (1.0 + np.exp(-value)),
    np.tanh,
    _softmax,
    lambda value: np.where(value > 0, value, np.expm1(value)),
    lambda value: value / (1.0 + np.exp(-value)),
)


def _activated(tf1: Any, tf2: Any, allowed: Tolerance) -> bool:
    """Whether one of two layer outputs may be the other one after an activation."""
    if tf1.shape != tf2.shape or tf1.dtype.kind != "f" or tf2.dtype.kind != "f":
        return False
    with np.errstate(all="ignore"):
        for activation in _ACTIVATIONS:
            for first, second in ((activation(numeric(tf1)), numeric(tf2)), (numeric(tf1), activation(numeric(tf2)))):
                if measure(first, second, max(allowed.rtol, 1e-5), allowed.atol).passed:
                    return True
    return False
