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


class Raggedness:
    """Which values of one file may be sequences of rows of unlike lengths; each name is judged once.

    `given` tells that of a parameter's arguments, and `appended` what a scope appends to one of its names.
    """

    def __init__(
        self,
        given: Callable[[Scope, str], bool] = lambda function, parameter: False,
        appended: Callable[[Scope, str], Iterable[ast.expr]] = lambda owner, name: (),
    ) -> None:
        self._given = given
        self._appended = appended
        self._judged: dict[tuple[int, str], bool] = {}
        """By scope and name; False also while a name is being judged."""

    def holds(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a value, read in a scope, may be ragged."""
        met: list[tuple[int, str]] = []
        is_ragged = self._holds(node, scope, met)
        if is_ragged:  # a name that was met while another was being judged may have been denied too early
            for key in met:
                if not self._judged[key]:
                    del self._judged[key]
        return is_ragged

    def _holds(self, node: ast.expr, scope: Scope, met: list[tuple[int, str]]) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            name = node.func.id
            if any(name in one.binds for one in scope.chain()):
                return False
            if name == "zip":
                return len(node.args) > 1 or isinstance(node.args[0], ast.Starred)
            return name in _SAME_ROWS and self._holds(node.args[0], scope, met)
        if isinstance(node, _DISPLAYS):
            targets = {
                one.id for clause in node.generators for one in ast.walk(clause.target) if isinstance(one, ast.Name)
            }
            return _is_row(node.elt, targets)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self._holds(node.value, scope, met)
        if isinstance(node, ast.IfExp):
            return any(self._holds(one, scope, met) for one in (node.body, node.orelse))
        if not isinstance(node, ast.Name):
            return False
        owner = next((one for one in scope.chain() if node.id in one.binds), None)
        if owner is None:
            return False
        key = (owner.id, node.id)
        if key not in self._judged:
            self._judged[key] = False
            met.append(key)
            self._judged[key] = self._is_bound(owner, node.id, met)
        return self._judged[key]

    def _is_bound(self, owner: Scope, name: str, met: list[tuple[int, str]]) -> bool:
        """Whether anything that a scope binds to a name is ragged."""
        for bind in owner.binds[name]:
            if bind.kind == "parameter" and self._given(owner, name):
                return True
            value = bind.node if bind.kind in ("value", "opaque") else None
            if isinstance(value, ast.expr) and self._holds(value, bind.scope or owner, met):
                return True
        return any(_is_row(one, None) for one in self._appended(owner, name))


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
