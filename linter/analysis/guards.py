"""Create-once guards: whether code runs at every call, or only while something is still missing.

A guard tests a state that outlives the call (an attribute, an item, a global) for absence, and the code under it
supplies that state.
``if self.v is None: self.v = make()`` is a guard; ``if training:`` and ``if x is None:`` on a local are not.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from .index import Block, FileIndex, Scope
from .lazy import cached_property
from .paths import is_none, literal_string, path_of, split_head

_MUTATORS = frozenset({"append", "add", "update", "insert", "extend", "setdefault", "__setitem__", "__setattr__"})
_KERAS_METHODS = frozenset({"add_loss", "add_metric", "add_update", "add_variable", "add_weight"})
"""Inherited from Keras: what they make is in no attribute until it is assigned to one."""
_FLAG = "?"
"""Marks a state that is tested for being set, as in ``if self.first:``."""

_ABSENT_ERRORS = frozenset({"AttributeError", "KeyError", "NameError", "IndexError", "LookupError"})


@dataclass(slots=True)
class _Writes:
    """What one function writes; a place is that of a block in the order of the tree."""

    places: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Where each base path is written."""
    assigned: set[tuple[str, int]] = field(default_factory=set)
    """Base paths with the assignment that writes them, by its identity."""
    items: set[str] = field(default_factory=set)
    """The paths of which an item is assigned."""
    self_calls: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Where methods are called on the same instance, which may supply its state."""

    def write(self, path: str, place: int, statement: ast.AST) -> None:
        self.places[path].append(place)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            self.assigned.add((path, id(statement)))


class Guards:
    """Answers for all blocks of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._writes: defaultdict[int, _Writes] | None = None
        self._memo: dict[int, Block | None] = {}
        self._states: dict[tuple[int, str], str | None] = {}
        self._suppliers: dict[tuple[int, str], list[int]] = {}
        self._inherited: dict[tuple[int, int], list[int]] = {}

    def guard(self, block: Block) -> Block | None:
        """The innermost create-once guard of its own function that code in `block` is under, if any."""
        return block.inherited(self._memo, None, lambda level, around: level if self._is_guard(level) else around)

    def _is_guard(self, block: Block) -> bool:
        if block.kind in ("if", "else") and isinstance(block.node, ast.expr):
            needs = _absent_states(block.node, block.kind == "if")
            return any(all(self._supplied(base, block) for base in need) for need in needs)
        if block.kind == "except" and isinstance(block.node, ast.ExceptHandler) and block.handled is not None:
            if not catches(block.node, _ABSENT_ERRORS):
                return False
            reads = {
                path
                for node in block.handled.body
                for part in ast.walk(node)
                if (path := _state_read(part)) is not None
            }
            return any(self._supplied(path, block) for path in sorted(reads))
        return False

    def _supplied(self, base: str, block: Block) -> bool:
        """Whether `base` outlives the call and the code under `block` writes it."""
        flag = base.startswith(_FLAG)
        base = base.removeprefix(_FLAG)
        function = block.scope.function()
        state = self._lasting(function, base)
        if state is None:
            return False
        writes = self._function_writes(function)
        for name in {base, state, "self.*"} if state.startswith("self.") else {base, state}:
            # `self.v = self.v or make()` assigns around the block, which is an arm of the expression
            if self._is_under(block, writes.places.get(name, ())) or (name, id(block.statement)) in writes.assigned:
                return True
        # `if self.use_bias: self.add(b)` is an option, not a flag that the method takes down
        return not flag and any(self._is_under(block, calls) for calls in self._supplying_calls(function, state))

    def _is_under(self, block: Block, places: Sequence[int]) -> bool:
        """Whether one of some sorted places is that of `block`, or of one in it."""
        starts, sizes = self._index.extents
        start = starts[block.id]
        first = bisect_left(places, start)
        return first < len(places) and places[first] < start + sizes[block.id]

    def _supplying_calls(self, function: Scope, state: str) -> Iterator[list[int]]:
        """Where a function calls a method on ``self`` that can be what writes the tested attribute."""
        head, rest = split_head(state)
        cls = self._index.class_of_self(function, head)
        if cls is None or not rest.startswith("."):
            return
        calls = self._function_writes(function).self_calls
        if (function.id, cls.id) not in self._inherited:  # these are not in this file to be read
            methods = (m for m in calls if m not in cls.binds and m not in cls.attributes and m not in _KERAS_METHODS)
            self._inherited[function.id, cls.id] = sorted(place for method in methods for place in calls[method])
        yield self._inherited[function.id, cls.id]
        if (function.id, state) not in self._suppliers:
            writers = self._writers.get(state, set()) | self._writers.get(f"self.{rest[1:].partition('.')[0]}", set())
            methods = (m for m in writers if m in calls and (m in cls.binds or m in cls.attributes))
            self._suppliers[function.id, state] = sorted(place for method in methods for place in calls[method])
        yield self._suppliers[function.id, state]

    @cached_property
    def _writers(self) -> dict[str, set[str]]:
        """The names of the functions that write each state."""
        found: dict[str, set[str]] = {}
        for scope, writes in (self._writes or {}).items():
            for path in writes.places:
                found.setdefault(path, set()).add(self._index.scopes[scope].name)
        return found

    def _lasting(self, function: Scope, base: str) -> str | None:
        if (function.id, base) not in self._states:
            self._states[function.id, base] = self._state(function, base)
        return self._states[function.id, base]

    def _state(self, function: Scope, base: str) -> str | None:
        """The lasting state that `base` reads, following one local alias; None for what ends with the call."""
        for _ in range(4):
            head, rest = split_head(base)
            if self._index.class_of_self(function, head) is not None and rest:
                if base.endswith(".built") and not self._sets_built(function, head):
                    return None  # Keras has set `built` before `call` runs
                return base
            if head in function.outer_names:
                return base
            home = self._index.lookup(function, head)
            if home is None:
                return None
            scope, binds = home
            if scope is not function:
                return base if scope.kind != "class" else None
            if any(bind.kind in ("parameter", "annotation") for bind in binds):
                return base if rest or base in self._function_writes(function).items else None
            aliases = [bind.text for bind in binds if bind.kind == "value" and bind.text]
            lasting = [_stripped(alias) for alias in aliases]
            if not lasting or rest:
                return None
            base = lasting[0]
        return None

    def _sets_built(self, function: Scope, head: str) -> bool:
        cls = self._index.class_of_self(function, head)
        return cls is not None and cls in self._set_built

    @cached_property
    def _set_built(self) -> frozenset[Scope]:
        """The classes whose ``__init__`` sets `built`."""
        return frozenset(
            fact.scope.parent
            for fact in self._index.assignments
            if isinstance(fact.target, ast.Attribute)
            and fact.target.attr == "built"
            and fact.scope.name == "__init__"
            and fact.scope.parent is not None
        )

    def _function_writes(self, function: Scope) -> _Writes:
        if self._writes is None:
            self._writes = self._collect_writes()
        return self._writes[function.id]

    def _collect_writes(self) -> defaultdict[int, _Writes]:
        found: defaultdict[int, _Writes] = defaultdict(_Writes)
        places = self._index.extents[0]
        for fact in self._index.assignments:
            target = fact.target
            path = path_of(target.value) if isinstance(target, ast.Subscript) else path_of(target)
            if path is not None:
                writes = found[fact.scope.function().id]
                writes.write(path.removesuffix(".__dict__"), places[fact.block.id], fact.node)
                if isinstance(target, ast.Subscript):
                    writes.items.add(path)
        for call in self._index.calls:
            if call.path is None:
                continue
            writes = found[call.scope.function().id]
            place = places[call.block.id]
            base, _, method = call.path.rpartition(".")
            if call.path in ("setattr", "object.__setattr__") and len(call.node.args) == 3:
                name = literal_string(call.node.args[1])
                owner = path_of(call.node.args[0])
                writes.write(f"{owner}.{name or '*'}", place, call.statement)
            elif method in _MUTATORS and base:
                writes.write(_stripped(base), place, call.statement)
            head, rest = split_head(call.path)
            if rest.count(".") == 1 and self._index.class_of_self(call.scope, head) is not None:
                writes.self_calls[rest[1:]].append(place)
        for writes in found.values():
            for found_places in (*writes.places.values(), *writes.self_calls.values()):
                found_places.sort()
        return found


