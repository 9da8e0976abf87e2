"""How wide text is on a terminal, and lines that fit into one."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["columns", "wrapped"]

_HANGING = 4
_NARROWEST = 30
"""Columns; what is narrower is left to the terminal."""
_STYLE = re.compile(r"\x1b\[[\d;]*m")


def columns(text: str) -> int:
    """How many columns of a terminal a text takes; a style takes none, nor does a mark above or below a letter."""
    text = _STYLE.sub("", text)
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(line: str, width: int) -> Iterator[str]:
    """The line as lines of at most `width` columns, broken at blanks; a longer word stays whole.

    What goes on is indented as the line is, and that of a line without an indent by four.
    """
    width = max(width, _NARROWEST)
    if columns(line) <= width:
        yield line
        return
    body = line.lstrip(" ")
    indent = len(line) - len(body)
    hanging = " " * (indent or _HANGING)
    first, *words = body.split(" ")
    current, taken = " " * indent + first, indent + columns(first)
    for word in words:
        if taken + 1 + (more := columns(word)) > width:
            yield current
            current, taken = hanging + word, len(hanging) + more
        else:
            current, taken = f"{current} {word}", taken + 1 + more
    yield current
