"""Statements by their lines: which one stands at a line, and where it begins and ends."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right

from ..finding import Span, Statement

_SUITES = frozenset({"body", "handlers", "orelse", "finalbody", "cases"})
"""Where a statement holds others; its fields are in the order of their lines."""


class Statements:
    """The statements of a module, by their lines; looked at in those of its own where a line is asked for."""

    def __init__(self, module: ast.Module) -> None:
        self._own = module.body
        self._ends = [_last(statement) for statement in module.body]
        self._below: dict[int, _Below] = {}

    def at(self, line: int) -> ast.stmt | None:
        """The innermost statement that holds a line."""
        number = bisect_left(self._ends, line)
        if number == len(self._own) or _first(self._own[number]) > line:
            return None
        if number not in self._below:
            self._below[number] = _Below(self._own[number])
        return self._below[number].at(line)


class _Below:
    """A statement with all that stand in it."""

    def __init__(self, statement: ast.stmt) -> None:
        self._begins: list[int] = []
        """The lines from which on another statement is the innermost one."""
        self._innermost: list[ast.stmt] = []
        stack: list[tuple[ast.AST, ast.stmt, bool]] = [(statement, statement, False)]
        while stack:
            child, around, ends = stack.pop()
            if isinstance(child, ast.stmt):
                if ends:
                    self._begin(_last(child) + 1, around)
                    continue
                if self._begins and self._begins[-1] > _last(child):
                    continue  # another statement before it stands in this line, too
                self._begin(_first(child), child)
                stack.append((child, around, True))
                around = child
            for name in child._fields[::-1]:
                if name in _SUITES:
                    stack += [(part, around, False) for part in reversed(getattr(child, name, ()))]

    def _begin(self, line: int, statement: ast.stmt) -> None:
        self._begins.append(max(line, self._begins[-1]) if self._begins else line)
        self._innermost.append(statement)

    def at(self, line: int) -> ast.stmt:
        return self._innermost[bisect_right(self._begins, line) - 1]


def lines_of(statement: ast.stmt) -> Statement:
    """The lines of a statement with its decorators."""
    below = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if not below:
        return Statement(_first(statement), _last(statement), _last(statement))
    begin = below[0].pattern.lineno if isinstance(below[0], ast.match_case) else _first(below[0])
    return Statement(_first(statement), max(statement.lineno, begin - 1), _last(statement))


def span_of(statement: ast.stmt) -> Span:
    """First and last line of a statement with its decorators."""
    return Span(_first(statement), _last(statement))


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _last(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno
