"""The rungs of the ladder: a module each, found in this folder, in the order of their numbers.

The name of a module is what ``--until`` takes. ``NUMBER``, ``TITLE`` and ``COMPARED`` are plain texts, which are read
off its source: who asks for help may have no numpy. It is imported when something is to be recorded or judged.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from string import ascii_letters
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from ..climb import Climb, Settled

__all__ = ["ORACLE", "RUNGS", "VARIANTS", "Definition", "RungModule", "measured_by", "reached"]

ORACLE = "float64"
"""The rung that is climbed only where it is asked for."""
VARIANTS = ("device", "strategy", "precision")
"""Rungs of the TF2 side against itself in another setting, climbed where such a one is recorded."""


class RungModule(Protocol):
    """What a module of this folder holds beside its texts."""

    SCENARIOS: Mapping[str, Sequence[str]]
    """What both sides record for it, and for each scenario the other runs that measure its noise."""
    judge: Callable[[Climb], Settled]
    """Compares what was recorded."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A rung: its name, its number, what a report calls it, and what the documentation says of it."""

    name: str
    number: str
    title: str
    compared: str

    def module(self) -> RungModule:
        """The module of the rung, imported; that needs numpy."""
        return cast("RungModule", import_module(f"{__name__}.{self.name}"))


def reached(until: str | None) -> tuple[Definition, ...]:
    """The rungs up to one, given by number or name; all of them for None.

    Raises:
        ValueError: if there is no such rung.
    """
    if until is None:
        return RUNGS
    for at, rung in enumerate(RUNGS, 1):
        if until in (rung.number, rung.name):
            return RUNGS[:at]
    known = ", ".join(f"{rung.name} ({rung.number})" for rung in RUNGS)
    raise ValueError(f"there is no rung {until!r}; there are {known}")


def measured_by() -> dict[str, Sequence[str]]:
    """By scenario, the other runs that measure its noise."""
    return {scenario: runs for rung in RUNGS for scenario, runs in rung.module().SCENARIOS.items() if runs}


def _read(path: Path) -> Definition:
    said = {
        node.targets[0].id: str(node.value.value)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    return Definition(path.stem, said["NUMBER"], said["TITLE"], said["COMPARED"])


def _place(rung: Definition) -> tuple[int, str]:
    """In the ladder: ``3`` comes before ``3f``, and both before ``4``."""
    return int(rung.number.rstrip(ascii_letters)), rung.number


RUNGS = tuple(sorted(map(_read, Path(__file__).parent.glob("[!_]*.py")), key=_place))
"""From the first to the last."""
