"""Python 2 as Python 3 would read it, line by line, for those who have the extra ``python2``.

A file is never rewritten: the converted text is what rules see, its lines are those of the file, and what is said of
the file itself stays a TF902. Where a conversion would move a line, the file is not linted.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ..finding import PYTHON2_SOURCE, Finding
from .parsing import Refused, SourceFile, parse_source

_CONVERTER = "fissix"
_FIXES = ("except", "exec", "ne", "numliterals", "paren", "print", "raise", "repr", "tuple_params", "unicode")
"""What Python 3 refuses, and nothing that is only called otherwise."""
_FIRST = "convert it first, with 2to3 (up to Python 3.12) or futurize"


def installed() -> str:
    """Where the converter is, or an empty text: what is said of a file depends on it."""
    found = importlib.util.find_spec(_CONVERTER)
    return "" if found is None else found.origin or _CONVERTER


def readable(source: SourceFile, finding: Finding) -> tuple[SourceFile, ast.Module | Finding]:
    """A refused file with its tree if it is Python 2 and can be converted; else as it is, with what is to be said."""
    if finding.code != PYTHON2_SOURCE.code or not installed():
        return source, finding
    text = _converted(source.text)
    said = finding.message.partition(" and was not linted")[0]
    if text is not None:
        whole = replace(source, text=text)
        tree = parse_source(whole)
        if isinstance(tree, ast.Module):
            message = f"{said}, which TensorFlow 2 does not run on, and was linted as it reads in Python 3: {_FIRST}"
            return replace(whole, refused=Refused(replace(finding, message=message), source.text)), tree
    message = f"{said} and was not linted, since it cannot be read as Python 3 with all lines in place: {_FIRST}"
    return source, replace(finding, message=message)


def in_place(source: SourceFile, findings: list[Finding]) -> list[Finding]:
    """The findings of a file, after what is said of one that was converted.

    Their columns end where its own lines do, which may be shorter than those that rules saw.
    """
    if source.refused is None:
        return findings
    ends = [len(line) + 1 for line in source.refused.text.split("\n")]
    placed = [
        replace(
            one,
            column=min(one.column, ends[min(one.line, len(ends)) - 1]),
            end_column=min(one.end_column, ends[min(one.end_line, len(ends)) - 1]),
        )
        for one in findings
    ]
    return [source.refused.finding, *placed]


def _converted(text: str) -> str | None:
    """The text as Python 3 reads it; None where it cannot be had, or a line would move."""
    body = text.rstrip("\n")
    found = body + "\n"
    try:
        for tool in _tools():
            found = str(tool.refactor_string(found, "file"))
    except Exception:  # its parser's errors, and those of the fixes
        return None
    lines = _aligned(body.split("\n"), found.removesuffix("\n").split("\n"))
    return None if lines is None else "\n".join(lines) + text[len(body) :]


def _aligned(old: list[str], new: list[str]) -> list[str] | None:
    """The new lines at the places of the old ones; None where that cannot be.

    A `raise` that goes on in the next line by a backslash becomes shorter, and is followed by empty lines instead.
    """
    if len(old) == len(new):
        return new
    from difflib import SequenceMatcher

    found: list[str] = []
    for kind, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        fewer = (end - start) - (last - first)
        raised = [n for n in range(start, end) if old[n].lstrip().startswith("raise ")]
        if fewer and (kind != "replace" or fewer < 0 or len(raised) != 1 or _end(old, raised[0]) != end):
            return None
        found += [*new[first:last], *[""] * fewer]
    return found


def _end(lines: list[str], start: int) -> int:
    """The line after those that backslashes join."""
    while start < len(lines) and lines[start].endswith("\\"):
        start += 1
    return start + 1


@cache
def _tools() -> tuple[Any, Any]:
    """What converts, and then once more the numbers: in 0777L it takes the one for the other."""
    import logging
    import tempfile

    logging.getLogger("RefactoringTool").setLevel(logging.ERROR)
    package: Any = importlib.import_module(_CONVERTER)
    kept = package.CACHE_DIR
    with tempfile.TemporaryDirectory() as folder:  # it keeps its grammar in the user's cache otherwise
        package.CACHE_DIR = Path(folder)
        try:
            refactor = importlib.import_module(f"{_CONVERTER}.refactor")
        finally:
            package.CACHE_DIR = kept
    fixes = [f"{_CONVERTER}.fixes.fix_{name}" for name in _FIXES]
    numbers = [f"{_CONVERTER}.fixes.fix_numliterals"]
    return refactor.RefactoringTool(fixes), refactor.RefactoringTool(numbers, {"print_function": True})
