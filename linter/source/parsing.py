"""From text to tree: what a file is once it has been read, and what is to be said of one that Python refuses.

Nothing here raises for what a file holds: what cannot be parsed comes back as a `Finding`.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from ..finding import PYTHON2_SOURCE, UNPARSABLE_FILE, Finding

if TYPE_CHECKING:
    from .cells import Notebook

_DEPTH = 5000
"""The recursion limit that files are parsed and walked with, so that a chain of 2,000 calls is code like any other.

Python's parser allows three times as many levels, which take less than 2 MB of the stack.
"""
_NUMBER = re.compile(r"\d[\d_]*+")
_LONG_NUMBER = re.compile(r"(?<!\w)0[xXoObB][\da-fA-F_]{3000}")
"""What is read whatever its length, and is perhaps not written: Python does so with 4,300 decimal digits."""

_PIECE = 100_000
"""Characters of which a tree is made at a time, at least."""
_PIECES = 64
"""At most: each begins with as many empty lines as there are lines before it."""
_STATEMENT = re.compile(r"(?<=\n)(?!(?:elif|else|except|finally)\b)[A-Za-z_@]")
"""Where a statement of a module may begin."""
_MUCH_DATA = 10_000
"""Characters of numbers and strings, one after the other."""
_LITERAL = r"""(?:-?(?:\d[\d_]*+(?:\.\d*+)?(?:[eE][-+]?\d++)?|0[xX][\da-fA-F]++)|'[^'\\\n]*+'|"[^"\\\n]*+")"""
_ITEM = rf"{_LITERAL}(?:\s*+:\s*+{_LITERAL})?\s*+,\s*+"
_DATA = re.compile(rf"(?<![\w.])({_ITEM})(?:{_ITEM})++")
_BYTES_A_CHARACTER = 1_000
"""Of memory, at most: dense code takes as much while it is parsed."""
_LIMITED = ": Python 3.12 began with a fixed limit, and newer ones take more" if sys.version_info[:2] == (3, 12) else ""
"""3.12.1 makes no tree of a chain of 1,500 calls; 3.11.7 and 3.13.0 make one of 4,000. Nothing in it can be set."""
_TOO_DEEP = f"this file cannot be parsed: an expression is nested too deeply{_LIMITED}"
NO_MEMORY = "there is not enough memory to read this file"


@dataclass(frozen=True)
class Refused:
    """A file that Python does not read as it is: what is said of that, and its own text."""

    finding: Finding
    text: str


def digest_of(data: bytes) -> str:
    """By what a file's content is known again: blake2b, 16 bytes, in hexadecimal."""
    return blake2b(data, digest_size=16).hexdigest()


@dataclass(frozen=True)
class SourceFile:
    """One file's text: decoded, without a byte order mark, every line end a single newline.

    ``display`` is the path as reports show it; ``digest`` is that of the bytes as they lie on disk, see `digest_of`.
    The text of a ``notebook`` is that of its code cells as one module, in which magics are replaced by Python.
    """

    path: Path
    display: str
    text: str
    digest: str
    notebook: Notebook | None = None
    refused: Refused | None = None
    """Of a file whose text is not its own, but what Python 3 would read; see `python2`."""

    @property
    def lines(self) -> list[str]:
        """The lines as Python counts them: form feeds and Unicode separators end none."""
        return self.text.split("\n")

    @property
    def texts(self) -> Mapping[int | None, Sequence[str]]:
        """The lines as their author wrote them, by the cell of a finding: None outside notebooks."""
        if self.notebook is None:
            return {None: self.lines}
        return {cell: lines for cell, lines in self.notebook.texts.items()}  # noqa: C416


def parse_source(source: SourceFile) -> ast.Module | Finding:
    """Parse the text, or say why not: TF902 for Python 2, TF900 for everything else."""
    body: list[ast.stmt] = []
    finding = parse_in_pieces(source, lambda piece: body.extend(piece.body))
    return ast.Module(body, []) if finding is None else finding


