"""Texts and edits: what differs between two texts, and a text with edits applied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..finding import Edit
from ..source.reading import split_lines

_TOKEN = re.compile(r"\w+|\n|[^\S\n]+|[^\w\s]")
_MOST_TOKENS = 2_000
"""Of what differs; comparing more takes the square of it, and is one edit."""


def edits_between(before: str, after: str, line: int = 1, column: int = 1) -> tuple[Edit, ...]:
    """The edits that make one text of another, word by word; `before` begins at a line and column, both 1-based."""
    from difflib import SequenceMatcher

    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    middle, wanted = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(middle), len(wanted)) > _MOST_TOKENS:
        changes = [(0, len(middle), 0, len(wanted))]
    else:
        codes = SequenceMatcher(None, middle, wanted, autojunk=False).get_opcodes()
        changes = [(i, j, m, n) for kind, i, j, m, n in codes if kind != "equal"]
    places = [*_places(old, line, column)]
    edits = []
    for first, last, first_new, last_new in changes:
        begin, stop = places[start + first], places[start + last]
        edits.append(Edit(*begin, *stop, "".join(wanted[first_new:last_new])))
    return tuple(edits)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _places(tokens: Iterable[str], line: int, column: int) -> Iterator[tuple[int, int]]:
    """Where each token begins, and where the last one ends."""
    for token in tokens:
        yield line, column
        line, column = (line + 1, 1) if token == "\n" else (line, column + len(token))
    yield line, column


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text, whose line ends may be of any kind, with all edits, which do not overlap.

    Raises:
        ValueError: if an edit lies outside the text or overlaps another one.
    """
    lines = split_lines(text)
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:
        if not (1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) - len(ends[line - 1]) + 1):
            raise ValueError(f"there is no line {line}, column {column}")
        return starts[line - 1] + column - 1

    parts, done = [], 0
    for edit in sorted(edits, key=position):
        begin, end = offset(edit.line, edit.column), offset(edit.end_line, edit.end_column)
        if not done <= begin <= end:
            raise ValueError(f"two edits of line {edit.line} overlap")
        line_end = ends[edit.line - 1] or ends[0] or "\n"
        parts += [text[done:begin], edit.text.replace("\n", line_end)]
        done = end
    return "".join([*parts, text[done:]])


def moved(text: str, edits: Iterable[Edit], line: int, column: int) -> tuple[int, int]:
    """Where a place of the text is once all edits are applied; one that is replaced is where its edit begins."""
    begun = [edit for edit in edits if (edit.line, edit.column) < (line, column)]
    ends = [edit for edit in begun if (edit.end_line, edit.end_column) > (line, column)]
    until = (ends[0].line, ends[0].column) if ends else (line, column)
    before = split_lines(text)
    head = [*before[: until[0] - 1], before[until[0] - 1][: until[1] - 1]]
    after = split_lines(applied("".join(head), [edit for edit in begun if edit not in ends]))
    return len(after), len(after[-1]) + 1


def position(edit: Edit) -> tuple[int, int, int, int]:
    """Where an edit begins and ends: the order of edits."""
    return edit.line, edit.column, edit.end_line, edit.end_column


def overlap(one: Edit, other: Edit) -> bool:
    """Whether two edits cannot both be applied; nothing tells in which order two texts are put into one place."""
    first, second = sorted((one, other), key=position)
    begin, end = (second.line, second.column), (first.end_line, first.end_column)
    return begin < end or (begin == (first.line, first.column))
