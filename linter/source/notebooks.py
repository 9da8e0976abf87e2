"""A notebook as one module: its code cells one after the other, and where each line of that text stands in a cell.

Nothing is executed and no output is looked at.
A cell that Python cannot parse becomes a finding and blank lines, so that the other cells are linted all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..finding import PYTHON2_SOURCE, UNPARSABLE_FILE, Finding
from .cells import CellMap, Change, Notebook
from .magics import Edit, to_python
from .parsing import SourceFile, digest_of, line_of_long_number, parse_source


class _RefusedError(ValueError):
    """The text says why a file is not read as a notebook."""


def read_notebook(path: Path, display: str, data: bytes) -> SourceFile | Finding:
    """The code of a notebook as one module, or a TF900 that says why it cannot be read."""
    try:
        document = json.loads(data)
        cells = list(_code_cells(document))
    except json.JSONDecodeError as error:
        reason = "it is empty" if not data.strip() else f"it is not JSON: {error.msg}"
        line, column = (error.lineno, error.colno) if data.strip() else (1, 1)
        return UNPARSABLE_FILE.at(display, f"this notebook cannot be read: {reason}", line, column)
    except UnicodeDecodeError:
        return UNPARSABLE_FILE.at(display, "this notebook cannot be read: it is not UTF-8")
    except (RecursionError, MemoryError):
        return UNPARSABLE_FILE.at(display, "this notebook cannot be read: it is nested too deeply")
    except ValueError as error:
        number = None if isinstance(error, _RefusedError) else line_of_long_number(data.decode(errors="replace"))
        return UNPARSABLE_FILE.at(display, f"this notebook cannot be read: {error}", number or 1)
    return _joined(path, display, cells, digest_of(data))


# -- the file ----------------------------------------------------------------------------------------------------------


def _code_cells(document: Any) -> Iterator[tuple[int, str]]:
    """Index and text of every cell in Python."""
    if not isinstance(document, dict) or not isinstance(cells := _all_cells(document), list):
        raise _RefusedError("it is JSON, and no notebook: it has no list of cells")
    if not _is_python(document):
        return
    for index, cell in enumerate(cells):
        if not isinstance(cell, dict):
            raise _RefusedError(f"cell {index} is no JSON object")
        if cell.get("cell_type") == "code" and _is_python_cell(cell):
            yield index, _text(cell, index)


def _all_cells(document: dict[str, Any]) -> Any:
    """The cells; up to nbformat 3 they are spread over worksheets."""
    worksheets = document.get("worksheets")
    if "cells" in document or not isinstance(worksheets, list):
        return document.get("cells")
    cells: list[Any] = []
    for sheet in worksheets:
        if not isinstance(inner := _inner(sheet, "cells"), list):
            return None
        cells += inner
    return cells


def _is_python(document: dict[str, Any]) -> bool:
    """Whether a notebook's kernel runs Python; one that does not say so does."""
    language = _inner(document, "metadata", "language_info", "name")
    if not isinstance(language, str):
        language = _inner(document, "metadata", "kernelspec", "language")
    return not isinstance(language, str) or "python" in (language.lower() or "python")


def _is_python_cell(cell: dict[str, Any]) -> bool:
    language = _inner(cell, "metadata", "vscode", "languageId") or cell.get("language")
    return not isinstance(language, str) or "python" in language.lower()


def _inner(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(cell: dict[str, Any], index: int) -> str:
    """The source of a cell, which is a text or a list of its lines; its name was ``input`` up to nbformat 3."""
    source = cell.get("source", cell.get("input", ""))
    parts = [source] if isinstance(source, str) else source
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise _RefusedError(f"the source of cell {index} is neither text nor a list of lines")
    text: str = "".join(parts)
    return text.replace("\r\n", "\n").replace("\r", "\n")


# -- the module --------------------------------------------------------------------------------------------------------


def _joined(path: Path, display: str, cells: Iterable[tuple[int, str]], digest: str) -> SourceFile:
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    changes: list[Change] = []
    problems: list[Finding] = []
    texts: dict[int, list[str]] = {}
    for index, text in cells:
        first = len(lines) + 1
        texts[index] = written = text.split("\n")
        python, edits, problem = _python(path, display, written)
        if problem is not None:
            line, end_line = problem.line + first - 1, problem.end_line + first - 1
            problems.append(replace(problem, line=line, end_line=end_line))
        places.append((index, first))
        changes += _changes(edits, first)
        lines += python
    notebook = Notebook(CellMap(tuple(places), tuple(changes)), texts, tuple(_python2_once(problems)))
    return SourceFile(path, display, "\n".join(lines), digest, notebook)


def _python(path: Path, display: str, written: list[str]) -> tuple[list[str], list[Edit], Finding | None]:
    """A cell as lines of Python, the edits that made them, and what is wrong with it; then its lines are blank."""
    refusal: Finding | None = None
    edits: list[Edit] = []
    for automatic in (False, True):
        other = to_python(written, automatic)
        if automatic and other == edits:
            break
        lines = _edited(written, other)
        outcome = parse_source(SourceFile(path, display, "\n".join(lines), ""))
        if not isinstance(outcome, Finding):
            return lines, other, None
        if refusal is None:
            refusal, edits = outcome, other
    assert refusal is not None
    message = refusal.message.replace("this file", "this cell").replace("this is Python", "this cell is Python")
    return [""] * len(written), edits, replace(refusal, message=message)


def _edited(written: list[str], edits: list[Edit]) -> list[str]:
    lines = list(written)
    for edit in reversed(edits):
        line = lines[edit.row]
        lines[edit.row] = line[: edit.start] + edit.text + line[edit.end :]
    return lines


def _changes(edits: Iterable[Edit], first: int) -> Iterator[Change]:
    row, shift = -1, 0
    for edit in edits:
        if edit.row != row:
            row, shift = edit.row, 0
        start = edit.start + shift
        shift += len(edit.text) - (edit.end - edit.start)
        yield Change(first + row, start + 1, start + len(edit.text) + 1, edit.start + 1, edit.end + 1)


def _python2_once(problems: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for all cells in Python 2: a notebook of that age has hardly any other."""
    old = [problem for problem in problems if problem.code == PYTHON2_SOURCE.code]
    for problem in problems:
        if problem.code != PYTHON2_SOURCE.code:
            yield problem
        elif problem is old[0]:
            others = f"; it is one of {len(old)} such cells" if len(old) > 1 else ""
            yield replace(problem, message=problem.message + others)
