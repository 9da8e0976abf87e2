"""What becomes of the names of variables, and which lists those are whose elements are told apart by them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, File, Reference, Site, literal_string
from ..checkpoints.assigned import assignments_to
from ..numerics.models import maker_of
from .strategies import stations, ways_to

LISTS = frozenset(
    {
        "non_trainable_variables", "non_trainable_weights", "trainable_variables", "trainable_weights", "variables",
        "weights",
    }
)  # fmt: skip
"""Attributes of models, layers and modules that are lists of variables."""
_OWN = frozenset(
    {
        "beta", "bias", "embeddings", "gamma", "kernel", "moving_mean", "moving_variance", "recurrent_kernel",
        "depthwise_kernel", "pointwise_kernel",
    }
)  # fmt: skip
"""What the layers of Keras 3 call their variables."""
_ASKS = frozenset({"startswith", "endswith", "find", "rfind", "index", "count"})
_TAKES_APART = frozenset({"split", "rsplit", "partition", "rpartition", "replace", "removeprefix", "removesuffix"})
_SPELLS = frozenset({"lower", "upper", "strip", "casefold"})
_SEARCHES = frozenset({"re.search", "re.match", "re.fullmatch", "re.findall", "fnmatch.fnmatch", "fnmatch.fnmatchcase"})
_COPIES = frozenset({"list", "tuple", "sorted", "reversed", "enumerate", "set"})
_SHORT = 3
"""A text of fewer letters is no part of a word: ``g_`` is in ``moving_mean`` by chance."""
_MAKES = frozenset({"add_weight", "add_variable"})
_DEEP = 8
"""Lists that are made of lists."""


def asked_for_names(file: File) -> set[int]:
    """The expressions, by their identity, whose elements the file tells apart by what Keras 3 calls paths."""
    return {id(end) for site, variable, _ in asked_in(file) for _, end in ends_of(site, variable)}


def asked_in(file: File) -> Iterator[tuple[Reference, ast.Name, str]]:
    """Where a file tells things apart by names: the place, ``v`` of ``v.name``, and what becomes of it."""
    for fact in file.index.references:
        node = fact.node
        while isinstance(node, ast.Attribute):
            if node.attr == "name" and isinstance(node.value, ast.Name):
                site = file.reference_of(fact)
                if effect := _effect(site, node):
                    yield site, node.value, effect
                break
            node = node.value


def _effect(site: Reference, asked: ast.expr) -> str:
    """What becomes of the use of a name; empty where it tells no variables apart, or does so still."""
    asked, parent = _as_text(site, asked)
    if isinstance(parent, ast.Compare) and len(parent.ops) == 1:
        other = parent.left if parent.left is not asked else parent.comparators[0]
        if isinstance(parent.ops[0], ast.In | ast.NotIn) and parent.left is asked:
            return _MISSED if not _has_only_own(site, other) else ""
        if isinstance(parent.ops[0], ast.In | ast.NotIn | ast.Eq | ast.NotEq):
            return _missed(site, other)
        return ""
    if isinstance(parent, ast.Attribute):
        call = site.file.parent_of(parent)
        if not isinstance(call, ast.Call) or call.func is not parent:
            return ""
        if parent.attr in _ASKS:
            return _missed(site, call.args[0] if call.args else None)
        return _PART if parent.attr in _TAKES_APART and _is_split(site, call) else ""
    if isinstance(parent, ast.Call):
        searched = site.file.call_at(parent)
        return _MISSED if searched is not None and searched.name in _SEARCHES else ""
    if (isinstance(parent, ast.DictComp) and parent.key is asked) or isinstance(parent, ast.Subscript):
        return _ONE
    return ""


def _as_text(site: Reference, asked: ast.expr) -> tuple[ast.expr, ast.AST | None]:
    """A name, also as ``str(v.name)`` or ``v.name.lower()``, and what it stands in."""
    parent = site.file.parent_of(asked)
    while True:
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "str":
            asked = parent
        elif isinstance(parent, ast.Attribute) and parent.attr in _SPELLS:
            around = site.file.parent_of(parent)
            if not isinstance(around, ast.Call) or around.func is not parent:
                return asked, parent
            asked = around
        else:
            return asked, parent
        parent = site.file.parent_of(asked)


_MISSED = "what names of layers choose is not found."
_PART = "there are no other parts."
_ONE = "variables of several layers share one key, and the last is kept."


def _missed(site: Reference, text: ast.expr | None) -> str:
    literal = literal_string(text) if text is not None else None
    if literal is None and isinstance(text, ast.Tuple):
        return "" if all(not _missed(site, one) for one in text.elts) else _MISSED
    return "" if literal is not None and _is_own(site, literal) else _MISSED


def _has_only_own(site: Reference, node: ast.expr) -> bool:
    """Whether a name is looked up among last names alone."""
    texts = [literal_string(one) for one in node.elts] if isinstance(node, ast.List | ast.Tuple | ast.Set) else [None]
    return all(text is not None and _is_own(site, text) for text in texts)


def _is_own(site: Reference, text: str) -> bool:
    """Whether a text tells of the last names of variables, of Keras's layers or of those of the file."""
    own = _OWN | site.file.once("names given to weights", lambda: _given(site.file))
    if len(text) < _SHORT:
        return text in own
    return any(name.startswith(text) or name.endswith(text) for name in own)


