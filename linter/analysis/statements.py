"""Statements by their lines: which one stands at a line, and where it begins and ends."""

from __future__ import annotations

import ast
from bisect import bisect_right

from ..finding import Span, Statement

_HOLDERS = (ast.stmt, ast.ExceptHandler, ast.match_case)


class Statements:
    """The statements below a node, by their lines."""

    def __init__(self, node: ast.AST) -> None:
        self._begins: list[int] = []
        """The lines from which on another statement is the innermost one."""
        self._innermost: list[ast.stmt | None] = []
        stack: list[tuple[ast.AST, ast.stmt | None, bool]] = [(node, None, False)]
        while stack:
            child, around, ends = stack.pop()
            inner = around
            if isinstance(child, ast.stmt):
                if ends:
                    self._begin(_last(child) + 1, around)
                    continue
                if self._begins and self._begins[-1] > _last(child):
                    continue  # another statement before it stands in this line, too
                self._begin(_first(child), child)
                stack.append((child, around, True))
                inner = child
            below = (part for part in ast.iter_child_nodes(child) if isinstance(part, _HOLDERS))
            stack += [(part, inner, False) for part in reversed(list(below))]

    def _begin(self, line: int, statement: ast.stmt | None) -> None:
        self._begins.append(max(line, self._begins[-1]) if self._begins else line)
        self._innermost.append(statement)

    def at(self, line: int) -> ast.stmt | None:
        """The innermost statement that holds a line."""
        place = bisect_right(self._begins, line)
        return self._innermost[place - 1] if place else None


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
