"""Climbs the rungs, each with what was compared for it and how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from .climb import FIRST, Climb, Settled
from .results import Rung
from .rungs import Definition

__all__ = ["climbed"]


def climbed(climb: Climb, rungs: Sequence[Definition]) -> tuple[Rung, ...]:
    """Every rung asked for; one that fails does not hide the rest."""
    for rung in sorted(rungs, key=lambda one: one.name != FIRST):
        climb.rungs[rung.name] = _settled(climb, rung)
    return tuple(Rung(rung.number, rung.name, rung.title, *climb.rungs[rung.name]) for rung in rungs)


def _settled(climb: Climb, rung: Definition) -> Settled:
    """How a rung ended, with a note on what it could not compare for want of room."""
    before = climb.judge.left_out
    settled = rung.module().judge(climb)
    left_out = climb.judge.left_out - before
    if not left_out:
        return settled
    many = "a tap or layer output was" if left_out == 1 else f"{left_out} taps and layer outputs were"
    return settled._replace(notes=(*settled.notes, f"{many} not compared: a side had no room (--tap-limit)"))
