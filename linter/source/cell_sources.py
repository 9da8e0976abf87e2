"""The sources of a notebook's cells in its JSON text, which is changed there and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from .reading import split_lines

_DECODER = json.JSONDecoder()
_BLANKS = " \t\n\r"


def with_sources(data: bytes, change: Mapping[int, Callable[[str], str]]) -> bytes:
    """A notebook with other sources of some cells, which count from 0 among all cells; the rest is kept byte for byte.

    A line of a source that stays as it is keeps its spelling, too.

    Args:
        data: the notebook.
        change: by cell, what makes the new source of the old one, each as one text.

    Raises:
        ValueError: if a cell has no source, or if the text cannot be written as it was read.
    """
    encoding = json.detect_encoding(data)
    text = data.decode(encoding)
    if text.encode(encoding) != data:
        raise ValueError(f"its text cannot be written back in {encoding} as it is")
    cells = [*_cells(text)]
    parts, done = [], 0
    for number in sorted(change):
        if number >= len(cells) or cells[number] is None:
            raise ValueError(f"cell {number} has no source")
        begin, end = cells[number] or (0, 0)
        parts += [text[done:begin], _changed(text, begin, end, change[number])]
        done = end
    return "".join([*parts, text[done:]]).encode(encoding)


def _changed(text: str, begin: int, end: int, change: Callable[[str], str]) -> str:
    ascii_only = text.isascii()
    if text[begin] == '"':
        return json.dumps(change(_DECODER.raw_decode(text, begin)[0]), ensure_ascii=ascii_only)
    items = [*_items(text, begin)]
    written = {_DECODER.raw_decode(text, at)[0]: text[at:stop] for at, stop in items}
    lines = [line for line in split_lines(change("".join(_DECODER.raw_decode(text, at)[0] for at, _ in items))) if line]
    if not items:
        return json.dumps(lines, ensure_ascii=ascii_only)
    opening = text[begin : items[0][0]]
    between = text[items[0][1] : items[1][0]] if len(items) > 1 else "," + (opening[1:] or " ")
    shown = (written.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in lines)
    return opening + between.join(shown) + text[items[-1][1] : end]


def _cells(text: str) -> Iterator[tuple[int, int] | None]:
    """Where the source of each cell stands; up to nbformat 3 cells are spread over worksheets, with an input each."""
    top = dict(_members(text, _next(text, 0)))
    if "cells" in top or "worksheets" not in top:
        lists = [top["cells"][0]] if "cells" in top else []
    else:
        sheets = (dict(_members(text, at)) for at, _ in _items(text, top["worksheets"][0]))
        lists = [sheet["cells"][0] for sheet in sheets]
    for begin in lists:
        for at, _ in _items(text, begin):
            members = dict(_members(text, at))
            yield members.get("source", members.get("input"))


def _members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The names in an object that begins somewhere, with where their values begin and end."""
    at = _next(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _next(text, _next(text, at) + 1)  # past the colon
        end = _DECODER.raw_decode(text, at)[1]
        yield name, (at, end)
        at = _next(text, end)
        at = _next(text, at + 1) if text[at] == "," else at


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the items of an array begin and end."""
    at = _next(text, at + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        yield at, end
        at = _next(text, end)
        at = _next(text, at + 1) if text[at] == "," else at


def _next(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        at += 1
    return at
