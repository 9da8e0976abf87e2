"""Sequences whose rows may be of unlike lengths, as the code that makes them tells.

Of such rows numpy made an array of objects; since version 1.24 it raises a ValueError.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from .index import Scope

RAGGED = '["ragged"]'
"""What `summary` writes for such an argument, where the JSON text of a literal stands for others."""
_SAME_ROWS = frozenset({"list", "tuple", "sorted", "reversed"})
_DISPLAYS = ast.ListComp | ast.GeneratorExp


def is_ragged(
    node: ast.expr,
    scope: Scope,
    given: Callable[[Scope, str], bool] = lambda function, parameter: False,
    appended: Callable[[Scope, str], Iterable[ast.expr]] = lambda owner, name: (),
    judged: set[tuple[int, str]] | None = None,
) -> bool:
    """Whether a value, read in a scope, may be a sequence of rows of unlike lengths.

    `given` tells that of a parameter's arguments, and `appended` what a scope appends to one of its names.
    Each name is judged once: those that were, with the ids of their scopes, are in `judged`.
    """
    judged = set() if judged is None else judged
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        name = node.func.id
        if any(name in one.binds for one in scope.chain()):
            return False
        if name == "zip":
            return len(node.args) > 1 or isinstance(node.args[0], ast.Starred)
        return name in _SAME_ROWS and is_ragged(node.args[0], scope, given, appended, judged)
    if isinstance(node, _DISPLAYS):
        targets = {
            one.id for clause in node.generators for one in ast.walk(clause.target) if isinstance(one, ast.Name)
        }
        return _is_row(node.elt, targets)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return is_ragged(node.value, scope, given, appended, judged)
    if isinstance(node, ast.IfExp):
        return any(is_ragged(one, scope, given, appended, judged) for one in (node.body, node.orelse))
    if not isinstance(node, ast.Name):
        return False
    owner = next((one for one in scope.chain() if node.id in one.binds), None)
    if owner is None or (owner.id, node.id) in judged:
        return False
    judged.add((owner.id, node.id))
    for bind in owner.binds[node.id]:
        if bind.kind == "parameter" and given(owner, node.id):
            return True
        value = bind.node if bind.kind in ("value", "opaque") else None
        if isinstance(value, ast.expr) and is_ragged(value, bind.scope or owner, given, appended, judged):
            return True
    return any(_is_row(one, None) for one in appended(owner, node.id))


def _is_row(node: ast.expr, targets: set[str] | None) -> bool:
    """Whether an item is as long as what it is made of; `targets` are the names that change from item to item.

    None stands for any name.
    """
    if isinstance(node, _DISPLAYS):
        first = node.generators[0].iter
        return any(
            isinstance(one, ast.Name) and (targets is None or one.id in targets) for one in ast.walk(first)
        ) and not (isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == "range")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "split"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "list" and node.args:
        inner = node.args[0]
        mapped = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in ("map", "filter")
        return mapped or _is_row(inner, targets)
    return False
