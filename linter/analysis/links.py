"""What a file's code leads to in its project, as rows of plain numbers.

`Links` are made from a file's summary once all names in it are resolved; they hold for as long as the file and the
structure of the project stay as they are, whatever the code of other files does.
They are JSON: the rows of one type lie in one list, cell after cell, and `rows` is the one way to read them.
In a row a file, a name, a reason, a shape and the effects of a condition stand for their index in the file's links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypedDict, TypeVar

CALL, READ, ENTER, MAKE = range(4)
"""The `CallRow.kind`: a call of a function; an attribute that is read and is a property; a method that runs when an
instance is called or a class is constructed; the construction of a class."""

NOTHING = -1
"""Stands in a row for what it does not have."""

NO_PARAMETER = -1000
"""Stands for the position of a parameter that the function does not have."""

Row = TypeVar("Row", bound=NamedTuple)


class CallRow(NamedTuple):
    """Code of `caller` leads to a function or class."""

    caller: int
    line: int
    effects: int
    shape: int
    kind: int
    file: int
    scope: int


class SlotRow(NamedTuple):
    """A parameter of `function` is called."""

    caller: int
    line: int
    effects: int
    function: int
    name: int


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


class OnceRow(NamedTuple):
    """A function is given to what keeps the result of its first call."""

    file: int
    scope: int


class WrapRow(NamedTuple):
    """A function is decorated by one of the project, whose first parameter has this name."""

    scope: int
    file: int
    decorator: int
    name: int


class RootRow(NamedTuple):
    """A function runs by itself; with `unless_once`, only if it is in no `OnceRow`."""

    scope: int
    context: int
    reason: int
    unless_once: int


ROW_TYPES: tuple[type[NamedTuple], ...] = (CallRow, SlotRow, PassRow, OnceRow, WrapRow, RootRow)


class OpenEffects(NamedTuple):
    """The effects of a condition that depends on the code of other files, too."""

    effects: int
    managers: list[int]
    """Files of context managers."""
    absent: list[tuple[int, int, str]]
    """Parameters that a caller must leave away: function, position, name."""


class Links(TypedDict):
    """One file."""

    files: list[str]
    """Those that the rows speak of; the file itself comes first."""
    names: list[str]
    """Of parameters."""
    reasons: list[str]
    shapes: list[list[Any]]
    """The `summary.CallEdge.shape` of calls."""
    effects: list[Any]
    """Of each of the file's conditions: a number, or a list as in `OpenEffects`."""
    owners: dict[str, int]
    """The function or module in which the body of a class runs that calls something."""
    rows: dict[str, list[int]]
    """By the names of the `ROW_TYPES`."""
    entries: dict[str, str]
    """Marks of decorated functions, see `execution_context.entered`."""
    v1_calls: dict[str, list[str]]
    uses: list[str]
    """Absolute names of what is public."""


def rows(kind: type[Row], cells: Iterable[int]) -> Iterator[Row]:
    """The rows of one type."""
    source = iter(cells)
    return map(kind._make, zip(*[source] * len(kind._fields), strict=True))
