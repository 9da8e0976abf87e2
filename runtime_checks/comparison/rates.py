"""The learning rates of both sides at steps that need not have been run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Record, Recorded
from .judging.judge import Judge
from .judging.measuring import measure
from .judging.pairing import Couple, Index
from .judging.tolerances import Tolerance
from .results import Deviation

__all__ = ["LATER", "Rates", "compare_rates"]

LATER = "steps-later"
"""What stands for a scenario in these comparisons: nothing is run for them."""

_RTOL = 1e-5
_ATOL = 1e-6
"""Of the largest rate: a schedule is computed in float32, and both sides need not do so in the same order."""


class Rates(NamedTuple):
    """The comparisons, and why others could not be made."""

    checks: list[Deviation]
    unknown: tuple[str, ...]


def compare_rates(judge: Judge, tf1: Recorded, tf2: Recorded) -> Rates:
    """Compare the learning rates by name, at every step at which both are known.

    Between two steps of a side that have the same rate it has that rate too: recorders look for the steps between them
    at which it jumps.
    """
    ones, others = (
        {str(row["name"]): row for row in side.content.get("rates") or () if isinstance(row, Mapping)}
        for side in (tf1, tf2)
    )
    checks: list[Deviation] = []
    unknown: list[str] = []
    for name in dict.fromkeys((*ones, *others)):
        rows = ones.get(name), others.get(name)
        for side, row in zip(("TF1", "TF2"), rows, strict=True):
            if row is None:
                unknown.append(f"{side} has no {name.replace('_', ' ')} that was seen")
            elif row.get("unknown"):
                unknown.append(f"{side}: {row['unknown']}")
        if rows[0] is not None and rows[1] is not None:
            run = [Index(side.scenario(scenarios.STEPS)) for side in (tf1, tf2)]
            checks += _compared(judge, name, rows[0], rows[1], run)
    return Rates(checks, tuple(unknown))


def _record(run: Index, name: str, step: int) -> Record:
    """What stands for a rate that was not recorded, made where that of the first step was."""
    first = run.find("learning_rate", name, 0)
    return Record("learning_rate", name, step, 0, "float32", (), first.place if first else None, {}, None, "")


def _compared(
    judge: Judge, name: str, one: Mapping[str, Any], two: Mapping[str, Any], run: Sequence[Index]
) -> list[Deviation]:
    found = []
    largest = max((abs(value) for row in (one, two) for value in row.get("values") or ()), default=0.0)
    for step in sorted({*(one.get("steps") or ()), *(two.get("steps") or ())}):
        values = _at(one, step), _at(two, step)
        if values[0] is None or values[1] is None:
            continue
        couple = Couple(_record(run[0], name, step), _record(run[1], name, step))
        usual = judge.tolerance(scenarios.STEPS, couple, scale=largest)
        allowed = Tolerance(max(usual.rtol, _RTOL), max(usual.atol, _ATOL * largest), usual.judged)
        measured = measure(np.asarray(values[0]), np.asarray(values[1]), allowed.rtol, allowed.atol)
        found.append(judge.deviation(LATER, couple, measured, allowed, allowed.judged, None))
    return found


def _at(row: Mapping[str, Any], step: int) -> float | None:
    """The rate of a step: as it was recorded, or that of the steps before and after where they have the same."""
    steps: Sequence[int] = row.get("steps") or ()
    values: Sequence[float] = row.get("values") or ()
    at = bisect_left(steps, step)
    if at == len(steps):
        return None
    if steps[at] == step or (at and values[at - 1] == values[at]):
        return values[at]
    return None
