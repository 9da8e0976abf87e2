"""Create-once guards: whether code runs at every call, or only while something is still missing.

A guard tests a state that outlives the call (an attribute, an item, a global) for absence, and the code under it
supplies that state.
``if self.v is None: self.v = make()`` is a guard; ``if training:`` and ``if x is None:`` on a local are not.
"""

from __future__ import annotations

import ast
from collections.abc import Container
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
    """What one function writes: base path -> the blocks in which it does."""

    blocks: dict[str, list[tuple[Block, ast.AST]]] = field(default_factory=dict)
    self_calls: list[tuple[str, Block]] = field(default_factory=list)
    """Methods called on the same instance, which may supply its state."""


class Guards:
    """Answers for all blocks of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._writes: dict[int, _Writes] | None = None
        self._memo: dict[int, Block | None] = {}

    def guard(self, block: Block) -> Block | None:
        """The innermost create-once guard of its own function that code in `block` is under, if any."""
        if block.id not in self._memo:
            self._memo[block.id] = next(filter(self._is_guard, block.chain()), None)
        return self._memo[block.id]

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
        state = self._state(function, base)
        if state is None:
            return False
        writes = self._function_writes(function)
        names = {base, state}
        for name, blocks in writes.blocks.items():
            if name in names or (name == "self.*" and state.startswith("self.")):
                if any(block in where.chain() or _is_around(statement, block) for where, statement in blocks):
                    return True
        # `if self.use_bias: self.add(b)` is an option, not a flag that the method takes down
        return not flag and any(
            block in where.chain() and self._method_supplies(function, method, state)
            for method, where in writes.self_calls
        )

    def _method_supplies(self, function: Scope, method: str, state: str) -> bool:
        """Whether a method called under the guard can be what writes the tested attribute."""
        head, rest = split_head(state)
        cls = self._index.class_of_self(function, head)
        if cls is None or not rest.startswith("."):
            return False
        attribute = rest[1:].partition(".")[0]
        if method not in cls.binds and method not in cls.attributes:
            return method not in _KERAS_METHODS  # inherited: it is not in this file to be read
        written = self._written_by_name.get(method, ())
        return state in written or f"self.{attribute}" in written

    @cached_property
    def _written_by_name(self) -> dict[str, set[str]]:
        """What the functions of a name write, all of them together."""
        found: dict[str, set[str]] = {}
        for scope, writes in (self._writes or {}).items():
            found.setdefault(self._index.scopes[scope].name, set()).update(writes.blocks)
        return found

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
                return base if rest or self._item_written(function, base) else None
            aliases = [bind.text for bind in binds if bind.kind == "value" and bind.text]
            lasting = [_stripped(alias) for alias in aliases]
            if not lasting or rest:
                return None
            base = lasting[0]
        return None

    def _item_written(self, function: Scope, base: str) -> bool:
        return any(
            isinstance(fact.target, ast.Subscript) and path_of(fact.target.value) == base
            for fact in self._index.assignments_in(function)
        )

    def _sets_built(self, function: Scope, head: str) -> bool:
        cls = self._index.class_of_self(function, head)
        return cls is not None and cls in self._set_built

    @cached_property
    def _set_built(self) -> list[Scope]:
        """The classes whose ``__init__`` sets `built`."""
        return [
            fact.scope.parent
            for fact in self._index.assignments
            if isinstance(fact.target, ast.Attribute)
            and fact.target.attr == "built"
            and fact.scope.name == "__init__"
            and fact.scope.parent is not None
        ]

    def _function_writes(self, function: Scope) -> _Writes:
        if self._writes is None:
            self._writes = self._collect_writes()
        return self._writes.get(function.id) or _Writes()

    def _collect_writes(self) -> dict[int, _Writes]:
        found: dict[int, _Writes] = {}
        for fact in self._index.assignments:
            target = fact.target
            path = path_of(target.value) if isinstance(target, ast.Subscript) else path_of(target)
            if path is not None:
                writes = found.setdefault(fact.scope.function().id, _Writes())
                writes.blocks.setdefault(path.removesuffix(".__dict__"), []).append((fact.block, fact.node))
        for call in self._index.calls:
            if call.path is None:
                continue
            writes = found.setdefault(call.scope.function().id, _Writes())
            base, _, method = call.path.rpartition(".")
            if call.path in ("setattr", "object.__setattr__") and len(call.node.args) == 3:
                name = literal_string(call.node.args[1])
                owner = path_of(call.node.args[0])
                writes.blocks.setdefault(f"{owner}.{name or '*'}", []).append((call.block, call.statement))
            elif method in _MUTATORS and base:
                writes.blocks.setdefault(_stripped(base), []).append((call.block, call.statement))
            head, rest = split_head(call.path)
            if rest.count(".") == 1 and self._index.class_of_self(call.scope, head) is not None:
                writes.self_calls.append((rest[1:], call.block))
        return found


def _is_around(statement: ast.AST, block: Block) -> bool:
    """Whether `block` is an arm of an expression in this very assignment: ``self.v = self.v or make()``."""
    return isinstance(statement, ast.Assign | ast.AnnAssign) and block.statement is statement


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
