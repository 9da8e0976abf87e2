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
from .wording import figure, label, some, subject

__all__ = ["Float64", "Key", "compare_float64"]

Key = tuple[str, str, str]
"""The scenario of the TF2 side in which the program itself computed a value, its kind, and its name on TF1."""

_RELATIVE = 1e-10
"""Of the largest number of a value: equal programs were seen to differ by 1e-14 of it, where sums cancel."""
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
_ALIKE = {
    scenarios.FLOAT64_INFERENCE: (scenarios.CONSTANT, scenarios.FINGERPRINT),
    scenarios.FLOAT64_TRAINING: (scenarios.TRAINING, scenarios.TRAINING_CONSTANT),
}
"""Where they did so from other numbers: what is rounded grows with these."""


class Float64(NamedTuple):
    """What was compared, and what there is to say of it.

    `proven` are those values of the programs that float64 proves equal, `alike` the same from other numbers, and
    `apart` those that differ in float64 as well. `left` says which gradients one side alone gives.
    """

    checks: tuple[Deviation, ...]
    notes: tuple[str, ...]
    proven: dict[Key, Deviation]
    alike: dict[Key, Deviation]
    apart: dict[Key, Deviation]
    left: tuple[str, ...]


def compare_float64(judge: Judge, tf1: Recorded, tf2: Recorded) -> Float64:
    """Compare what both sides recorded in float64: nothing where they did not."""
    checks: list[Deviation] = []
    proven: dict[Key, Deviation] = {}
    alike: dict[Key, Deviation] = {}
    differ: dict[Key, Deviation] = {}
    left: list[str] = []
    for name, plain in _AS_IT_IS.items():
        both = tf1.scenario(name), tf2.scenario(name)
        if any(one.outcome != "ok" for one in both):
            continue
        indexes = Index(both[0]), Index(both[1])
        found = couples(*indexes, 0, judge.names)
        whole = [one for one in found if one.tf1 and one.tf2]
        left += _left(name, indexes)
        own = list(_checked(judge, name, whole, _Programs(judge, tf1, tf2, plain)))
        checks += own
        for places, passed, kept in (
            (plain, True, proven),
            (_ALIKE.get(name, ()), True, alike),
            (plain, False, differ),
        ):
            of_both = [one for one in own if one.passed is passed and one.rounding is not None]
            kept.update({(place, one.kind, one.tf1_name): one for one in of_both for place in places})
    return Float64(tuple(checks), tuple(_told(checks)), proven, alike, differ, tuple(left))


def _left(scenario: str, both: tuple[Index, Index]) -> Iterator[str]:
    """Says so where one side alone gives gradients, as where the other assigns what nobody sees."""
    given = [side for side, index in zip(("TF1", "TF2"), both, strict=True) if index.all("gradient", 0)]
    if len(given) == 1:
        yield f"gradients of {label(scenario)} (only {given[0]} gives them)"


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
        errors = apart(arrays[0], first), apart(arrays[1], second), apart(*arrays)
        own, other_own, between = (float(np.max(error)) for error in errors)
        return Rounding(own, other_own, between, largest(first))


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
    """What differs first, or of what agrees that which float32 shows farthest apart, in units of what it rounds."""
    known = [check for check in checks if check.counts and check.rounding is not None and not check.problem]
    failed = [check for check in known if not check.passed]
    worst = failed[0] if failed else max(known, key=_seen, default=None)
    if worst is None or worst.rounding is None:
        return
    found = worst.rounding
    words = (
        f"{subject(worst)}, {label(worst.scenario)}: TF1 is {figure(found.tf1)} off, TF2 {figure(found.tf2)}; they "
        f"differ by {figure(found.apart)}, in float64 by {figure(worst.error)}"
    )
    if found.most and not worst.passed:
        words += f", {figure(worst.error / found.most)} x what float32 rounds"
    yield words
    constants = {subject(check) for check in known if check.rounding is not None and check.rounding.constants}
    if constants:
        yield f"{some(sorted(constants))}: in float64 no more apart than constants that are rounded otherwise make it"
    less = [(check, side) for check, side in map(_less_exact, known) if side]
    for side in sorted({side for _, side in less}):
        names = some(list(dict.fromkeys(subject(check) for check, own in less if own == side)))
        yield f"{names}: float32 is far less exact on the {side} side"


def _seen(check: Deviation) -> float:
    """How far float32 shows a value apart, for its size."""
    return 0.0 if check.rounding is None else check.rounding.apart / max(abs(check.tf1_value), 1e-30)


def _less_exact(check: Deviation) -> tuple[Deviation, str]:
    """A value that agrees, and the side whose float32 is far less exact, if there is one."""
    found = check.rounding
    if found is None or not check.passed:
        return check, ""
    (less, _), (more, side) = sorted([(found.tf1, "TF1"), (found.tf2, "TF2")])
    usual = epsilon("float32") * max(abs(check.tf1_value), abs(check.tf2_value))
    return check, side if more > _WORSE * max(less, usual) else ""
