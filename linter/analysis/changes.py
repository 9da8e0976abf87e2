"""What code changes that may be older than it: outer names, attributes, items and contents, however it is written.

``a = a + 1`` under ``global a``, ``setattr(self, "n", 1)``, ``self.__dict__["n"] = 1``, ``log.append(x)``,
``heapq.heappush(heap, x)`` and ``push(self.log, x)`` of a function that appends to its parameter are changes alike.
What an object is that is changed, and how long it lives, is not asked here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .index import AssignmentFact, Block, CallFact, FileIndex, Scope, nodes_below
from .paths import literal_string, path_of
from .unpacking import ways_to

GROWERS = frozenset(
    {"append", "extend", "insert", "appendleft", "extendleft", "add", "update", "setdefault", "put", "put_nowait"}
)
"""Methods that put something into a container."""

_TAKERS = frozenset({"pop", "popleft", "popitem", "remove", "discard", "clear", "get_nowait"})
_ORDERERS = frozenset({"sort", "reverse", "rotate", "move_to_end", "subtract"})
MUTATORS = GROWERS | _TAKERS | _ORDERERS

_FUNCTIONS = {
    "heapq.heappush": 1, "heapq.heappop": 1, "heapq.heapify": 0, "heapq.heapreplace": 1, "heapq.heappushpop": 1,
    "bisect.insort": 1, "bisect.insort_left": 1, "bisect.insort_right": 1, "builtins.next": 0,
    "operator.setitem": 2, "operator.iadd": 1, "operator.delitem": 2,
}  # fmt: skip
"""Functions that change their first argument, with the place of what they put into it."""

_SETTERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
_ITEM_SETTERS = frozenset({"__setitem__", "__delitem__"})
_BUILTIN = frozenset({"list", "dict", "set"})
_THROUGH = frozenset({"get", "setdefault", "values", "items"})
_DEEP = 4
"""Calls, one in the other, that a change of a parameter is followed through."""
_MOST = 8
"""Changes of its parameters that other files know of a function."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    ``kind``: ``name`` (of an outer scope gets another value), ``attribute``, ``item``, ``content`` (by a method, or in
    place). ``target`` is the name, the attribute, or the expression for the object that has the item or the content.
    """

    node: ast.stmt | ast.expr
    scope: Scope
    block: Block
    kind: str
    target: ast.expr
    values: tuple[ast.expr, ...] = ()
    """What is put there."""
    verb: str = ""
    """The method or function; empty for an assignment."""
    key: ast.expr | None = None
    """Of an item."""
    relative: bool = False
    """Whether the new value is made of the old one."""
    through: str = ""
    """The function that does it, where it is done by calling one."""


class Changes:
    """Answers for the functions of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._calls: dict[int, list[CallFact]] = {}
        for call in index.calls:
            self._calls.setdefault(call.scope.function().id, []).append(call)
        self._deleted: dict[int, list[AssignmentFact]] = {}
        for fact in index.deletions:
            self._deleted.setdefault(fact.scope.function().id, []).append(fact)
        self._own: dict[int, tuple[Change, ...]] = {}
        self._values: dict[int, dict[str, list[ast.expr]]] = {}
        self._all: dict[int, tuple[Change, ...]] = {}

    def made_by(self, function: Scope) -> tuple[Change, ...]:
        """The changes in the body of a function, and those of what it gives to functions of the file."""
        return self._made_by(function, 0)

    def _made_by(self, function: Scope, depth: int) -> tuple[Change, ...]:
        found = self._all.get(function.id)
        if found is None:
            found = self._own_of(function)
            if depth < _DEEP:
                given = [change for call in self._calls.get(function.id, ()) for change in self._given(call, depth)]
                found += tuple(given)
            if depth == 0:
                self._all[function.id] = found
        return found

    def _own_of(self, function: Scope) -> tuple[Change, ...]:
        found = self._own.get(function.id)
        if found is None:
            assigned = (c for fact in self._index.assignments_in(function) for c in self._assigned(function, fact))
            called = (c for call in self._calls.get(function.id, ()) for c in self._called(call))
            facts = self._deleted.get(function.id, ())
            deleted = (replace(c, verb="del") for fact in facts for c in self._assigned(function, fact))
            found = self._own[function.id] = (*assigned, *called, *deleted)
        return found

    # -- statements --------------------------------------------------------------------------------------------------

    def _assigned(self, function: Scope, fact: AssignmentFact) -> Iterator[Change]:
        target = fact.target
        if isinstance(target, ast.Name) and not (fact.augmented or target.id in function.outer_names):
            return
        values = tuple(_given_to(fact))
        relative = fact.augmented or any(self.reads(function, value, target) for value in values)
        change = Change(fact.node, fact.scope, fact.block, "name", target, values, relative=relative)
        if isinstance(target, ast.Name):
            if target.id in function.outer_names:
                yield change
            elif fact.augmented:  # a list that it stands for grows
                yield replace(change, kind="content", verb="+=")
        elif isinstance(target, ast.Attribute):
            yield replace(change, kind="attribute")
        elif isinstance(target, ast.Subscript):
            sliced = isinstance(target.slice, ast.Slice) and self.reads(function, target.slice, target.value)
            yield _of_item(replace(change, relative=relative or sliced), target.value, target.slice)

    def reads(self, function: Scope, value: ast.expr, target: ast.expr) -> bool:
        """Whether a value is made of what a target has, also by way of locals and of ``d.get(k)`` for ``d[k]``."""
        wanted = ""
        seen: set[str] = set()
        waiting: list[ast.AST] = [value]
        while waiting:
            for part in nodes_below(waiting.pop()):
                if isinstance(part, ast.Call) and isinstance(target, ast.Subscript) and _looks_up(part, target):
                    return True
                if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
                    continue
                if type(part) is type(target):
                    wanted = wanted or ast.unparse(target)
                    if ast.unparse(part) == wanted:
                        return True
                if isinstance(part, ast.Name) and part.id not in seen:
                    seen.add(part.id)
                    waiting += self.values(function, part.id)
        return False

    def values(self, function: Scope, name: str) -> list[ast.expr]:
        """What a local of a function is given; nothing for a parameter and for names of outer scopes."""
        if name in function.outer_names or name in function.parameters or name not in function.binds:
            return []
        known = self._values.get(function.id)
        if known is None:
            known = self._values[function.id] = {}
            for fact in self._index.assignments_in(function):
                value = fact.value or fact.source
                if isinstance(fact.target, ast.Name) and not fact.augmented and value is not None:
                    known.setdefault(fact.target.id, []).append(value)
        return known.get(name, [])

    # -- calls -------------------------------------------------------------------------------------------------------

    def _called(self, call: CallFact) -> Iterator[Change]:
        node = call.node
        change = Change(node, call.scope, call.block, "content", node)
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        func = node.func
        if isinstance(func, ast.Name) and len(bound := self.values(call.scope.function(), func.id)) == 1:
            func = bound[0]  # `note = self.log.append`
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        owner = func.value if isinstance(func, ast.Attribute) else None
        if name in _SETTERS:
            if name[0] == "_" and owner is not None and (len(node.args) == 1 + ("set" in name) or _is_super(owner)):
                owner = self._self(call) if _is_super(owner) else owner
            elif arguments:
                owner, *arguments = arguments
            attribute = literal_string(arguments[0]) if arguments else None
            if attribute is not None and owner is not None:
                yield self._of_attribute(change, owner, attribute, arguments[1:2])
        elif isinstance(owner, ast.Name) and owner.id in _BUILTIN and name in MUTATORS and arguments:
            yield replace(change, target=arguments[0], values=tuple(arguments[1:]), verb=name)
        elif owner is not None and name in _ITEM_SETTERS and arguments:
            yield _of_item(replace(change, values=tuple(arguments[1:2])), owner, arguments[0])
        elif owner is not None and name in MUTATORS:
            if (viewed := _viewed(owner)) is not None and name == "update":
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        yield self._of_attribute(change, viewed, keyword.arg, [keyword.value])
            else:
                relative = any(self.reads(call.scope.function(), value, owner) for value in arguments)
                yield replace(change, target=owner, values=tuple(arguments), verb=name, relative=relative)
        elif arguments:
            for text in self._index.resolve(call.scope, call.path) if call.path is not None else ():
                if text in _FUNCTIONS:
                    put = tuple(arguments[_FUNCTIONS[text] :]) if _FUNCTIONS[text] else ()
                    target, verb = arguments[0], text.removeprefix("builtins.")
                    if text.endswith("item"):
                        yield _of_item(replace(change, values=put), target, arguments[1])
                    else:
                        yield replace(change, target=target, values=put, verb=verb)

    def _of_attribute(self, change: Change, owner: ast.expr, name: str, values: list[ast.expr]) -> Change:
        target = ast.copy_location(ast.Attribute(owner, name, ast.Load()), change.node)
        relative = any(self.reads(change.scope.function(), value, target) for value in values)
        return replace(change, kind="attribute", target=target, values=tuple(values), relative=relative)

    @staticmethod
    def _self(call: CallFact) -> ast.expr | None:
        names = call.scope.function().parameters[:1]
        return ast.copy_location(ast.Name(names[0], ast.Load()), call.node) if names else None

    def _given(self, call: CallFact, depth: int) -> Iterator[Change]:
        """What a function of the file does to what a call gives it."""
        if call.path is None:
            return
        for text in self._index.resolve(call.scope, call.path):
            function, bound = self._function(text)
            if function is None or function is call.scope.function():
                continue
            syntax = getattr(function.node, "args", None)
            if isinstance(syntax, ast.arguments):
                names = [each.arg for each in (*syntax.posonlyargs, *syntax.args)]
                # what it does to its own object is told where it does it
                given = _arguments(call.node, names[1:] if bound else names)
                for change in self._made_by(function, depth + 1):
                    yield from _at(call, change, _once_bound(function), given, function.name)

    def _function(self, text: str) -> tuple[Scope | None, bool]:
        """A function of the file by its name, and whether its first parameter is the object before it."""
        if text.startswith("@") and text[1:].isdigit():
            scope = self._index.scopes[int(text[1:])]
            return (scope, False) if scope.is_function and not scope.decorators else (None, False)
        head, _, method = text.partition(".")
        if head.startswith("self@") and head[5:].isdigit():
            for bind in self._index.scopes[int(head[5:])].binds.get(method, ()):
                if bind.scope is not None and bind.scope.kind == "function":
                    names = {path_of(decorator) for decorator in bind.scope.decorators}
                    return (bind.scope, not names) if names <= {"staticmethod"} else (None, False)
        return None, False


