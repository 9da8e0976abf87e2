"""How much of a file was understood: what the analysis could not resolve is counted, since no rule can speak of it."""

from __future__ import annotations

import ast

from ..analysis.execution_context import Context
from ..analysis.paths import split_head
from ..analysis.project import Project
from ..result import Coverage
from ..rule_api.model import File

_REPEATED = int(Context.FORWARD | Context.TRACED)
_GRAPH = int(Context.GRAPH)


def coverage_of(file: File, project: Project) -> Coverage:
    """Count what names lead to in a file that has been checked.

    A parameter is whatever its callers give: it is neither known nor unknown here.
    """
    known: dict[tuple[str, ...], bool] = {(): False}

    def is_known(texts: tuple[str, ...]) -> bool:
        found = known.get(texts)
        if found is None:
            found = known[texts] = any(
                text[:1] == "$" or (not _is_of_builtin(text) and project.resolve(file.key, text)) for text in texts
            )
        return found

    index = file.index
    calls = unresolved_calls = parameter_calls = traced_calls = unresolved_traced_calls = dead_calls = 0
    traced: dict[int, bool] = {}
    for fact in index.calls:
        texts = index.resolve(fact.scope, fact.path) if fact.path else index.values(fact.scope, fact.node.func)
        scope = fact.scope.function().id
        if scope not in traced:
            contexts = project.contexts((file.key, scope))
            traced[scope] = any(context & _REPEATED and not context & _GRAPH for context in contexts)
        calls += 1
        dead_calls += file.is_dead(fact.block, fact.node.lineno)
        traced_calls += traced[scope]
        if not (is_known(texts) or _is_of_literal(fact.node.func)):
            unresolved_calls += 1
            unresolved_traced_calls += traced[scope]
        elif texts and texts[0][0] == "$":
            parameter_calls += 1
    names = unresolved_names = unresolved_values = long_names = 0
    for read in index.references:
        names += 1
        if not is_known(index.resolve(read.scope, read.path)):
            is_bound = index.lookup(read.scope, split_head(read.path)[0]) is not None
            unresolved_values += is_bound
            unresolved_names += not is_bound
            long_names += index.is_too_long(read.scope, read.path)
    stars = sum(1 for statement in file.imports if statement.is_star and statement.names)
    return Coverage(
        1,
        calls,
        unresolved_calls,
        parameter_calls,
        traced_calls,
        unresolved_traced_calls,
        names,
        unresolved_names,
        unresolved_values,
        long_names,
        stars,
        dead_calls,
    )


def _is_of_builtin(text: str) -> bool:
    """Whether a name is what a builtin function gave, such as `getattr`: that may be anything."""
    return text.startswith("builtins.") and "(" in text


def _is_of_literal(node: ast.expr) -> bool:
    """Whether it is a method of a text, as in ``", ".join``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant | ast.JoinedStr)
