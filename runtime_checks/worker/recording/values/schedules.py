"""Learning rates at steps that are never run: where a schedule is sampled, on either side."""

from __future__ import annotations

import math
from typing import Callable, Iterable

from ..format.rows import RateRow

__all__ = ["LAST", "constant", "sampled", "unknown"]

LAST = 10**6
"""The last step that is looked at."""
_STEPS = (0, *(factor * 10**power for power in range(6) for factor in (1, 3)), LAST)
_MOST = 1e300
"""What is larger, infinite or no number is not recorded."""
_EDGES = 4
"""How many steps at which a rate jumps are looked for between two of those."""


def sampled(name: str, rate: Callable[[int], float], more: Iterable[int] = ()) -> RateRow:
    """A rate at 0, 1, 3, 10, ... a million, and on both sides of the jumps that lie between.

    Args:
        name: of the record that has it in the steps that are run.
        rate: gives it for a training step, counted from 0.
        more: further steps.
    """
    known: dict[int, float] = {}

    def at(step: int) -> float:
        if step not in known:
            known[step] = float(rate(step))
        return known[step]

    steps = sorted({*_STEPS, *(step for step in more if 0 <= step <= LAST)})
    for one, other in zip(steps, steps[1:]):
        if not _same(at(one), at(other)):
            _find_jumps(at, one, other)
    finite = {step: value for step, value in sorted(known.items()) if abs(value) < _MOST}
    return {"name": name, "steps": list(finite), "values": list(finite.values()), "unknown": ""}


def constant(name: str, value: float) -> RateRow:
    """A rate that no step changes."""
    if not abs(value) < _MOST:
        return unknown(name, f"it is {value}")
    return {"name": name, "steps": [0, LAST], "values": [value, value], "unknown": ""}


def unknown(name: str, reason: str) -> RateRow:
    """A rate that only the steps themselves can tell."""
    return {"name": name, "steps": [], "values": [], "unknown": reason}


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _find_jumps(at: Callable[[int], float], first: int, last: int) -> None:
    """Look at both sides of the jumps between two steps; where a rate moves all the time there are none to find."""
    begin = first
    for _ in range(_EDGES):
        jump = _halved(at, begin, last, at(begin))
        if jump == begin + 1 or _same(at(jump), at(last)):
            break
        begin = jump
    if _same(at(last - 1), at(last)):  # it has come to rest
        _halved(lambda step: at(last - step), 0, last - first, at(last))


def _halved(at: Callable[[int], float], low: int, high: int, value: float) -> int:
    """A step before which the rate is that of the first one, and at which it is another."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _same(at(middle), value) else (low, middle)
    return high