def _given_to(fact: AssignmentFact) -> Iterator[ast.expr]:
    """What a target is given: the value, or the item of what is unpacked, as if it were looked up there."""
    if fact.value is not None:
        yield fact.value
    elif fact.source is not None:
        item = fact.source
        for place in ways_to(fact.node).get(id(fact.target), (None,)):
            if not isinstance(place, int):
                return
            item = ast.copy_location(ast.Subscript(item, ast.Constant(place), ast.Load()), fact.source)
        yield item


def _of_item(change: Change, owner: ast.expr, key: ast.expr) -> Change:
    """The change of an item, which is that of an attribute or a global where a dict stands for those."""
    name = literal_string(key)
    viewed = _viewed(owner)
    if name is not None and viewed is not None:
        target = ast.copy_location(ast.Attribute(viewed, name, ast.Load()), change.node)
        return replace(change, kind="attribute", target=target)
    if name is not None and path_of(owner) == "globals()":
        return replace(change, kind="name", target=ast.copy_location(ast.Name(name, ast.Load()), change.node))
    return replace(change, kind="item", target=owner, key=key)


def _viewed(node: ast.expr) -> ast.expr | None:
    """The object whose attributes ``x.__dict__`` or ``vars(x)`` are."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.Call) and path_of(node.func) == "vars" and len(node.args) == 1:
        return node.args[0]
    return None


def owner_of(node: ast.expr) -> ast.expr:
    """What an item belongs to, however it is looked up: ``self.d`` for ``self.d["k"]`` and ``self.d.get("k", [])``."""
    while True:
        if isinstance(node, ast.Subscript | ast.Starred | ast.NamedExpr):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _THROUGH:
            node = node.func.value
        else:
            return node


def _looks_up(node: ast.Call, item: ast.Subscript) -> bool:
    """Whether a call such as ``d.get(k, 0)`` gives an item."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("get", "setdefault", "pop") or not node.args:
        return False
    same = ast.unparse(node.func.value) == ast.unparse(item.value)
    return same and ast.unparse(node.args[0]) == ast.unparse(item.slice)