def _given(file: File) -> frozenset[str]:
    """The names that the file gives to variables of its own."""
    made = (call.literal("name", 0) for call in file.calls if call.method in _MAKES or call.name == "keras.Variable")
    return frozenset(name for name in made if isinstance(name, str))


def _is_split(site: Reference, call: ast.Call) -> bool:
    """Whether a name is taken apart at its slashes, and not only freed of the number of an output."""
    texts = [literal_string(one) for one in call.args]
    return any(text is not None and "/" in text for text in texts)


def knows_paths(site: Reference, variable: ast.Name) -> bool:
    """Whether the function asks the same variable for its path as well."""
    around = site.file.references_by_function.get(site.scope.function().id, [])
    return any((one.path or "").startswith(f"{variable.id}.path") for one in around)


def ends_of(site: Site, variable: ast.Name) -> Iterator[tuple[Site, ast.expr]]:
    """What the lists are made of whose elements a name is, one after another; nothing where it has other values too."""
    made = site.reaching(variable)
    for one in made if all(one.source is not None for one in made) else ():
        yield from _ends(one, one.source)
    if not made and (filtered := _filtered(site, variable)) is not None:
        yield from _ends(filtered, filtered.value("iterable", 1))


def _filtered(site: Site, variable: ast.Name) -> Call | None:
    """The call of `filter` that gives a list's elements to the function of whose parameter a name is read."""
    node = site.file.parent_of(variable)
    while node is not None:
        if isinstance(node, ast.Lambda) and any(one.arg == variable.id for one in node.args.args):
            break
        node = site.file.parent_of(node)
    around = None if node is None else site.file.parent_of(node)
    call = site.file.call_at(around) if isinstance(around, ast.Call) else None
    return call if call is not None and call.path == "filter" and call.value("function", 0) is node else None


def _ends(site: Site, node: ast.expr | None, depth: int = 0) -> Iterator[tuple[Site, ast.expr]]:
    """The expressions that a list of variables comes from, through names, sums, copies and choices of it."""
    if node is None or depth > _DEEP:
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _ends(site, node.left, depth + 1)
        yield from _ends(site, node.right, depth + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _COPIES and node.args:
        yield from _ends(site, node.args[0], depth + 1)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        yield from _ends(site, node.value, depth + 1)
    elif isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
        (generator,) = node.generators
        if ast.dump(node.elt) == ast.dump(generator.target).replace("Store()", "Load()"):
            yield from _ends(site, generator.iter, depth + 1)
    elif isinstance(node, ast.Attribute) and node.attr in LISTS:
        yield site, node
    elif isinstance(node, ast.Name | ast.Attribute):
        made = site.reaching(node) if isinstance(node, ast.Name) else assignments_to(site, node)
        for one in made:
            yield from _ends(one, one.value, depth + 1)
        for way in () if made else ways_to(site, node):  # of a parameter, what the file's calls give
            *_, (at, value) = stations(site, node, way)
            if value is not node:
                yield from _ends(at, value, depth + 1)
    else:
        yield site, node


def is_of_keras(site: Site, node: ast.expr) -> bool:
    """Whether an expression surely is a layer or model of Keras 3: the instance itself, or what one call makes."""
    if isinstance(node, ast.Name) and (owner := site.class_of_self(node.id)) is not None:
        return owner.is_keras
    made = maker_of(site, ast.unparse(node)) if isinstance(node, ast.Name | ast.Attribute) else None
    if made is None or not made.found:
        return False
    project = made.file.project
    return all(
        "layer" in project.kinds(one.key) and "v1layer" not in project.kinds(one.key)
        if one.kind == "class"
        else one.kind == "external" and all(name.canonical.startswith("keras.") for name in made.names)
        for one in made.found
    )