def parse_in_pieces(source: SourceFile, use: Callable[[ast.Module], None]) -> Finding | None:
    """Parse the text and `use` its statements, of a large file some at a time; or say why not, as `parse_source`."""
    text = source.text
    has_long_number = _LONG_NUMBER.search(text) is not None
    if sys.getrecursionlimit() < _DEPTH and sys.platform != "win32":  # there a thread's stack is 1 MB
        sys.setrecursionlimit(_DEPTH)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for piece in [ast.parse(text)] if len(text) < 2 * _PIECE else _pieces(text):
                if has_long_number:
                    _shorten_numbers(piece)
                use(piece)
    except SyntaxError as error:
        return _refused(source, error)
    except RecursionError:
        return UNPARSABLE_FILE.at(source.display, _TOO_DEEP)
    except MemoryError:  # which Python raises for its own limit, too
        return UNPARSABLE_FILE.at(source.display, _TOO_DEEP if _has_memory(text) else NO_MEMORY)
    except (ValueError, OverflowError, UnicodeError) as error:
        return UNPARSABLE_FILE.at(source.display, f"this file cannot be parsed: {error}")
    # Both are Python 2 that a Python 3 accepts with another meaning: a shift of print, a tuple of exceptions (3.14).
    if _prints_to_file(text) or _catches_pair(text):
        from .syntax import python2

        if (evidence := python2(text)) is not None:
            return _python2(source, evidence.line, evidence.column, evidence.what)
    return None


def _has_memory(text: str) -> bool:
    """Whether there is as much memory as parsing a text may take."""
    try:
        bytearray(_BYTES_A_CHARACTER * len(text))
    except MemoryError:
        return False
    return True


def _pieces(text: str) -> Iterator[ast.Module]:
    """Parse some statements of the module at a time: the parser takes 400 bytes a character until it is done.

    A piece that ends where no statement does is not Python, and is tried again with what follows.

    Raises:
        SyntaxError: as from the whole text.
    """
    blanked = _without_data(text)
    begin = line = 0
    while begin < len(text):
        size = max(_PIECE, len(text) // _PIECES)
        while True:
            found = _STATEMENT.search(text, begin + size)
            end = found.start() if found else len(text)
            try:
                piece = ast.parse("\n" * line + blanked[begin:end])
                break
            except SyntaxError:
                if end == len(text):
                    if blanked is text:
                        raise
                    blanked = text
                size *= 2
        yield piece
        line += text.count("\n", begin, end)
        begin = end


def _without_data(text: str) -> str:
    """The text with spaces for all but the first of many numbers or strings in a row: tables of data, not programs."""
    return _DATA.sub(_blanked, text)


def _blanked(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) < _MUCH_DATA:
        return run
    first = match.end(1) - match.start()
    rest = run[first:].split("\n")
    return run[:first] + "\n".join(" " * (len(part) if part.isascii() else len(part.encode())) for part in rest)


def _shorten_numbers(tree: ast.AST) -> None:
    """Make every number one that can be written; which one it is says nothing to a rule."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > 10_000:
            node.value = sys.maxsize


def line_of_long_number(text: str) -> int | None:
    """The line of the first number of more digits than Python reads, which it refuses without a place."""
    most = sys.get_int_max_str_digits()
    long = (number.start() for number in _NUMBER.finditer(text) if most and len(number[0]) > most)
    return next((text.count("\n", 0, start) + 1 for start in long), None)


def _prints_to_file(text: str) -> bool:
    return ">>" in text and "print" in text and re.search(r"\bprint[ \t]*>>", text) is not None


def _catches_pair(text: str) -> bool:
    return sys.version_info >= (3, 14) and re.search(r"^[ \t]*except\s[^\n:#]*,", text, re.M) is not None


def _python2(source: SourceFile, line: int, column: int, what: str) -> Finding:
    extra = "" if source.path.suffix == ".ipynb" else "; with the extra `migrate-lint[python2]` it is linted as it is"
    return PYTHON2_SOURCE.at(
        source.display,
        f"this is Python 2 ({what}) and was not linted: convert it first, with 2to3 (up to Python 3.12) or futurize"
        + extra,
        line,
        column,
    )


def _refused(source: SourceFile, error: SyntaxError) -> Finding:
    from .syntax import newer, python2

    lines = source.lines
    line = min(max(error.lineno or 1, 1), len(lines))
    column = min(max(error.offset or 1, 1), len(lines[line - 1]) + 1)
    reason = error.msg or "invalid syntax"
    old = python2(source.text)
    # After a string or bracket that is never closed, text is read as code: only the line of the error itself counts.
    open_ended = "unterminated" in reason or "never closed" in reason
    if old is not None and (old.line <= line <= old.end_line or not open_ended):
        return _python2(source, old.line, old.column, old.what)
    for feature in newer(source.text):
        if feature.version > sys.version_info[:2] and feature.line <= line <= feature.end_line:
            needed, running = (".".join(map(str, version)) for version in (feature.version, sys.version_info[:2]))
            return UNPARSABLE_FILE.at(
                source.display,
                f"this file needs Python {needed} ({feature.what}) and migrate-lint runs on Python {running}: "
                f"run it on Python {needed} or newer",
                feature.line,
                feature.column,
            )
    return UNPARSABLE_FILE.at(source.display, f"this file cannot be parsed: {reason}", line, column)
