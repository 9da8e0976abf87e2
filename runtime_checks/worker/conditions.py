"""What the syntax says of a line: whether a call comes to it in any case, and what is called there."""

from __future__ import annotations

import ast
import functools
import linecache
from typing import Any, Sequence

from .frames import Frame

__all__ = ["always_comes", "calls_at"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.AsyncFor, ast.AsyncWith, ast.For, ast.With)
_CONDITIONAL = (ast.If, ast.Try, ast.While, *((ast.Match,) if hasattr(ast, "Match") else ()))
_LEAVING = (ast.Break, ast.Continue, ast.Raise, ast.Return)
_SHORT_CUTS = (ast.BoolOp, ast.IfExp, ast.NamedExpr)
_WRAPPERS = frozenset({"classmethod", "function", "property", "staticmethod"})
"""Decorators that run the function at each call, as any other may not."""


def always_comes(frames: Sequence[Frame]) -> bool:
    """Whether nothing on the user's way to the innermost frame decides if it is gone.

    That is a test, an exception that is handled, a decorator that may remember results, the code of a module, and
    ``build``, which Keras calls until it has come to its end once.
    """
    return bool(frames) and all(_is_certain(*frame) for frame in frames)


@functools.lru_cache(maxsize=256)
def _is_certain(path: str, line: int, name: str) -> bool:
    functions = [one for one in _functions(path) if _holds(one, line)]
    if not functions or name in ("<module>", "build"):
        return False
    function = min(functions, key=lambda one: one.end_lineno - one.lineno)
    return all(map(_runs_it, function.decorator_list)) and _leads_to(function.body, line)


def calls_at(path: str, line: int) -> list[Any]:
    """The calls in a file's syntax tree that begin in a line."""
    return [node for node in _nodes(path) if isinstance(node, ast.Call) and node.lineno == line]


def _functions(path: str) -> list[Any]:
    return [node for node in _nodes(path) if isinstance(node, _FUNCTIONS)]


@functools.lru_cache(maxsize=64)
def _nodes(path: str) -> list[Any]:
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Call, *_FUNCTIONS))]


def _holds(node: Any, line: int) -> bool:
    return bool(node.lineno <= line <= node.end_lineno)


def _runs_it(decorator: Any) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(target, "attr", getattr(target, "id", "")) in _WRAPPERS


def _leads_to(body: Sequence[Any], line: int) -> bool:
    for statement in body:
        if _holds(statement, line):
            if isinstance(statement, _BLOCKS) and line >= statement.body[0].lineno:
                return _leads_to(statement.body, line)
            return not isinstance(statement, _CONDITIONAL) and not _has(statement, _SHORT_CUTS)
        if not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)) and _has(statement, _LEAVING):
            return False
    return False


def _has(statement: Any, kinds: Any) -> bool:
    return any(isinstance(node, kinds) for node in ast.walk(statement))
