"""What a file says of the models that it trains: the layers that they are made of, and the steps that train them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ...linter.rule_api.model import Assignment, Call, ClassSite, Scope, Site, path_of

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
    call = maker_of(site, path)
    return _of_call(call, path) if call is not None else None


def maker_of(site: Site, path: str) -> Call | None:
    """The one call whose result `path` is at a site, in this file; None where it is not known, or there are several."""
    head, _, attribute = path.partition(".")
    owner = site.class_of_self(head)
    if owner is not None and attribute:
        made = site.file.assignments_to(owner.body, attribute)
    elif owner is None and not attribute:
        bound = site.file.index.lookup(site.scope, head)
        if bound is None:
            return None
        named = [a for a in site.file.assignments if a.kind == "name" and a.path == head]
        made = [a for a in named if a.scope.function() is bound[0]]
    else:
        return None
    return made[0].value_call if len(made) == 1 and not made[0].augmented else None


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


def last_layer(site: Site, path: str) -> Call | None:
    """The call that makes the last layer of the model that `path` names at a site; None where it is not known."""
    owner = site.class_of_self(path)
    if owner is not None:
        return _last_of_class(owner)
    made = maker_of(site, path)
    return _last_of(made, path) if made is not None else None


def _last_of(made: Call, path: str | None) -> Call | None:
    """The last layer of what a call makes, and keeps as `path`."""
    if len(made.found) == 1 and made.found[0].kind in ("class", "function") and made.found[0].file == made.file.key:
        scope = made.file.index.scopes[made.found[0].scope]
        if scope.kind == "class":
            return _last_of_class(ClassSite(made.file, scope))
        inner = [call for call in made.file.calls_by_function.get(scope.id, []) if call.name in _BUILDERS]
        returned = made.file.index.returns_in(scope)
        if len(inner) != 1 or len(returned) != 1:
            return None
        name = path_of(returned[0].value)
        if returned[0].value is not inner[0].call and (name is None or name not in inner[0].assigned_to):
            return None
        return _last_of(inner[0], name)
    if len(made.names) != 1 or made.name not in _BUILDERS:
        return None
    if made.name == "keras.Model":
        return _layer_behind(made, made.value("outputs", 1))
    return _last_of_sequential(made, path)


def _last_of_sequential(made: Call, path: str | None) -> Call | None:
    around = made.file.calls_by_function.get(made.scope.function().id, [])
    changes = [call for call in around if path and call.receiver is not None and path_of(call.receiver) == path]
    added = [call for call in changes if call.method in ("add", "pop")]
    if any(call.block is not made.block or call.method == "pop" for call in added):
        return None
    layers = made.value("layers", 0)
    if added:
        node = added[-1].value("layer", 0)
    elif isinstance(layers, ast.List | ast.Tuple) and layers.elts:
        node = layers.elts[-1]
    else:
        return None
    return made.file.call_at(node)


def _last_of_class(cls: ClassSite) -> Call | None:
    """The layer whose result `call` of a class returns."""
    forward = cls.methods.get("call")
    returned = cls.file.index.returns_in(forward.body) if forward is not None else []
    if forward is None or len(returned) != 1 or "model" not in cls.kinds:
        return None
    node: ast.expr | None = returned[0].value
    if isinstance(node, ast.Name):
        node = _value_of_name(Site(cls.file, node, forward.body, returned[0].block), node)
    applied = cls.file.call_at(node)
    return maker_of(applied, applied.path) if applied is not None and applied.path else None


def _layer_behind(site: Site, node: ast.expr | None) -> Call | None:
    """The layer that makes a tensor of a functional model, where it is called at once: ``Dense(1)(x)``."""
    if isinstance(node, ast.Name):
        node = _value_of_name(site, node)
    return site.file.call_at(node.func) if isinstance(node, ast.Call) else None


def _value_of_name(site: Site, name: ast.Name) -> ast.expr | None:
    given = given_to(site, name.id)
    return given.value if given is not None and not given.augmented else None


def given_to(site: Site, name: str) -> Assignment | None:
    """Where a name was last given a value before a site of its function; None where that depends on the way."""
    around = site.file.assignments_by_function.get(site.scope.function().id, [])
    given = [a for a in around if a.path == name and a.line < site.line]
    if not given:
        return None
    block = next((level for level in given[-1].block.chain() if level.kind != "with"), given[-1].block)
    return given[-1] if block in site.block.chain() else None
