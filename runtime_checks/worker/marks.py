"""Makes a file tell which of its statements run: a call before each one.

``sys.settrace`` tells the same, but slows every other function of the process down too.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any, Iterator, Sequence, Tuple

__all__ = ["NAME", "Mark", "mark", "without_marks"]

NAME = "__migrate_lint_ran__"
"""The built-in function that marked code calls with the number of a mark; it must return None."""

Mark = Tuple[str, Tuple[int, ...]]
"""A file, and the lines of it that are about to run: of a definition those of its decorators too."""

_BLOCKS = ("body", "orelse", "finalbody")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def mark(source: str | bytes, filename: str, marks: list[Mark]) -> Any:
    """The syntax tree of a module with a call for each mark; the marks are added to `marks`.

    Statements, the bodies of lambdas, the elements of generator expressions and the types of except clauses are marked.
    Lines and columns stay what they are, and so do docstrings. Raises what `compile` raises.
    """
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    marker = _Marker(filename, marks)
    for node in list(ast.walk(tree)):
        marker.visit(node)
    return tree


def without_marks(marked: CodeType, plain: CodeType) -> dict[CodeType, CodeType]:
    """Pairs the code objects of one file, compiled with marks and without; empty where they do not correspond."""
    ours, theirs = list(_nested(marked)), list(_nested(plain))
    if [_place(code) for code in ours] != [_place(code) for code in theirs]:
        return {}
    return dict(zip(ours, theirs))


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


class _Marker:
    def __init__(self, filename: str, marks: list[Mark]) -> None:
        self._filename = filename
        self._marks = marks

    def visit(self, node: Any) -> None:
        """Mark what a node holds, and leave alone what is below that."""
        if isinstance(node, ast.Lambda):
            node.body = self._before(node.body)
        elif isinstance(node, ast.GeneratorExp):
            node.elt = self._before(node.elt)
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            node.type = self._before(node.type, node.lineno)
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, list(self._block(block, _has_docstring(node))))

    def _block(self, statements: list[Any], documented: bool) -> Iterator[Any]:
        for number, statement in enumerate(statements):
            if not (documented and number == 0) and not _is_future(statement):
                decorators = [one.lineno for one in getattr(statement, "decorator_list", ())]
                yield ast.copy_location(ast.Expr(self._call(statement, decorators)), statement)
            yield statement

    def _before(self, expression: Any, *more: int) -> Any:
        return ast.copy_location(ast.BoolOp(ast.Or(), [self._call(expression, more), expression]), expression)

    def _call(self, node: Any, more: Sequence[int]) -> Any:
        number = ast.copy_location(ast.Constant(len(self._marks)), node)
        self._marks.append((self._filename, (*more, node.lineno)))
        name = ast.copy_location(ast.Name(NAME, ast.Load()), node)
        return ast.copy_location(ast.Call(name, [number], []), node)


def _has_docstring(node: Any) -> bool:
    return isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None


def _is_future(statement: Any) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
