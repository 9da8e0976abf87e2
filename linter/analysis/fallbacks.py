"""Whether a program does without a name that is missing: a ``try`` whose handler holds an alternative."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from .guards import catches
from .index import FileIndex, exits
from .lazy import cached_property
from .paths import is_none, path_of, split_head
from .summary import own_statements

_ANYTHING = frozenset({"Exception", "BaseException"})
_MISSING = {True: frozenset({"ImportError", "ModuleNotFoundError"}), False: frozenset({"AttributeError", "NameError"})}
"""What an import of a missing name raises, and what another place that reads one does."""
_RETURN = "return"


class Fallbacks:
    """Answers for the ``try`` statements of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._known: dict[tuple[int, bool], ast.ExceptHandler | None] = {}

    def handler(self, node: ast.Try, importing: bool) -> ast.ExceptHandler | None:
        """The handler that does without what the body, or an import in it, cannot find; None if there is none.

        It gives the same names, or a result, or does the same otherwise; what is caught as a missing name and needed
        nowhere else is done without as well.
        """
        key = (id(node), importing)
        if key not in self._known:
            self._known[key] = self._find(node, importing)
        return self._known[key]

    def _find(self, node: ast.Try, importing: bool) -> ast.ExceptHandler | None:
        handler = next((h for h in node.handlers if catches(h, _MISSING[importing] | _ANYTHING)), None)
        if handler is None or _gives_up(handler.body) or (not importing and id(node) in self._tried_again):
            return None
        wanted = set(_given(node.body)) | set(_given(node.orelse))
        given = set(_given(handler.body, nothing=importing))
        if _RETURN in wanted and not _returns_nothing(handler.body):
            given.add(_RETURN)  # what follows the `try` does it
        if wanted & given:
            return handler
        if importing or (handler.type is not None and catches(handler, _MISSING[importing])):
            if isinstance(handler.body[-1], ast.Return | ast.Continue | ast.Break):
                return handler  # nothing after it runs
            return None if any(self._is_read_outside(name, node) for name in wanted) else handler
        return handler if _calls(handler.body) & _calls(node.body) else None

    def _is_read_outside(self, name: str, node: ast.Try) -> bool:
        if name == _RETURN:
            return True
        if any(line < node.lineno for line in self._writes.get(name, ())):
            return False  # it has a value already
        return any(not node.lineno <= line <= (node.end_lineno or 0) for line in self._reads.get(name, ()))

    @cached_property
    def _tried_again(self) -> set[int]:
        """The ``try`` statements that a ``while`` runs again behind their handlers: these mend what was missing."""
        found: set[int] = set()
        for loop in ast.walk(self._index.module.node):
            last = loop.body[-1] if isinstance(loop, ast.While) else None
            while isinstance(last, ast.If | ast.With) and not getattr(last, "orelse", None):
                last = last.body[-1]
            if isinstance(last, ast.Try) and not last.finalbody and _leaves(last.body + last.orelse):
                found.update({id(last)} if not any(_leaves(one.body) for one in last.handlers) else ())
        return found

    @cached_property
    def _writes(self) -> dict[str, list[int]]:
        """The lines in which the file assigns each name."""
        found: dict[str, list[int]] = {}
        for fact in self._index.assignments:
            if path := path_of(fact.target):
                found.setdefault(path, []).append(fact.target.lineno)
        return found

    @cached_property
    def _reads(self) -> dict[str, list[int]]:
        """The lines in which the file reads each name."""
        found: dict[str, list[int]] = {}
        for fact in self._index.references:
            found.setdefault(split_head(fact.path)[0], []).append(fact.node.lineno)
        return found


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether statements end the loop that they are in."""
    return any(isinstance(one, ast.Return | ast.Break) for one in own_statements(ast.Module(list(body), [])))


def _gives_up(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(statement, ast.Raise) or exits(statement) for statement in body)


def _returns_nothing(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(s, ast.Return) and (s.value is None or is_none(s.value)) for s in body)


def _given(body: Iterable[ast.stmt], nothing: bool = False) -> Iterator[str]:
    """What statements bind or return; a None counts where `nothing` is an answer."""
    for statement in own_statements(ast.Module(list(body), [])):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if statement.value is not None and (nothing or not is_none(statement.value)):
                for target in targets:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
                            yield ast.unparse(part)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Return) and statement.value is not None:
            if nothing or not is_none(statement.value):
                yield _RETURN


def _calls(body: Iterable[ast.stmt]) -> set[str]:
    """The last part of each name that is called."""
    parts = (part for statement in body for part in ast.walk(statement) if isinstance(part, ast.Call))
    return {(path_of(part.func) or "").rpartition(".")[2] for part in parts} - {""}