def _absent_states(test: ast.expr, holds: bool) -> list[list[str]]:
    """The states that are missing when `test` is `holds`: any of the lists, and all that a list names."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if isinstance(test, ast.BoolOp):
        parts = [_absent_states(value, holds) for value in test.values[:8]]
        if isinstance(test.op, ast.And) == holds:
            return [need for part in parts for need in part]
        return [[base for need in choice for base in need] for choice in islice(product(*parts), 16)]
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _absent_by_comparison(test.left, test.ops[0], test.comparators[0], holds)
    if isinstance(test, ast.Call):
        function = path_of(test.func)
        if function == "hasattr" and len(test.args) == 2:
            owner, name = path_of(test.args[0]), literal_string(test.args[1])
            return [] if owner is None or holds else [[f"{owner}.{name or '*'}"]]
        if function == "len" and test.args and not holds:
            return _base(test.args[0])
    if holds:
        return [[f"{_FLAG}{base}" for base in need] for need in _base(test)]
    return _base(test)


def _absent_by_comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, holds: bool) -> list[list[str]]:
    if is_none(right):
        absent = isinstance(op, ast.Is | ast.Eq)
        return _base(left) if absent == holds else []
    if isinstance(op, ast.In | ast.NotIn):
        return _base(right) if isinstance(op, ast.NotIn) == holds else []
    counted = left.args[0] if isinstance(left, ast.Call) and path_of(left.func) == "len" and left.args else left
    if isinstance(op, ast.Eq | ast.Lt | ast.LtE):
        return _base(counted) if holds else []
    if isinstance(op, ast.NotEq | ast.Gt | ast.GtE):
        return [] if holds else _base(counted)
    return []


def _base(node: ast.expr) -> list[list[str]]:
    path = path_of(node)
    return [[_stripped(path)]] if path is not None else []


def _stripped(path: str) -> str:
    """``self.d.get()`` and ``self.d[]`` read the state ``self.d``."""
    while True:
        for ending in ("[]", ".get()", ".keys()", ".__dict__"):
            if path.endswith(ending):
                path = path.removesuffix(ending)
                break
        else:
            return path


def _state_read(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
        path = path_of(node)
        return _stripped(path) if path is not None else None
    return None


def catches(handler: ast.ExceptHandler, errors: Container[str]) -> bool:
    """Whether a handler is for everything, or for an exception of one of these names."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or (path_of(kind) or "").rpartition(".")[2] in errors for kind in types)