def _is_super(node: ast.expr) -> bool:
    return path_of(node) == "super()"


def _arguments(node: ast.Call, names: list[str]) -> dict[str, ast.expr]:
    """The arguments of a call by the function's parameters, as far as they are told apart."""
    found: dict[str, ast.expr] = {}
    for name, argument in zip(names, node.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        found[name] = argument
    return found | {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}


def _once_bound(function: Scope) -> frozenset[str]:
    """The parameters that never get another value."""
    return frozenset(name for name in function.parameters if len(function.binds.get(name, ())) == 1)


def _at(
    call: CallFact, change: Change, parameters: frozenset[str], given: dict[str, ast.expr], through: str
) -> Iterator[Change]:
    """The change that a call makes by what the called function does to a parameter."""
    target = _with_names(change.target, parameters, given)
    if target is not None:
        values = (_with_names(value, parameters, given) for value in change.values)
        put = tuple(value for value in values if value is not None)
        yield replace(
            change, node=call.node, scope=call.scope, block=call.block, target=target, values=put, through=through
        )


def _with_names(node: ast.expr, parameters: frozenset[str], given: dict[str, ast.expr]) -> ast.expr | None:
    """An expression of a function in the terms of its caller; None where it does not begin with a parameter."""
    if isinstance(node, ast.Name):
        return given.get(node.id) if node.id in parameters else None
    if isinstance(node, ast.Attribute | ast.Subscript):
        inner = _with_names(node.value, parameters, given)
        if inner is None:
            return None
        if isinstance(node, ast.Attribute):
            return ast.copy_location(ast.Attribute(inner, node.attr, node.ctx), inner)
        return ast.copy_location(ast.Subscript(inner, node.slice, node.ctx), inner)
    return node if isinstance(node, ast.Constant) else None


# -- for other files ---------------------------------------------------------------------------------------------------


def changed_parameters(index: FileIndex) -> dict[int, list[list[Any]]]:
    """What functions do to their parameters, as JSON, by the function; methods are told where they do it."""
    found: dict[int, list[list[Any]]] = {}
    if not (wanted := _changing(index)):
        return found
    changes = Changes(index)
    for function in wanted.values():
        parameters = _once_bound(function)
        itself: dict[str, ast.expr] = {name: ast.Name(name, ast.Load()) for name in parameters}
        rows: list[list[Any]] = []
        for change in changes.made_by(function):
            if change.kind != "name" and _with_names(change.target, parameters, itself) is not None:
                values = [v.id for v in change.values if isinstance(v, ast.Name) and v.id in parameters]
                fixed = isinstance(change.key, ast.Constant)
                rows.append([change.kind, ast.unparse(change.target), change.verb, fixed, change.relative, values])
        if rows:
            found[function.id] = rows[:_MOST]
    return found


def _changing(index: FileIndex) -> dict[int, Scope]:
    """The functions, but methods, that may change a parameter."""
    found: dict[int, Scope] = {}
    for call in index.calls:
        func = call.node.func
        if func.__class__ is ast.Attribute and func.attr in MUTATORS:
            _add_owner(found, call.scope, func.value)
    for fact in index.assignments:
        target = fact.target
        if target.__class__ is ast.Attribute or target.__class__ is ast.Subscript:
            _add_owner(found, fact.scope, target)
    return found


def _add_owner(found: dict[int, Scope], scope: Scope, node: ast.expr) -> None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    function = scope.function()
    if isinstance(node, ast.Name) and node.id in function.parameters and function.owner() is None:
        found[function.id] = function


def from_elsewhere(call: CallFact, name: str, parameters: list[str], rows: list[list[Any]]) -> Iterator[Change]:
    """The changes that a call makes by a function of another file: see `changed_parameters`."""
    given = _arguments(call.node, parameters)
    for kind, text, verb, fixed, relative, values in rows:
        put = tuple(ast.copy_location(ast.Name(value, ast.Load()), call.node) for value in values)
        key = ast.Constant(None) if fixed else None
        target = ast.parse(text, mode="eval").body
        change = Change(call.node, call.scope, call.block, kind, target, put, verb, key, relative)
        yield from _at(call, change, frozenset(parameters), given, name)
