"""Climbs the rungs, each with what was compared for it and how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from .climb import FIRST, Climb, Settled
from .results import Rung, Status
from .rungs import Definition
from .wording import some

__all__ = ["climbed"]

_FROM_EQUAL_WEIGHTS = ("constant", "fingerprint", "random", "step", "float64", "steps", "evaluation")
"""Rungs that say nothing of a model whose weights cannot be given the values of the other side."""


def climbed(climb: Climb, rungs: Sequence[Definition]) -> tuple[Rung, ...]:
    """Every rung asked for; one that fails does not hide the rest."""
    for rung in sorted(rungs, key=lambda one: one.name != FIRST):
        climb.rungs[rung.name] = _settled(climb, rung)
    return tuple(Rung(rung.number, rung.name, rung.title, *climb.rungs[rung.name][:-1]) for rung in rungs)


def _settled(climb: Climb, rung: Definition) -> Settled:
    """How a rung ended, with notes on what it could not compare."""
    if climb.untouched and rung.name in _FROM_EQUAL_WEIGHTS:
        return Settled(Status.NOT_RUN, climb.untouched)
    before, known = climb.judge.left_out, set(climb.judge.lost)
    settled = rung.module().judge(climb)
    left_out, lost = climb.judge.left_out - before, sorted(climb.judge.lost - known)
    notes = []
    if left_out:
        many = "a tap or layer output was" if left_out == 1 else f"{left_out} taps and layer outputs were"
        notes.append(f"{many} not compared: a side had no room (--tap-limit)")
    if lost:
        notes.append(f"not compared: {some(lost)}, of which both sides recorded a part, and not the same one")
    return settled._replace(notes=(*settled.notes, *notes)) if notes else settled
