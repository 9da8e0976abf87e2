"""Where the result of a call is kept: the names and attributes that hold it, alone or in a collection."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ...linter.rule_api.model import Call, own_statements, path_of

_GROWERS = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
_PLAIN = frozenset({"argparse.Namespace", "functools.partial", "types.SimpleNamespace"})
_MAX_NAMES = 50


class Kept(NamedTuple):
    """A path that holds a value."""

    path: str
    collected: bool = False
    """Whether it is one of several in a list, tuple, dict or set."""
    inside: str = ""
    """What it is an argument of that keeps it and is no collection: `functools.partial`."""


class _Target(NamedTuple):
    path: str
    collected: bool
    within: ast.Call | None


def kept(call: Call) -> list[Kept]:
    """What holds the result of a call, through names of its own function or module."""
    function = call.scope.function().node
    if isinstance(function, ast.Lambda):
        return []
    targets = call.file.once(f"kept in {id(function)}", lambda: _targets(function))
    found: dict[str, Kept] = {}
    queue: list[tuple[str | int, Kept]] = [(id(call.syntax), Kept(""))]
    while queue and len(found) < _MAX_NAMES:
        key, before = queue.pop()
        for target in targets.get(key, ()):
            inside = before.inside or _keeper(call, target.within)
            if target.path in found or (target.within is not None and not inside):
                continue
            now = Kept(target.path, before.collected or target.collected, inside)
            found[target.path] = now
            queue.append((target.path, now))
    return list(found.values())


def _keeper(call: Call, within: ast.Call | None) -> str:
    path = path_of(within.func) if within is not None else None
    names = {name.canonical for name in call.file.names(call.scope, path)}
    return (path or "") if names and names <= _PLAIN else ""


def _targets(function: ast.AST) -> dict[str | int, list[_Target]]:
    """What gets the value of each call (by its identity) and of each path."""
    found: dict[str | int, list[_Target]] = {}
    for statement in own_statements(function):
        for target, value in _stores(statement):
            path = path_of(target)
            if path is None:
                continue
            in_item = path.endswith("[]")
            for part, collected, within in _parts(value, in_item, None):
                key = id(part) if isinstance(part, ast.Call) else path_of(part)
                if key is not None and key != path:
                    place = _Target(path.removesuffix("[]"), collected, within)
                    found.setdefault(key, []).append(place)
    return found


def _stores(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement assigns or adds to what."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            value = statement.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                yield from zip(target.elts, value.elts, strict=True)
            else:
                yield target, value
    elif isinstance(statement, ast.For):
        yield statement.target, statement.iter
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign) and statement.value is not None:
        yield statement.target, statement.value
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        added = statement.value
        if isinstance(added.func, ast.Attribute) and added.func.attr in _GROWERS:
            for value in (*added.args, *(keyword.value for keyword in added.keywords)):
                yield ast.Subscript(added.func.value, ast.Constant(None), ast.Store()), value


def _parts(
    value: ast.expr | None, collected: bool, within: ast.Call | None
) -> Iterator[tuple[ast.expr, bool, ast.Call | None]]:
    """A value, with what it holds or may be: whether in a collection, and in the arguments of which call."""
    if value is None:
        return
    yield value, collected, within
    items: list[ast.expr | None] = []
    if isinstance(value, ast.List | ast.Tuple | ast.Set | ast.BoolOp):
        items += value.values if isinstance(value, ast.BoolOp) else value.elts
    elif isinstance(value, ast.Dict):
        items += value.values
    elif isinstance(value, ast.IfExp):
        items += (value.body, value.orelse)
    elif isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        items.append(value.elt)
    elif isinstance(value, ast.DictComp):
        items.append(value.value)
    elif isinstance(value, ast.Call) and within is None:
        for argument in (*value.args, *(keyword.value for keyword in value.keywords)):
            yield from _parts(argument, collected, value)
    for item in items:
        yield from _parts(item, collected or not isinstance(value, ast.IfExp | ast.BoolOp), within)
