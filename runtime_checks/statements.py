"""Which statement a finding stands in: a run speaks of lines, and an expression may spread over several."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

__all__ = ["Statements"]

_NOTEBOOK = ".ipynb"
"""How a file's name ends that no run ever imports: it is JSON, and its outputs may be large."""


class Statements:
    """The statements of files, read and parsed when they are first asked for."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[ast.Module | None, list[str]]] = {}

    def around(self, path: str, line: int, end_line: int) -> dict[str, Any]:
        """The spans of the innermost statement around a place, as JSON data.

        ``statement`` is its header if it is compound, ``body`` all of it, ``function`` the innermost function around it
        (None at module level), each as first and last line; ``text`` is the statement's source.
        A file that cannot be parsed has the finding's own lines.
        """
        tree, lines = self._read(path)
        own = [line, max(line, end_line)]
        found: ast.stmt | None = None
        function: ast.stmt | None = None
        for node in () if tree is None else _holding(tree, line):
            found = node
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno < line:
                function = node
        if found is None:
            return {"statement": own, "body": own, "function": None, "text": ""}
        first, last = _first(found), found.end_lineno or found.lineno
        header = _header_end(found)
        return {
            "statement": [first, header],
            "body": [first, last],
            "function": None if function is None else [_first(function), function.end_lineno or function.lineno],
            "text": "\n".join(lines[first - 1 : header]),
        }

    def _read(self, path: str) -> tuple[ast.Module | None, list[str]]:
        if path.endswith(_NOTEBOOK):
            return None, []
        if path not in self._files:
            try:
                with open(path, "rb") as file:
                    data = file.read()
                tree = ast.parse(data)
                text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
                self._files[path] = (tree, text.split("\n"))
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                self._files[path] = (None, [])
        return self._files[path]


def _holding(node: ast.AST, line: int) -> Iterator[ast.stmt]:
    """The statements that hold a line, outermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            if _first(child) <= line <= (child.end_lineno or child.lineno):
                yield child
                yield from _holding(child, line)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _holding(child, line)


def _first(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", None) or []
    return min([int(statement.lineno), *(int(decorator.lineno) for decorator in decorators)])


def _header_end(statement: ast.stmt) -> int:
    """The last line of a statement without what is indented below it."""
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if not isinstance(body, list) or not body:
        return statement.end_lineno or statement.lineno
    first = body[0]
    start: int = first.pattern.lineno if isinstance(first, ast.match_case) else _first(first)
    return max(int(statement.lineno), start - 1)
