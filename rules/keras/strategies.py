"""The distribution strategies under whose scope a file makes its models."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ...linter.rule_api.model import Call, Site, path_of
from .members import member_of

_PREFIXES = ("tensorflow.distribute.experimental.", "tensorflow.distribute.")
_SCOPE = "().scope()"


class Strategy(NamedTuple):
    """A strategy of `tf.distribute`."""

    kind: str
    """``MirroredStrategy``."""
    made: Call | None
    """The call that makes it, where that is one of the same function or module."""


def is_fit(call: Call) -> bool:
    """Whether it calls ``fit`` of what is surely a model of Keras."""
    members = [member_of(name) for name in call.names]
    external = all(entity.kind == "external" for entity in call.found)
    return external and bool(members) and all(m is not None and (m.kind, m.name) == ("Model", "fit") for m in members)


def strategy_of(call: Call) -> Strategy | None:
    """The strategy in whose scope the receiver of a method is made, or the call stands itself."""
    receiver = (call.path or "").rpartition(".")[0]
    if not receiver.isidentifier():
        return None
    home = call.file.index.lookup(call.scope, receiver)
    around = call.file.assignments_by_function.get(home[0].id, []) if home is not None else []
    made = [assignment for assignment in around if assignment.path == receiver]
    found = {_around(site) for site in made} if made else set()
    inside = _around(call)
    kinds = {one.kind for one in found if one is not None}
    if None not in found and len(kinds) == 1:
        return next(one for one in found if one is not None)
    return inside


def _around(site: Site) -> Strategy | None:
    for level in site.block.holders():
        path = path_of(level.node) if level.kind == "with" and isinstance(level.node, ast.expr) else None
        for name in site.file.names(level.scope, path):
            kind = _kind(name.canonical)
            if kind:
                return Strategy(kind, _maker(site, (path or "").partition(".scope")[0]))
    return None


def _kind(canonical: str) -> str:
    for prefix in _PREFIXES:
        if canonical.startswith(prefix) and canonical.endswith(_SCOPE):
            kind = canonical[len(prefix) : -len(_SCOPE)]
            return kind if kind.isidentifier() else ""
    return ""


def _maker(site: Site, path: str) -> Call | None:
    home = site.file.index.lookup(site.scope, path) if path.isidentifier() else None
    around = site.file.assignments_by_function.get(home[0].id, []) if home is not None else []
    made = [assignment.value_call for assignment in around if assignment.path == path]
    return made[0] if len(made) == 1 else None
