"""What the syntax says of a line: whether a call comes to it in any case, and what is called there."""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import os
import sys
from types import ModuleType
from typing import Any, Sequence

from .frames import Frame

__all__ = ["always_comes", "calls_at"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.AsyncFor, ast.AsyncWith, ast.For, ast.With)
_CONDITIONAL = (ast.If, ast.Try, ast.While, *((ast.Match,) if hasattr(ast, "Match") else ()))
_LEAVING = (ast.Break, ast.Continue, ast.Raise, ast.Return)
_SHORT_CUTS = (ast.BoolOp, ast.IfExp, *((ast.NamedExpr,) if hasattr(ast, "NamedExpr") else ()))
_BUILT_IN = (classmethod, property, staticmethod)
_FRAMEWORKS = frozenset({"keras", "tensorflow", "tf_keras"})
"""Their decorators, too, run the function at each eager call; another may remember what it gave."""


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
    return all(_runs_it(one, path) for one in function.decorator_list) and _leads_to(function.body, line)


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


def _runs_it(decorator: Any, path: str) -> bool:
    value = _value(decorator.func if isinstance(decorator, ast.Call) else decorator, path)
    if any(value is one for one in _BUILT_IN):
        return True
    return str(_attribute(value, "__module__")).partition(".")[0] in _FRAMEWORKS


def _value(node: Any, path: str) -> Any:
    """What a dotted name of a file's module stands for; None where it is anything else."""
    if isinstance(node, ast.Attribute):
        return _attribute(_value(node.value, path), node.attr)
    if not isinstance(node, ast.Name):
        return None
    for module in list(sys.modules.values()):
        names = vars(module) if isinstance(module, ModuleType) else {}  # reading an attribute may load a lazy one
        file = names.get("__file__")
        if isinstance(file, str) and os.path.realpath(file) == path:
            return names.get(node.id, getattr(builtins, node.id, None))
    return None


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:  # the program's own
        return None


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
