"""What a file's code leads to in its project, as rows of plain numbers.

`Links` are made from a file's summary once all names in it are resolved; they hold for as long as the file and the
structure of the project stay as they are, whatever the code of other files does.
In a row a file, a name, a shape and the effects of a condition stand for their index in the file's links.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypedDict, TypeVar

NOTHING = -1
"""Stands in a row for what it does not have."""

NO_PARAMETER = -1000
"""Stands for the position of a parameter that the function does not have."""

OMITTED, GIVEN, MAYBE = "-", "+", "?"
"""What a call gives a parameter, where it is no literal, whose JSON text stands for it: nothing, something that is
known to be none, and one or the other."""

Row = TypeVar("Row", bound=NamedTuple)


class CallKind(IntEnum):
    """How code leads to a function or class."""

    CALL = 0
    READ = 1
    """It is a property."""
    ENTER = 2
    """It is a method that runs when an instance is called or a class is constructed."""
    MAKE = 3
    """It is a class that is constructed."""


class CallRow(NamedTuple):
    """Code of `caller` leads to a function or class."""

    caller: int
    line: int
    effects: int
    shape: int
    kind: int
    file: int
    scope: int
    via: int
    """The name by which a function is called that may run what it was given; see `callbacks`."""


class SlotRow(NamedTuple):
    """A parameter `name` of `function` is called or given on; the last three cells are those of a `PassRow`."""

    caller: int
    line: int
    effects: int
    function: int
    name: int
    taker_file: int
    taker: int
    taker_name: int


class PassRow(NamedTuple):
    """A function (`file` and `scope`) is given to a call.

    Either to the parameter `name` of a function of the project, or to something public, which runs it in its own way:
    then `taker_file` is `NOTHING` and `taker` is a transfer.
    """

    caller: int
    line: int
    effects: int
    file: int
    scope: int
    taker_file: int
    taker: int
    name: int
    kept: int
    """The name that is assigned what the call returns."""
    is_partial: bool


class DefaultRow(NamedTuple):
    """A function (`file` and `function`) is the default of a parameter of the function `scope`."""

    scope: int
    line: int
    file: int
    function: int
    name: int
    position: int


class NestRow(NamedTuple):
    """A function stands in another one or in a class."""

    scope: int
    outer: int


class ReturnRow(NamedTuple):
    """A function returns one of its parameters."""

    scope: int
    name: int


class ResultRow(NamedTuple):
    """Code of `caller` calls what a function returns, itself or through another one that it returns the value of."""

    caller: int
    effects: int
    file: int
    scope: int


class OnceRow(NamedTuple):
    """A function is given to what keeps the result of its first call."""

    file: int
    scope: int


class WrapRow(NamedTuple):
    """A function is decorated by one of the project, to whose parameter `name` it is given; the outermost first."""

    scope: int
    file: int
    decorator: int
    name: int


class RootRow(NamedTuple):
    """A function runs by itself; with `unless_once`, only if it is in no `OnceRow`. The reason is a name."""

    scope: int
    context: int
    reason: int
    unless_once: bool = False


class Asked(NamedTuple):
    """What a caller must give for a parameter: see `summary.conditions`."""

    function: int
    position: int
    name: str
    how: str
    literal: str
    default: str

    def may_be(self, given: str) -> bool:
        """Whether it may be so for what a call gives."""
        text = self.default if given == OMITTED else given
        if text == MAYBE:
            return True
        if text == GIVEN:  # what takes the place of None is hardly ever false
            return not (self.default == "null" and (self.how == "false" or (self.how, self.literal) == ("is", "null")))
        if self.how in ("true", "false"):
            return bool(json.loads(text)) is (self.how == "true")
        if self.how in ("==", "!="):
            return bool(json.loads(text) == json.loads(self.literal)) is (self.how == "==")
        return (text == self.literal) is (self.how == "is")


class OpenEffects(NamedTuple):
    """The effects of a condition that depends on the code of other files, too."""

    outer: int
    """The condition around it, whose effects come to these."""
    effects: int
    managers: list[int]
    """Files of context managers."""
    asked: list[Asked]


class Links(TypedDict):
    """One file."""

    files: list[str]
    """Those that the rows speak of; the file itself comes first."""
    names: list[str]
    """Of parameters, and reasons why a root is one."""
    shapes: list[list[Any]]
    """The `summary.CallEdge.shape` of calls."""
    effects: list[Any]
    """Of each of the file's conditions, after the one around it: a number, or a list as in `OpenEffects`."""
    owners: dict[str, int]
    """The function or module in which the body of a class runs that calls something."""
    rows: list[list[int]]
    """See `cells_of`."""
    entries: dict[str, str]
    """Marks of decorated functions, see `execution_context.entered`."""
    v1_calls: dict[str, list[str]]
    uses: list[str]
    """Absolute names of what is public."""


_ROW_TYPES: tuple[type[NamedTuple], ...] = (
    CallRow, SlotRow, PassRow, DefaultRow, NestRow, ReturnRow, ResultRow, OnceRow, WrapRow, RootRow,
)  # fmt: skip


def cells_of(found: Iterable[NamedTuple]) -> list[list[int]]:
    """The cells of all rows, one after the other, in a list for each type of row."""
    cells: dict[type, list[int]] = {kind: [] for kind in _ROW_TYPES}
    for row in found:
        cells[type(row)] += row
    return list(cells.values())


class Rows:
    """Rows that are kept as arrays of their cells."""

    __slots__ = ("_cells",)

    def __init__(self, cells: Iterable[Iterable[int]]) -> None:
        self._cells = tuple(array("i", part) for part in cells)

    def moved_to(self, other: Rows) -> dict[int, int] | None:
        """For rows that are the same but for their lines, in the same order: which line each one has become."""
        moved: dict[int, int] = {}
        for kind, own, others in zip(_ROW_TYPES, self._cells, other._cells, strict=True):
            width = len(kind._fields)
            for place, name in enumerate(kind._fields):
                before, after = own[place::width], others[place::width]
                if name == "line" and len(before) == len(after):
                    if any(moved.setdefault(line, now) != now for line, now in zip(before, after, strict=True)):
                        return None
                elif before != after:
                    return None
        places = [now for _, now in sorted(moved.items())]
        return moved if all(one < next_one for one, next_one in pairwise(places)) else None

    def of(self, kind: type[Row]) -> Iterator[Row]:
        """The rows of one type."""
        cells = iter(self._cells[_ROW_TYPES.index(kind)])
        return named(kind, zip(*[cells] * len(kind._fields), strict=True))


def named(kind: type[Row], rows: Iterable[Iterable[Any]]) -> Iterator[Row]:
    """Rows by the names of their cells: what `NamedTuple._make` does, in a third of the time."""
    return map(partial(tuple.__new__, kind), rows)
