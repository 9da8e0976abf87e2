"""What slim's layers are told, and by whom."""

from __future__ import annotations

import ast

from ...linter.rule_api.model import Call, Reference


def is_scoped(site: Call | Reference, keyword: str) -> bool:
    """Whether an `arg_scope` of the file gives this argument to the function, or may give it."""
    return any(_may_give(scope, site.name, keyword) for scope in _scopes(site))


def scoped(site: Call | Reference, keyword: str) -> list[ast.expr | None]:
    """The values of an argument that an `arg_scope` of the file gives the function, or may give it."""
    return [scope.value(keyword) for scope in _scopes(site) if _may_give(scope, site.name, keyword)]


def _scopes(site: Call | Reference) -> list[Call]:
    found: list[Call] = site.file.once(
        "arg scopes", lambda: [call for call in site.file.calls if call.name == "slim.arg_scope"]
    )
    return found


def _may_give(scope: Call, name: str, keyword: str) -> bool:
    listed = scope.value("list_ops_or_scope", 0)
    if not isinstance(listed, ast.List | ast.Tuple):
        return True
    if not scope.has_stars and keyword not in scope.keywords:
        return False
    named = [scope.names_of(node) for node in listed.elts]
    return any(not names or any(found.canonical == name for found in names) for names in named)
