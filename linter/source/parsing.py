"""From text to tree: what a file is once it has been read, and what is to be said of one that Python refuses.

Nothing here raises for what a file holds: what cannot be parsed comes back as a `Finding`.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..finding import PYTHON2_SOURCE, UNPARSABLE_FILE, Finding

if TYPE_CHECKING:
    from .cells import Notebook

_DEPTH = 5000
"""The recursion limit that files are parsed and walked with, so that a chain of 2,000 calls is code like any other.

Python's parser allows three times as many levels, which take less than 2 MB of the stack.
"""
_LIMITED = ": Python 3.12 began with a fixed limit, and newer ones take more" if sys.version_info[:2] == (3, 12) else ""
"""3.12.1 makes no tree of a chain of 1,500 calls; 3.11.7 and 3.13.0 make one of 4,000. Nothing in it can be set."""

_NUMBER = re.compile(r"\d[\d_]*+")


@dataclass(frozen=True)
class SourceFile:
    """One file's text: decoded, without a byte order mark, every line end a single newline.

    ``display`` is the path as reports show it; ``digest`` is blake2b (16 bytes, hex) of the bytes as they lie on disk.
    The text of a ``notebook`` is that of its code cells as one module, in which magics are replaced by Python.
    """

    path: Path
    display: str
    text: str
    digest: str
    notebook: Notebook | None = None

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
    text = source.text
    if sys.getrecursionlimit() < _DEPTH and sys.platform != "win32":  # there a thread's stack is 1 MB
        sys.setrecursionlimit(_DEPTH)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return _refused(source, error)
    except (RecursionError, MemoryError):
        reason = f"this file cannot be parsed: an expression is nested too deeply{_LIMITED}"
        return UNPARSABLE_FILE.at(source.display, reason)
    except (ValueError, OverflowError, UnicodeError) as error:
        return UNPARSABLE_FILE.at(source.display, f"this file cannot be parsed: {error}")
    # Both are Python 2 that a Python 3 accepts with another meaning: a shift of print, a tuple of exceptions (3.14).
    if _prints_to_file(text) or _catches_pair(text):
        from .syntax import python2

        if (evidence := python2(text)) is not None:
            return _python2(source, evidence.line, evidence.column, evidence.what)
    return tree


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
    return PYTHON2_SOURCE.at(
        source.display,
        f"this is Python 2 ({what}) and was not linted: convert it first, with 2to3 (up to Python 3.12) or futurize",
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
