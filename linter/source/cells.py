"""Where each line and column of a notebook's module stands in its cells, and back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..finding import Edit, Finding, Fix


@dataclass(frozen=True, slots=True)
class Change:
    """In `line` of the module, what stands from `start` to `end` is from `cell_start` to `cell_end` in the cell's line.

    Columns are 1-based, ends exclusive.
    """

    line: int
    start: int
    end: int
    cell_start: int
    cell_end: int


@dataclass(frozen=True)
class CellMap:
    """From the module's text to cells and back.

    ``cells`` are the index of each code cell among all cells and the line of the module where it begins.
    """

    cells: tuple[tuple[int, int], ...]
    changes: tuple[Change, ...] = ()
    _by_line: Mapping[int, list[Change]] = field(init=False, repr=False, compare=False)
    _first_lines: Mapping[int | None, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_line: dict[int, list[Change]] = {}
        for change in self.changes:
            by_line.setdefault(change.line, []).append(change)
        object.__setattr__(self, "_by_line", by_line)
        object.__setattr__(self, "_first_lines", dict(reversed(self.cells)))

    def to_json(self) -> list[Any]:
        """Lists and numbers only."""
        changes = [[c.line, c.start, c.end, c.cell_start, c.cell_end] for c in self.changes]
        return [[list(cell) for cell in self.cells], changes]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> CellMap:
        """The inverse of `to_json`."""
        cells, changes = data
        return cls(tuple((index, first) for index, first in cells), tuple(Change(*numbers) for numbers in changes))

    def place(self, line: int, column: int, is_end: bool = False) -> tuple[int | None, int, int]:
        """The cell, line and column of a position in the module; an end within a change is the change's end."""
        number = bisect_right(self.cells, line, key=lambda cell: cell[1]) - 1
        if number < 0:
            return None, line, column
        index, first = self.cells[number]
        return index, line - first + 1, self._column(line, column, is_end)

    def _column(self, line: int, column: int, is_end: bool) -> int:
        for change in reversed(self._by_line.get(line, ())):
            if column >= change.end and column >= change.start:
                return column - change.end + change.cell_end
            if column >= change.start:
                return change.cell_end if is_end and column > change.start else change.cell_start
        return column

    def located(self, finding: Finding) -> Finding:
        """A finding of the module as one of a cell."""
        cell, line, column = self.place(finding.line, finding.column)
        _, _, end_column = self.place(finding.end_line, finding.end_column, is_end=True)
        end_line = line + finding.end_line - finding.line
        fix = None if finding.fix is None else self._located_fix(finding.fix, cell)
        return replace(finding, cell=cell, line=line, column=column, end_line=end_line, end_column=end_column, fix=fix)

    def _located_fix(self, fix: Fix, cell: int | None) -> Fix | None:
        """A fix in the lines of a cell; None if it edits another cell, or what stands for a magic."""
        edits = []
        for edit in fix.edits:
            begin, end = self.place(edit.line, edit.column), self.place(edit.end_line, edit.end_column, is_end=True)
            touched = range(edit.line, edit.end_line + 1)
            if {begin[0], end[0]} != {cell} or any(
                (edit.line, edit.column) <= (change.line, change.end)
                and (change.line, change.start) <= (edit.end_line, edit.end_column)
                for line in touched
                for change in self._by_line.get(line, ())
            ):
                return None
            edits.append(Edit(*begin[1:], *end[1:], edit.text))
        return replace(fix, edits=tuple(edits))

    def in_module(self, finding: Finding) -> Finding:
        """A finding of a cell as one of the module: the inverse of `located`."""
        first = self._first_lines.get(finding.cell)
        if first is None:
            return finding
        line, end_line = finding.line + first - 1, finding.end_line + first - 1
        return replace(
            finding,
            cell=None,
            line=line,
            column=self._module_column(line, finding.column),
            end_line=end_line,
            end_column=self._module_column(end_line, finding.end_column),
        )

    def _module_column(self, line: int, column: int) -> int:
        for change in reversed(self._by_line.get(line, ())):
            if column >= change.cell_end:
                return column - change.cell_end + change.end
            if column >= change.cell_start:
                return change.start
        return column


@dataclass(frozen=True)
class Notebook:
    """What a `SourceFile` is told of the notebook that its text was made of.

    ``texts`` are the lines of each code cell as its author wrote them, by index among all cells;
    ``problems`` are findings, placed in the module, about cells that could not be parsed.
    """

    places: CellMap
    texts: Mapping[int, list[str]]
    problems: tuple[Finding, ...] = ()
