"""Where a finding's line is in the file as a server shows it: a notebook is a JSON text to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ..finding import Finding
from ..result import Result
from ..source.reading import read_bytes

_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]|[^\s\[\]{},":]+', re.S)
_DEEPEST = 7
"""Containers that are looked at; a line of source is in six at most."""


class RawLines:
    """The first and last line of findings, each notebook read once."""

    def __init__(self, result: Result) -> None:
        self.sources = result.sources
        self.notebooks: dict[str, dict[tuple[int, int], int]] = {}

    def __call__(self, finding: Finding) -> tuple[int, int]:
        """1-based; of a cell that is not found in the file, its first line."""
        if finding.cell is None:
            return finding.line, finding.end_line
        if finding.path not in self.notebooks:
            self.notebooks[finding.path] = self._lines(finding.path)
        lines = self.notebooks[finding.path]
        first = lines.get((finding.cell, finding.line), 1)
        return first, max(lines.get((finding.cell, finding.end_line), first), first)

    def _lines(self, path: str) -> dict[tuple[int, int], int]:
        name, data = self.sources.get(path, (path, None))
        try:
            data = read_bytes(Path(name)) if data is None else data
            return dict(cell_lines(data.decode(json.detect_encoding(data))))
        except (OSError, ValueError, IndexError):
            return {}


def cell_lines(text: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Cell and line within it, with the line of the JSON text that holds it.

    Cells count from 0 and lines from 1. A source that is one string stands on one line.
    Up to nbformat 3 cells are spread over worksheets, and a source is called an input.

    Raises:
        ValueError, IndexError: if the text is not JSON.
    """
    stack: list[_Open] = []
    number, counted = 1, 0
    cells, cell, line = 0, -1, 1
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token in "[{":
            cells += token == "{" and _is_cells([container.at for container in stack[:_DEEPEST]])
            stack.append(_Open(token == "["))
        elif token in "]}":
            stack.pop()
        elif token == ",":
            stack[-1].step()
        elif token[0] == '"' and stack:
            if stack[-1].at is None:
                stack[-1].at = json.loads(token)
                continue
            if not _is_source([container.at for container in stack[:_DEEPEST]]):
                continue
            number += text.count("\n", counted, match.start())
            counted = match.start()
            if cell != cells - 1:
                cell, line = cells - 1, 1
            ends = json.loads(token).replace("\r\n", "\n").replace("\r", "\n").count("\n")
            yield from (((cell, line + offset), number) for offset in range(ends + 1))
            line += ends


def _is_cells(where: list[str | int | None]) -> bool:
    """Whether an element of the notebook's list of cells, or of a worksheet's, is there."""
    return where[:-1] == ["cells"] or (len(where) == 4 and (where[0], where[2]) == ("worksheets", "cells"))


def _is_source(where: list[str | int | None]) -> bool:
    """Whether the source of a cell is there, or one of its lines."""
    return any(_is_cells(where[:end]) and where[end] in {"source", "input"} for end in (-2, -1) if len(where) >= -end)


class _Open:
    """A container that is being read, and the key or index of what is read in it."""

    def __init__(self, is_list: bool) -> None:
        self.is_list = is_list
        self.at: str | int | None = 0 if is_list else None

    def step(self) -> None:
        """Go on to the next element."""
        self.at = self.at + 1 if isinstance(self.at, int) else None
