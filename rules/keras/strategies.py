"""The distribution strategies under whose scope a file makes its models."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ...linter.rule_api.model import Assignment, Call, Site, path_of
from .members import member_of

_PREFIXES = ("tensorflow.distribute.experimental.", "tensorflow.distribute.")
_SCOPE = "().scope()"
_DEEPEST = 8
_MOST = 50
"""Names, attributes and functions that a value is followed through, and ways on which it may come."""


class Strategy(NamedTuple):
    """A strategy of `tf.distribute`."""

    kind: str
    """``MirroredStrategy``."""
    made: Call | None
    """The call that makes it, where that is one of the same file."""


def is_fit(call: Call) -> bool:
    """Whether it calls ``fit`` of what is surely a model of Keras."""
    members = [member_of(name) for name in call.names]
    external = all(entity.kind == "external" for entity in call.found)
    return external and bool(members) and all(m is not None and (m.kind, m.name) == ("Model", "fit") for m in members)


def strategy_of(call: Call) -> Strategy | None:
    """The strategy in whose scope the receiver of a method is made, or the call stands itself.

    What makes the receiver is looked for through names, attributes of ``self`` and the functions of the file.
    """
    ways = list(islice(_ways(call, call.receiver), _MOST))
    found = {_first_around(way) for way in ways}
    kinds = {one.kind for one in found if one is not None}
    if None not in found and len(kinds) == 1 and len(ways) < _MOST:
        return next(one for one in found if one is not None)
    return _around(call)


def _ways(site: Site, node: ast.expr | None, depth: int = 0) -> Iterator[tuple[Site, ...]]:
    """The ways on which a value comes to an expression: what hands it on, and last the call that makes it, if known."""
    if isinstance(node, ast.Call) and depth < _DEEPEST:
        yield from _returned(site.file.call_at(node), depth)
    elif isinstance(node, ast.Name | ast.Attribute) and depth < _DEEPEST:
        made = _assignments(site, node)
        for one in made:
            yield from ((one, *way) for way in _ways(one, one.value, depth + 1))
        if not made:
            yield ()
    else:
        yield ()


def _returned(call: Call | None, depth: int) -> Iterator[tuple[Site, ...]]:
    if call is None:
        yield ()
        return
    file = call.file
    if not call.found or any(one.kind != "function" or one.file != file.key for one in call.found):
        yield (call,)
        return
    for function in call.found:
        for fact in file.index.returns_in(file.index.scopes[function.scope]):
            returned = Site(file, fact.value, fact.scope, fact.block)
            yield from ((call, returned, *way) for way in _ways(returned, fact.value, depth + 1))


def _assignments(site: Site, node: ast.Name | ast.Attribute) -> list[Assignment]:
    file = site.file
    if isinstance(node, ast.Attribute):
        cls = file.index.class_of_self(site.scope, node.value.id) if isinstance(node.value, ast.Name) else None
        return [] if cls is None else file.assignments_to(cls, node.attr)
    home = file.index.lookup(site.scope, node.id)
    around = file.assignments_by_function.get(home[0].id, []) if home is not None else []
    return [assignment for assignment in around if assignment.path == node.id]


def _first_around(way: tuple[Site, ...]) -> Strategy | None:
    return next((found for found in map(_around, way) if found is not None), None)


def _around(site: Site) -> Strategy | None:
    for level in site.block.holders():
        node = level.node if level.kind == "with" and isinstance(level.node, ast.expr) else None
        for name in site.file.names(level.scope, path_of(node)):
            kind = _kind(name.canonical)
            if kind:
                return Strategy(kind, _maker(Site(site.file, level.node, level.scope, level), node))
    return None


def _kind(canonical: str) -> str:
    for prefix in _PREFIXES:
        if canonical.startswith(prefix) and canonical.endswith(_SCOPE):
            kind = canonical[len(prefix) : -len(_SCOPE)]
            return kind if kind.isidentifier() else ""
    return ""


def _maker(site: Site, scope: ast.expr | None) -> Call | None:
    strategy = scope.func.value if isinstance(scope, ast.Call) and isinstance(scope.func, ast.Attribute) else None
    made = [way[-1] if way else None for way in islice(_ways(site, strategy), 2)]
    return made[0] if len(made) == 1 and isinstance(made[0], Call) else None
