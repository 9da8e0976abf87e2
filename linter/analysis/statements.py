"""Statements by their lines: which one stands at a line, and where it begins and ends."""

from __future__ import annotations

import ast

from ..finding import Span, Statement


def statement_at(node: ast.AST, line: int) -> ast.stmt | None:
    """The innermost statement below `node` that holds a line."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            if _first(child) <= line <= _last(child):
                return statement_at(child, line) or child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            if (found := statement_at(child, line)) is not None:
                return found
    return None


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
