"""What a file says of the models that it trains: the layers that they are made of, and the steps that train them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ...linter.rule_api.model import Call, ClassSite, Scope, Site, path_of

_VARIABLES = (".trainable_variables", ".trainable_weights", ".variables", ".weights")
_BUILDERS = frozenset({"keras.Sequential", "keras.Model"})
_APPLY = frozenset({"apply_gradients", "apply"})


class Parts(NamedTuple):
    """What is known of the making of a model."""

    calls: list[Call]
    """The calls that may make its layers."""
    cls: ClassSite | None = None
    """Its class, where that is one of this file."""


class Tape(NamedTuple):
    """A ``with tf.GradientTape() as tape``."""

    call: Call
    name: str
    node: ast.With
    siblings: list[Call]
    """The calls in its function that belong to no later tape of the name."""

    @property
    def gradients(self) -> list[Call]:
        """The calls of its ``gradient``."""
        return [call for call in self.siblings if call.path == f"{self.name}.gradient"]

    @property
    def is_training(self) -> bool:
        """Whether what it gives is applied, by name of the method."""
        return any(call.method in _APPLY for call in self.siblings)

    @property
    def trained(self) -> set[str]:
        """The paths of the models whose variables the gradients are taken of, and nothing else."""
        found: set[str] = set()
        for call in self.gradients:
            found.update(_owners(call, call.value("sources", 1)))
        return found

    @property
    def inner(self) -> list[Call]:
        """The calls that it records."""
        return [call for call in self.siblings if call.inside(self.call.call)]


def tape_of(call: Call) -> Tape | None:
    """The tape that a call of `tf.GradientTape` opens, under one name."""
    item = call.file.parent_of(call.call)
    if not isinstance(item, ast.withitem) or not isinstance(item.optional_vars, ast.Name):
        return None
    node = call.file.parent_of(item)
    if not isinstance(node, ast.With):
        return None
    name = item.optional_vars.id
    around = call.file.calls_by_function.get(call.scope.function().id, [])
    later = [
        other.line
        for other in around
        if other.name == call.name and other.line > call.line and _opens(other) == name
    ]
    end = min(later, default=None)
    siblings = [other for other in around if other.line >= call.line and (end is None or other.line < end)]
    return Tape(call, name, node, siblings)


def _opens(call: Call) -> str | None:
    item = call.file.parent_of(call.call)
    return path_of(item.optional_vars) if isinstance(item, ast.withitem) and item.optional_vars else None


def _owners(site: Site, value: ast.expr | None) -> Iterator[str]:
    """The paths before ``.trainable_variables`` in an expression, through one name of the function."""
    if isinstance(value, ast.Name):
        around = site.file.assignments_by_function.get(site.scope.function().id, [])
        made = [a.value for a in around if a.path == value.id]
        if len(made) == 1 and not isinstance(made[0], ast.Name):
            yield from _owners(site, made[0])
    elif isinstance(value, ast.BinOp):
        yield from _owners(site, value.left)
        yield from _owners(site, value.right)
    else:
        path = path_of(value) or ""
        yield from (path.removesuffix(end) for end in _VARIABLES if path.endswith(end))


def parts_of(site: Site, path: str) -> Parts | None:
    """The making of what `path` names at a site; None where it is not all in this file, or made several ways."""
    head, _, attribute = path.partition(".")
    owner = site.class_of_self(head)
    if owner is not None and not attribute:
        return _of_class(owner)
    if owner is not None:
        made = site.file.assignments_to(owner.body, attribute)
    elif not attribute:
        bound = site.file.index.lookup(site.scope, head)
        if bound is None:
            return None
        named = [a for a in site.file.assignments if a.kind == "name" and a.path == head]
        made = [a for a in named if a.scope.function() is bound[0]]
    else:
        return None
    if len(made) != 1 or made[0].augmented or made[0].value_call is None:
        return None
    return _of_call(made[0].value_call, path)


def _of_call(call: Call, path: str) -> Parts | None:
    if len(call.found) == 1 and call.found[0].kind in ("class", "function") and call.found[0].file == call.file.key:
        scope = call.file.index.scopes[call.found[0].scope]
        if scope.kind == "class":
            return _of_class(ClassSite(call.file, scope))
        return _of_maker(call, scope)
    if {name.canonical for name in call.names} != {"keras.Sequential"}:
        return None
    around = call.file.calls_by_function.get(call.scope.function().id, [])
    inside = {id(node) for node in ast.walk(call.call)}
    found = [one for one in around if id(one.call) in inside and one is not call]
    for other in around:
        if other.path == f"{path}.add":
            below = {id(node) for node in ast.walk(other.call)}
            found += [one for one in around if id(one.call) in below and one is not other]
    return Parts(found)


def _of_maker(call: Call, scope: Scope) -> Parts | None:
    """A function that makes one model and returns it."""
    calls = call.file.calls_by_function.get(scope.id, [])
    models = [one for one in calls if one.name in _BUILDERS]
    return Parts(calls) if len(models) == 1 else None


def _of_class(cls: ClassSite) -> Parts | None:
    if "model" not in cls.kinds and "layer" not in cls.kinds:
        return None
    calls = [call for name, method in cls.methods.items() if name in ("__init__", "build") for call in method.calls]
    return Parts(calls, cls)
