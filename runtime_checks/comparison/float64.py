"""Values of both sides that were computed in float64: what differs there is no rounding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Record, Recorded
from .judging.judge import Judge
from .judging.measuring import apart, largest, measure
from .judging.pairing import Couple, Index, couples
from .judging.tolerances import Tolerance, epsilon
from .results import Deviation, Rounding
from .wording import figure, label, subject

__all__ = ["Float64", "Key", "compare_float64"]

Key = tuple[str, str, str]
"""The scenario of the TF2 side in which the program itself computed a value, its kind, and its name on TF1."""

_RELATIVE = 1e-9
"""Of the largest number of a value."""
_OF_KIND = 1e-12
"""Of the largest number of its kind: the gradient of a bias before batch normalization is nothing but rounding."""
_FACTOR = 3.0
"""How often what the rounding of constants changes is tolerated."""
_WORSE = 16.0
"""One side is told to be less exact where it rounds by so many times more."""
_AS_IT_IS = {
    scenarios.FLOAT64_INFERENCE: (scenarios.INFERENCE_COPIED, scenarios.INFERENCE),
    scenarios.FLOAT64_TRAINING: (scenarios.ALIGNED,),
    scenarios.FLOAT64_STEP: (scenarios.STEPS,),
}
"""Where the programs computed the same by themselves."""


class Float64(NamedTuple):
    """What was compared, what there is to say of it, and those values of the programs that float64 proves equal."""

    checks: tuple[Deviation, ...] = ()
    notes: tuple[str, ...] = ()
    proven: dict[Key, Deviation] = {}


def compare_float64(judge: Judge, tf1: Recorded, tf2: Recorded) -> Float64:
    """Compare what both sides recorded in float64: nothing where they did not."""
    checks: list[Deviation] = []
    notes: list[str] = []
    proven: dict[Key, Deviation] = {}
    for name, plain in _AS_IT_IS.items():
        both = tf1.scenario(name), tf2.scenario(name)
        if any(one.outcome != "ok" for one in both):
            continue
        found = couples(Index(both[0]), Index(both[1]), 0, judge.names)
        own = list(_checked(judge, name, [one for one in found if one.tf1 and one.tf2], _Programs(judge, tf1, tf2, plain)))
        checks += own
        notes += _told(own)
        proven.update({(scenario, one.kind, one.tf1_name): one for one in own if one.passed for scenario in plain})
    return Float64(tuple(checks), tuple(dict.fromkeys(notes)), proven)


class _Programs:
    """What the programs computed by themselves, where float64 was computed as well."""

    def __init__(self, judge: Judge, tf1: Recorded, tf2: Recorded, plain: Sequence[str]) -> None:
        self._judge = judge
        ran = [name for name in plain if tf2.scenario(name).outcome == "ok"] or list(plain)
        of_tf1 = scenarios.INFERENCE if ran[0] == scenarios.INFERENCE_COPIED else ran[0]
        self._indexes = Index(tf1.scenario(of_tf1)), Index(tf2.scenario(ran[0]))

    def rounding(self, couple: Couple, first: Any, second: Any) -> Rounding | None:
        """How far both sides are from float64, `first` and `second`; None where one of them did not keep its value."""
        records = [
            index.find(wide.kind, wide.name, wide.step)
            for index, wide in zip(self._indexes, (couple.tf1, couple.tf2), strict=True)
            if wide is not None
        ]
        if any(record is None or not record.kept for record in records):
            return None
        one, other = (record for record in records if record is not None)
        arrays = self._judge.turned(one), self._judge.values.of(other)
        if any(array.shape != first.shape or array.dtype.kind not in "fc" for array in arrays) or not first.size:
            return None
        figures = (apart(arrays[0], first), apart(arrays[1], second), apart(*arrays))
        return Rounding(*(float(np.max(figure_of)) for figure_of in figures))


def _checked(judge: Judge, scenario: str, found: Sequence[Couple], programs: _Programs) -> Iterator[Deviation]:
    values = [(judge.turned(one.tf1), judge.values.of(one.tf2)) for one in found if one.tf1 and one.tf2]
    sizes: dict[str, float] = {}
    for couple, pair in zip(found, values, strict=True):
        sizes[couple.known.kind] = max(sizes.get(couple.known.kind, 0.0), *map(largest, pair))
    for couple, pair in zip(found, values, strict=True):
        bound = _RELATIVE * max(map(largest, pair)) + _OF_KIND * sizes[couple.known.kind]
        constants = _FACTOR * max(map(_moved, (couple.tf1, couple.tf2)))
        counts = couple.counts and not (judge.without_losses and couple.known.kind == "regularization")
        measured = measure(*pair, 0.0, bound + constants)
        check = judge.deviation(scenario, couple, measured, Tolerance(0.0, bound + constants), counts, None)
        rounding = programs.rounding(couple, *pair) if pair[0].shape == pair[1].shape else None
        if rounding is not None:
            rounding = replace(rounding, constants=check.passed and check.error > bound)
        yield replace(check, rounding=rounding)


def _moved(record: Record | None) -> float:
    """How far a value moves with the rounding of constants."""
    return 0.0 if record is None else float(record.more.get("moved") or 0.0)


def _told(checks: Sequence[Deviation]) -> Iterator[str]:
    """Of each kind of value the one that float32 shows farthest apart, in units of what it rounds."""
    kinds: dict[str, list[Deviation]] = {}
    for check in checks:
        if check.counts and check.rounding is not None and not check.problem:
            kinds.setdefault(check.kind, []).append(check)
    for own in kinds.values():
        worst = max(own, key=lambda check: (not check.passed, check.rounding.apart if check.rounding else 0.0))
        found = worst.rounding
        if found is None or not (found.apart or found.tf1 or found.tf2):
            continue
        words = (
            f"{label(worst.scenario)}, {subject(worst)}: of float64 TF1 is {figure(found.tf1)} off, TF2 "
            f"{figure(found.tf2)}; they differ by {figure(found.apart)}, in float64 by {figure(worst.error)}"
        )
        if not worst.passed and max(found.tf1, found.tf2):
            words += f", {figure(worst.error / max(found.tf1, found.tf2))} x what float32 rounds"
        yield words
        if found.constants:
            yield f"{label(worst.scenario)}, {subject(worst)}: in float64 no more than what rounding constants makes"
        yield from _less_exact(worst, found)


def _less_exact(check: Deviation, found: Rounding) -> Iterator[str]:
    sides = sorted([(found.tf1, "TF1"), (found.tf2, "TF2")])
    usual = epsilon("float32") * max(abs(check.tf1_value), abs(check.tf2_value))
    if check.passed and sides[1][0] > _WORSE * max(sides[0][0], usual):
        yield f"{label(check.scenario)}, {subject(check)}: {sides[1][1]} computes it by a formula that rounds more"
