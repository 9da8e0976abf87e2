"""What a function does when it is called again: an abstract interpreter for the functions of one file.

A function is called a first time and once more with the same arguments.
Its values are known (a constant), made (an object that is there, such as the result of a constructor) or symbols, which
stand for one unknown value each.
What outlives a call (attributes, items, globals, the variables of closures) is kept from one call to the next in
tables; locals are not.

Where a test depends on a symbol, both outcomes are tried: the interpreter is deterministic but for a script of choices,
and the two calls are repeated with one script after the other.
A choice that was made stays: the same test of the same symbols has the same outcome, in the second call too.
What a call of unknown code may have changed is a doubt: what happens only by way of one is not certain.

Methods of the same class and functions of the same file are followed; other code is taken to leave alone what it is not
given. Loops run once, with a symbol for the element: what is true of each element is true of one.
"""

from __future__ import annotations

import ast
import builtins
import operator
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .index import Block, FileIndex, Scope
from .lasting import ANYTHING, LastingWrites, is_library, read_by
from .lazy import cached_property
from .paths import path_of

_MOST_PATHS = 128
_MOST_SEARCHES = 32
"""Of one function, each for other cells or tests; what further ones would tell is not known."""
_MOST_KEPT = 64
"""Searches of a file, for the functions that were asked of last."""
_MOST_STEPS = 500
"""Expressions and statements, all paths of a function together; what takes longer is not known."""
_MOST_DEEP = 6
"""Calls inside each other that are followed."""
_FEW = 4
"""Members of a tuple that are looked at one by one."""
_ROUNDS = 2
"""Iterations of a `while` loop whose test stays open."""

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv, ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor,
}  # fmt: skip
_SIZE = 1_000_000_000
_GROWING = frozenset({"append", "add", "insert", "extend", "appendleft", "push"})
_PURE = frozenset(
    {
        "__import__", "print", "id", "int", "float", "str", "repr", "min", "max", "sum", "range", "zip", "enumerate",
        "map", "filter", "abs", "round", "hash", "tuple", "super", "any", "all",
    }
)  # fmt: skip
_COPIES = frozenset({"list", "set", "tuple", "sorted", "frozenset", "dict", "iter", "reversed"})
_GIVEN = frozenset(
    {
        "imported", "parameter", "rest", "self", "scope", "super", "attribute", "unbound", "made", "sentinel",
        "function", "class", "member", "test", "tuple",
    }
)  # fmt: skip
_PARTS = frozenset({"kept", "element", "attributes of", "type", "part"})
_OF_TEXTS = frozenset({"startswith", "endswith", "lower", "upper", "strip", "isidentifier", "isdigit"})
_BROAD = frozenset({"Exception", "BaseException"})
_ABOVE = {"KeyError": "LookupError", "IndexError": "LookupError", "UnboundLocalError": "NameError"}
_ANY = "*"
"""The exception of code that is not known."""


class Recurrence(Enum):
    """Whether code that ran in one call runs in the next one, too."""

    ONCE = "once"
    AGAIN = "again"
    NEVER = "never"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Known:
    """A constant."""

    value: object


@dataclass(slots=True, eq=False)
class Thing:
    """An object, or a symbol of one.

    ``made`` says that it is there, so that it is not None; ``code`` is the unknown function whose result it is.
    """

    number: int
    made: bool = False
    code: object = None
    maker: str = ""
    """What it was made by, as it is written there."""
    function: tuple[Scope, Frame | None, Thing | None] | None = None
    """The scope of a function, the frame that it was defined in, and what it is bound to."""
    cls: Scope | None = None
    """The class of the file that it is an instance of."""
    attributes: Table | None = None
    items: Table | None = None
    members: tuple[Value, ...] | None = None
    """The elements of a tuple that was written out."""
    element: Value | None = None
    """What each of its elements is."""
    test: tuple[object, bool] | None = None
    """The choice that it is the outcome of, and which outcome stands for True."""


Value = Known | Thing


@dataclass(slots=True)
class Table:
    """Attributes or items: what is there, what is not, and whether there may be more."""

    owner: int
    entries: dict[object, Value] = field(default_factory=dict)
    absent: set[object] = field(default_factory=set)
    exact: bool = False
    grown: int = 0
    """How many elements without a key have come since the beginning, less those that went."""
    version: int = 0
    """Changes when unknown code may have changed anything."""
    emptied: int = 0


@dataclass(slots=True, eq=False)
class Frame:
    """The locals of a call."""

    scope: Scope
    parent: Frame | None
    names: dict[str, Value] = field(default_factory=dict)


class _ReturnedError(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class _RaisedError(Exception):
    def __init__(self, kind: str) -> None:
        self.kind = kind


class _BrokenError(Exception):
    pass


class _ContinuedError(Exception):
    pass


class _TooLongError(Exception):
    """The function is too large to be run in all its ways."""


Place = tuple[int, bool]
"""A test, by the identity of its node, with an outcome; or an ``except`` clause or a ``case``, with True."""


class CallsAgain:
    """Answers for the functions of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self.writes = LastingWrites(index)
        self._searches: dict[tuple[int, frozenset[str]], _Search] = {}
        """By the function and what it writes and tests."""
        self._made: Counter[int] = Counter()

    def recurrence(self, block: Block, place: Place, caller: Scope | None = None) -> Recurrence:
        """Whether the code of a block runs again when its function is called again.

        Args:
            block: under a test, an exception or a pattern.
            place: what stands for it.
            caller: the function that is called twice, where it is not the one that the block stands in.
        """
        function = block.scope.function() if caller is None else caller
        cells, may_be_more = self.writes.cells(block, function)
        if not cells and caller is not None:
            return Recurrence.NEVER  # it does not come to the block
        if not cells:  # the same test has the same outcome
            return Recurrence.UNKNOWN if may_be_more else Recurrence.AGAIN
        search = self._searches.get((function.id, cells))
        if search is None or not search.asks(read_by(block)):
            self._made[function.id] += 1
            if self._made[function.id] > _MOST_SEARCHES:
                return Recurrence.UNKNOWN
            together = [*self._tests_of(function, cells), *read_by(block)]
            part = _Slice(self.writes, together, self.writes.read_by(function, together) | cells)
            search = self._searches[function.id, cells] = _Search(self._index, function, part)
            if len(self._searches) > _MOST_KEPT:
                del self._searches[next(iter(self._searches))]
        return search.recurrence(place)

    def _tests_of(self, function: Scope, cells: frozenset[str]) -> Iterator[ast.AST]:
        """What decides in a function by the same cells."""
        for block in self._blocks.get(function.id, ()):
            if self.writes.cells(block)[0] == cells:
                yield from read_by(block)

    @cached_property
    def _blocks(self) -> dict[int, list[Block]]:
        found: dict[int, list[Block]] = {}
        for block in self._index.blocks:
            if block.kind in ("if", "else", "except", "case", "after"):
                found.setdefault(block.scope.function().id, []).append(block)
        return found


class _Search:
    """One way through a part of a function after the other, until a question is answered."""

    def __init__(self, index: FileIndex, function: Scope, part: _Slice) -> None:
        self._index = index
        self._function = function
        self._part = part
        self._found: dict[Place, Recurrence] = {}
        self._script: list[bool] | None = []
        self._paths = self._steps = 0
        self._is_cut = False

    def asks(self, tested: Sequence[ast.AST]) -> bool:
        """Whether some code is among what is looked at."""
        return all(map(self._part.asks, tested))

    def recurrence(self, place: Place) -> Recurrence:
        """What is known of a place: one way to come to it again is enough."""
        while self._script is not None and self._found.get(place) is not Recurrence.AGAIN:
            self._script = self._next(self._script)
        found = self._found.get(place, Recurrence.NEVER)
        return Recurrence.UNKNOWN if self._is_cut and found is not Recurrence.AGAIN else found

    def _next(self, script: list[bool]) -> list[bool] | None:
        """Go the way of a script of choices; the next script, None where there is none or it takes too long."""
        run = _Run(self._index, self._part, script, _MOST_STEPS - self._steps)
        self._paths += 1
        try:
            if self._paths > _MOST_PATHS:
                raise _TooLongError
            first, second = run.twice(self._function)
        except (_TooLongError, RecursionError):
            self._is_cut = True
            return None
        finally:
            run.release()
        self._steps += run.steps
        for place in first:
            outcome = Recurrence.ONCE
            if place in second:
                outcome = Recurrence.UNKNOWN if second[place] else Recurrence.AGAIN
            self._found[place] = max(self._found.get(place, Recurrence.ONCE), outcome, key=_WEIGHTS.__getitem__)
        script = script[: run.asked]
        while script and not script[-1]:
            script.pop()
        if not script:
            return None
        script[-1] = False
        return script


_WEIGHTS = {Recurrence.NEVER: 0, Recurrence.ONCE: 1, Recurrence.UNKNOWN: 2, Recurrence.AGAIN: 3}


class _Slice:
    """The part of a function, and of those that it calls, that a test may depend on."""

    def __init__(self, writes: LastingWrites, tested: Sequence[ast.AST], read: frozenset[str]) -> None:
        self._writes = writes
        self._tested = {id(part) for part in tested}
        self._lines = sorted({part.lineno for part in tested if hasattr(part, "lineno")})
        self._read = read
        self._inside: dict[int, bool] = {}

    def asks(self, node: ast.AST) -> bool:
        """Whether some code is among what decides."""
        return id(node) in self._tested

    def matters(self, node: ast.AST, scope: Scope) -> bool:
        """Whether a statement of a function is to be run."""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute | ast.Subscript | ast.Name):
            return True  # a second name of what lasts, perhaps
        return isinstance(node, _ALWAYS) or self.is_in(node, scope)

    def is_in(self, node: ast.AST, scope: Scope) -> bool:
        """Whether what lasts, or what a test reads, may be written below a node of a function."""
        known = self._inside.get(id(node))
        if known is None:
            written = self._writes.written_in(scope.function(), node)
            known = self._inside[id(node)] = (
                self._is_asked_below(node) or ANYTHING in written or not self._read.isdisjoint(written)
            )
        return known

    def _is_asked_below(self, node: ast.AST) -> bool:
        line, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        first = bisect_left(self._lines, line)
        return first < len(self._lines) and self._lines[first] <= end

    def line(self, cls: Scope) -> Sequence[Scope]:
        """A class and its bases in the file."""
        return self._writes.line(cls)

    def is_public_method(self, cls: Scope, name: str) -> bool:
        """Whether a method that a class has not itself is a public one of TensorFlow or Keras."""
        return self._writes.is_public_method(cls, name)

    def is_of_keras(self, cls: Scope) -> bool:
        """Whether a class is a layer or model, as far as the file tells."""
        return self._writes.is_of_keras(cls)

    def can_follow(self, scope: Scope) -> bool:
        """Whether calling a function runs its body as it is written."""
        return self._writes.is_plain(scope)

    def fills(self, scope: Scope) -> bool:
        """Whether a function changes the contents of what it is given."""
        return scope.name in self._writes.fillers

    def follows(self, scope: Scope) -> bool:
        """Whether a function that is called is worth running: for what it writes, or for what it answers."""
        written = self._writes.written_by(scope)
        if scope.name in self._read or scope.kind == "lambda" or self.fills(scope):
            return True
        return ANYTHING in written or not self._read.isdisjoint(written)


class _Run:
    """Two calls of a function, with one script of choices."""

    def __init__(self, index: FileIndex, part: _Slice, script: list[bool], budget: int) -> None:
        self.index = index
        self.part = part
        self.script = script
        self.asked = 0
        self.steps = 0
        self.budget = budget
        self.symbols: dict[object, Thing] = {}
        self.facts: dict[object, tuple[bool, int]] = {}
        self.equal: dict[int, Known] = {}
        """What symbols have turned out to be."""
        self.orders: dict[object, list[tuple[float, bool]]] = {}
        self.lengths: dict[int, Thing] = {}
        """What symbols are the length of."""
        self.sums: dict[int, tuple[object, float]] = {}
        """Symbols that are another one plus a number."""
        self.unknown_code: list[object] = []
        """The unknown functions that were called, one after the other."""
        self.handlers: list[frozenset[str]] = []
        self.depth = 0
        self.for_effect: ast.expr | None = None
        """The call whose result is not used."""
        self.doubt = False
        self.reached: dict[Place, bool] = {}
        """Places that were come to in this call, and whether only by way of a doubt."""
        self.given: set[object] = set()
        """The numbers of symbols that stand for what is there, and not for what is worked out of it."""
        self.touched: dict[int, int] = {}
        """How often unknown methods were called on objects for their effect."""
        self.decided: set[int] = set()
        """Tests of the first call."""
        self.is_again = False
        self.is_asked_again = False
        """Whether a test is looked at that the first call decided, too."""

    def twice(self, function: Scope) -> tuple[dict[Place, bool], dict[Place, bool]]:
        """Where the first call came to, if it came to its end, and where the second did."""
        try:
            self._enter(function)
        except _RaisedError:
            return {}, {}
        first, self.reached = self.reached, {}
        self.doubt, self.is_again = False, True
        with suppress(_RaisedError):
            self._enter(function)
        return first, self.reached

    def release(self) -> None:
        """Let go of the functions, which refer in circles to the locals that hold them."""
        for thing in self.symbols.values():
            thing.function = None

    def _enter(self, function: Scope) -> None:
        frame = Frame(function, None)
        for name in function.binds:
            if any(bind.kind in ("parameter", "annotation") for bind in function.binds[name]):
                if name in function.parameters:
                    frame.names[name] = self._parameter(function, name)
        arguments = getattr(function.node, "args", None)
        for rest in (arguments.vararg, arguments.kwarg) if isinstance(arguments, ast.arguments) else ():
            if rest is not None:
                frame.names[rest.arg] = self._symbol("parameter", function.id, rest.arg)
        if isinstance(function.node, ast.Lambda):
            self.value(function.node.body, frame)
        else:
            with suppress(_ReturnedError):
                self.suite(getattr(function.node, "body", []), frame)

    def _parameter(self, function: Scope, name: str) -> Value:
        cls = self.index.class_of_self(function, name)
        return self._self(cls) if cls is not None else self._symbol("parameter", function.id, name)

    # -- values ------------------------------------------------------------------------------------------------------

    def _symbol(self, *key: object, code: object = None) -> Thing:
        known = self.symbols.get(key)
        if known is None:
            known = self.symbols[key] = Thing(len(self.symbols), code=code)
            if key[0] in _GIVEN or (key[0] in _PARTS and key[1] in self.given):
                self.given.add(known.number)
        return known

    def _make(self, maker: str = "", **given: Any) -> Thing:
        thing = self._symbol("made", len(self.symbols))
        thing.made, thing.maker = True, maker
        for name, value in given.items():
            setattr(thing, name, value)
        return thing

    def _collection(self, values: Sequence[Value], keys: Sequence[Value] | None = None) -> Thing:
        thing = self._make()
        thing.items = Table(thing.number, exact=True)
        if keys is not None:
            for key, value in zip(keys, values, strict=True):
                thing.items.entries[_token(key)] = self._kept(value)
        else:
            values = [self._kept(value) for value in values]
            thing.items.grown = len(values)
            for value in values:
                thing.items.entries.setdefault(("element", _token(value)), value)
            thing.members = tuple(values)
        return thing

    def _tuple(self, values: Sequence[Value]) -> Thing:
        """Two tuples of the same values are the same key."""
        thing = self._symbol("tuple", *map(_token, values))
        thing.made, thing.members = True, tuple(values)
        thing.items = Table(thing.number, exact=True, grown=len(values))
        return thing

    def _self(self, cls: Scope) -> Thing:
        """An instance of a class, which stands for the class, too: what is set on either is read from either."""
        thing = self._symbol("self", cls.id)
        thing.made, thing.cls = True, cls
        return thing

    def _resolved(self, value: Value) -> Value:
        if isinstance(value, Known):
            return value
        known = self.equal.get(value.number)
        if known is None and (sum_ := self.sums.get(value.number)) is not None:
            base, distance = sum_
            start = self.equal.get(base) if isinstance(base, int) else None
            if start is not None and isinstance(start.value, int | float):
                return Known(start.value + distance)
        return value if known is None else known

    def _attributes(self, thing: Thing) -> Table:
        if thing.attributes is None:
            thing.attributes = Table(self._symbol("attributes of", thing.number).number)
        return thing.attributes

    def _items(self, thing: Thing) -> Table:
        if thing.items is None:
            empty = self.facts.get(("true", thing.number))
            thing.items = Table(thing.number, exact=empty is not None and not empty[0])
        return thing.items

    # -- choices -----------------------------------------------------------------------------------------------------

    def _choose(self, key: object, code: object = None) -> bool:
        """The outcome of a test of symbols; ``code`` is the unknown function that it depends on."""
        known = self.facts.get(key)
        if known is not None:
            outcome, when = known
            if code is None or all(other == code for other in self.unknown_code[when:]):
                return outcome
            self.doubt = True
        elif code == _ANY or (self.is_asked_again and not self._subjects(key) <= self.given):
            # What was asked before has another value now: it depends on what the call has changed.
            self.doubt = True
        if self.asked == len(self.script):
            self.script.append(True)
        outcome = self.script[self.asked]
        self.asked += 1
        self.facts[key] = outcome, len(self.unknown_code)
        return outcome

    @staticmethod
    def _subjects(key: object) -> set[object]:
        """The numbers of the symbols that a choice is about."""
        match key:
            case ("order", _, low, high, _):
                return {low, high} - {None}
            case ("equal", low, int() as high):
                return {low, high}
            case (_, number, *_):
                return {number}
        return set()

    def _is_none(self, value: Value) -> bool:
        value = self._resolved(value)
        if isinstance(value, Known):
            return value.value is None
        if value.made:
            return False
        known = self.facts.get(("true", value.number))
        if known is not None and known[0] and value.code is None:
            return False
        outcome = self._choose(("none", value.number), value.code)
        if outcome and value.code is None:
            self.equal[value.number] = Known(None)
        return outcome

    def _holds(self, value: Value) -> bool:
        """The truth of a value."""
        value = self._resolved(value)
        if isinstance(value, Known):
            return bool(value.value)
        if value.test is not None:
            key, positive = value.test
            return self._choose(key, value.code) == positive
        table = value.items
        if table is not None:
            if table.grown > 0 or (table.exact and table.entries) or (table.entries and not table.emptied):
                return True
            if table.exact or table.grown < 0:
                return False  # what is taken away at each call comes to an end
            if table.grown or table.emptied or table.version:
                return self._choose(("true", value.number, table.grown, table.emptied, table.version), value.code)
        elif value.made:
            return True
        known = self.facts.get(("none", value.number))
        if known is not None and known[0]:
            return False
        outcome = self._choose(("true", value.number if table is None else table.owner), value.code)
        if not outcome and table is not None:
            table.exact = True
        return outcome

    def _is_empty_literal(self, value: Value) -> bool:
        if not isinstance(value, Thing) or not value.made or value.items is None:
            return False
        return value.items.exact and not value.items.entries and not value.items.grown

    def _tested(self, key: object, positive: bool, code: object) -> Thing:
        thing = self._symbol("test", key, positive, code=code)
        thing.test = key, positive
        return thing

    # -- places ------------------------------------------------------------------------------------------------------

    def _come_to(self, node: ast.AST, outcome: bool = True) -> None:
        place = id(node), outcome
        self.reached[place] = self.reached.get(place, True) and self.doubt

    def condition(self, test: ast.expr, frame: Frame) -> bool:
        """The outcome of a test."""
        if isinstance(test, ast.BoolOp):
            wanted = isinstance(test.op, ast.Or)
            outcome = not wanted
            for part in test.values:
                if self.condition(part, frame) == wanted:
                    outcome = wanted
                    break
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            outcome = not self.condition(test.operand, frame)
        else:
            before, self.is_asked_again = self.is_asked_again, self._is_asked_again(test)
            outcome = self._holds(self.value(test, frame))
            self.is_asked_again = before
        self._come_to(test, outcome)
        return outcome

    def _is_asked_again(self, node: ast.AST) -> bool:
        if not self.is_again:
            self.decided.add(id(node))
        return self.is_again and id(node) in self.decided

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.budget:
            raise _TooLongError

    # -- statements --------------------------------------------------------------------------------------------------

    def suite(self, body: Iterable[ast.stmt], frame: Frame, *, whole: bool = False) -> None:
        """Run the statements that matter; the whole of them where it matters whether one raises."""
        for statement in body:
            if whole or self.part.matters(statement, frame.scope):
                self._step()
                self._statement(statement, frame)

    def _statement(self, node: ast.stmt, frame: Frame) -> None:
        match node:
            case ast.Expr(value=value):
                self.for_effect = value
                self.value(value, frame)
            case ast.Assign(targets=targets, value=value):
                around, self.is_asked_again = self.is_asked_again, self._is_asked_again(node)
                made = self.value(value, frame)
                self.is_asked_again = around
                for target in targets:
                    self._store(target, made, frame)
            case ast.AnnAssign(target=target, value=given):
                if given is not None:
                    self._store(target, self.value(given, frame), frame)
            case ast.AugAssign(target=target, op=op, value=value):
                before = self.value(target, frame)
                self._store(target, self._augmented(op, before, self.value(value, frame)), frame)
            case ast.Return(value=given):
                raise _ReturnedError(Known(None) if given is None else self.value(given, frame))
            case ast.If():
                self._if(node, frame)
            case ast.For() | ast.AsyncFor():
                self._for(node, frame)
            case ast.While():
                self._while(node, frame)
            case ast.With() | ast.AsyncWith():
                self._with(node, frame)
            case ast.Try() | ast.TryStar():
                self._try(node, frame)
            case ast.Match():
                self._match(node, frame)
            case ast.Raise(exc=given):
                if given is not None:
                    self.value(given, frame)
                raise _RaisedError(_name(given.func if isinstance(given, ast.Call) else given) or _ANY)
            case ast.Break():
                raise _BrokenError
            case ast.Continue():
                raise _ContinuedError
            case ast.Delete(targets=targets):
                for target in targets:
                    self._delete(target, frame)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                scope = self.index.scope_of(node)
                if scope is not None:
                    self._bind(node.name, self._function(scope, frame), frame)
            case ast.ClassDef():
                self._bind(node.name, self._symbol("class", id(node)), frame)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    self._bind(name, self._imported(name), frame)
            case ast.Assert(test=test):
                if not self._holds(self.value(test, frame)):
                    raise _RaisedError("AssertionError")
            case _:
                pass

    def _if(self, node: ast.If, frame: Frame) -> None:
        if not self._matters(node, frame.scope):
            self._skip(node, frame)
        elif self.condition(node.test, frame):
            self.suite(node.body, frame)
        else:
            self.suite(node.orelse, frame)

    def _matters(self, node: ast.stmt, scope: Scope) -> bool:
        """Whether the arms of a condition do anything that a later test may depend on."""
        return self.part.is_in(node, scope) or (self.depth > 0 and _leaves(node))

    def _skip(self, node: ast.stmt, frame: Frame) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self._bind(part.id, self._symbol("either", id(part)), frame)

    def _for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
        values = self.value(node.iter, frame)
        elements = self._elements(values)
        try:
            for element in elements:
                self._store(node.target, element, frame)
                with suppress(_ContinuedError):
                    self.suite(node.body, frame)
        except _BrokenError:
            if not node.orelse:
                self._come_to(node)
            return
        self._come_to(node)
        self.suite(node.orelse, frame)

    def _elements(self, values: Value) -> Sequence[Value]:
        """What a loop goes through: what is written out, or one element for all."""
        values = self._resolved(values)
        if isinstance(values, Known):
            return () if not values.value else [self._symbol("element", repr(values.value)[:99])]
        if values.members is not None and len(values.members) <= _FEW and values.items is not None:
            if len(values.members) == values.items.grown:
                return values.members
        if values.element is not None:
            return [values.element]
        table = values.items
        if table is not None and table.exact and not table.entries and table.grown <= 0:
            return ()
        if table is None:
            return [self._symbol("element", values.number, 0, code=values.code)]
        before = [] if table.exact else [self._symbol("element", table.owner, table.version, code=values.code)]
        added = [value for key, value in table.entries.items() if isinstance(key, tuple) and key[0] == "element"]
        if len(added) < len(table.entries):  # keys of a dict
            added.append(self._symbol("element", table.owner, "keys", len(table.entries), code=_ANY))
        return [*before, *added]

    def _while(self, node: ast.While, frame: Frame) -> None:
        for _ in range(_ROUNDS):
            if not self.condition(node.test, frame):
                self._come_to(node)
                self.suite(node.orelse, frame)
                return
            try:
                with suppress(_ContinuedError):
                    self.suite(node.body, frame)
            except _BrokenError:
                break
        if not node.orelse:
            self._come_to(node)

    def _with(self, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
        swallowed: set[str] = set()
        for item in node.items:
            entered = self.value(item.context_expr, frame)
            call = item.context_expr
            if isinstance(call, ast.Call) and _name(call.func) == "suppress":
                swallowed |= {_name(argument) or _ANY for argument in call.args}
            if item.optional_vars is not None:
                number = entered.number if isinstance(entered, Thing) else -1
                self._store(item.optional_vars, self._symbol("entered", number), frame)
        if not swallowed:
            self.suite(node.body, frame)
            return
        self.handlers.append(frozenset(swallowed))
        try:
            self.suite(node.body, frame, whole=True)
        except _RaisedError as error:
            if not _catches(swallowed, error.kind):
                raise
            self._come_to(node)
        finally:
            self.handlers.pop()

    def _try(self, node: ast.Try | ast.TryStar, frame: Frame) -> None:
        names = [_handled(handler) for handler in node.handlers]
        self.handlers.append(frozenset(name for each in names for name in each))
        finished = True
        try:
            try:
                self.suite(node.body, frame, whole=True)
            finally:
                self.handlers.pop()
        except _RaisedError as error:
            for handler, each in zip(node.handlers, names, strict=True):
                if _catches(each, error.kind):
                    finished = self.is_asked_again = False
                    self._come_to(handler)
                    if handler.name:
                        self._bind(handler.name, self._make("exception"), frame)
                    self._finally(handler.body, node, frame)
                    break
            else:
                self.suite(node.finalbody, frame)
                raise
        except (_ReturnedError, _BrokenError, _ContinuedError):
            self.suite(node.finalbody, frame)
            raise
        if finished:
            self._finally(node.orelse, node, frame)

    def _finally(self, body: Iterable[ast.stmt], node: ast.Try | ast.TryStar, frame: Frame) -> None:
        try:
            self.suite(body, frame)
        except (_ReturnedError, _RaisedError, _BrokenError, _ContinuedError):
            self.suite(node.finalbody, frame)
            raise
        self.suite(node.finalbody, frame)

    def _match(self, node: ast.Match, frame: Frame) -> None:
        subject = self.value(node.subject, frame)
        for case in node.cases:
            if self._fits(case.pattern, subject, frame) and (case.guard is None or self.condition(case.guard, frame)):
                self._come_to(case)
                self.suite(case.body, frame)
                return

    def _fits(self, pattern: ast.pattern, subject: Value, frame: Frame) -> bool:
        match pattern:
            case ast.MatchAs(pattern=None, name=name):
                if name is not None:
                    self._bind(name, subject, frame)
                return True
            case ast.MatchAs(pattern=ast.pattern() as inner, name=name):
                if name is not None:
                    self._bind(name, subject, frame)
                return self._fits(inner, subject, frame)
            case ast.MatchOr(patterns=patterns):
                return any(self._fits(inner, subject, frame) for inner in patterns)
            case ast.MatchSingleton(value=value):
                return self._holds(self._compared(ast.Is(), subject, Known(value)))
            case ast.MatchValue(value=value):
                return self._holds(self._compared(ast.Eq(), subject, self.value(value, frame)))
            case ast.MatchClass(cls=cls):
                return self._holds(self._instance_of(subject, cls))
            case _:
                for part in ast.walk(pattern):
                    name = getattr(part, "name", None) or getattr(part, "rest", None)
                    if isinstance(name, str):
                        self._bind(name, self._symbol("captured", id(part)), frame)
                number = subject.number if isinstance(subject, Thing) else repr(subject)
                return self._choose(("fits", id(pattern), number), getattr(subject, "code", None))

    # -- names and targets -------------------------------------------------------------------------------------------

    def _bind(self, name: str, value: Value, frame: Frame) -> None:
        home = self._home(name, frame)
        if isinstance(home, Frame):
            home.names[name] = value
        else:
            self._set(home, name, value)

    def _home(self, name: str, frame: Frame) -> Frame | Table:
        """The locals or the table of what outlives the call that a name stands in."""
        found = self.index.lookup(frame.scope, name)
        scope = frame.scope if found is None else found[0]
        if name in frame.scope.outer_names and scope is frame.scope:
            scope = self.index.module
        current: Frame | None = frame
        while current is not None:
            if current.scope is scope:
                return current
            current = current.parent
        return self._attributes(self._symbol("scope", scope.id))

    def _name(self, node: ast.Name, frame: Frame) -> Value:
        name = node.id
        home = self._home(name, frame)
        if isinstance(home, Frame):
            if name in home.names:
                return home.names[name]
            return self._defined(name, frame) or self._symbol("unbound", home.scope.id, name)
        cls = self.index.class_of_self(frame.scope, name)
        if cls is not None:
            return self._self(cls)
        key = _token(Known(name))
        if key not in home.entries and (value := self._defined(name, frame)) is not None:
            return value
        return self._get(home, Known(name), "NameError")

    def _defined(self, name: str, frame: Frame) -> Value | None:
        """A function or class of the file, a builtin, or a constant that is bound once."""
        found = self.index.lookup(frame.scope, name)
        if found is None:
            if not self.index.resolve(frame.scope, name) and self._is_handled("NameError"):
                raise _RaisedError("NameError")
            return self._symbol("builtin", name)
        scope, binds = found
        if len(binds) == 1 and binds[0].kind == "scope" and binds[0].scope is not None:
            inner = binds[0].scope
            return self._self(inner) if inner.kind == "class" else self._function(inner, None)
        if len(binds) == 1 and binds[0].kind == "lambda":
            lambda_ = binds[0].node
            return self._function(self.index.lambda_scope(lambda_), None) if isinstance(lambda_, ast.Lambda) else None
        if all(bind.kind == "import" for bind in binds):
            return self._imported(name)
        facts = [
            fact
            for fact in self.index.assignments_in(scope)
            if isinstance(fact.target, ast.Name) and fact.target.id == name
        ]
        if len(binds) == len(facts) == 1 and facts[0].value is not None and not facts[0].augmented:
            value = facts[0].value
            if isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and path_of(value.func) == "object"):
                return self.value(value, frame) if isinstance(value, ast.Constant) else self._sentinel(value)
        return None

    def _imported(self, name: str) -> Thing:
        thing = self._symbol("imported", name)
        thing.made, thing.maker = True, name
        return thing

    def _sentinel(self, node: ast.Call) -> Thing:
        thing = self._symbol("sentinel", id(node))
        thing.made = True
        return thing

    def _function(self, scope: Scope, frame: Frame | None, bound: Thing | None = None) -> Thing:
        thing = self._symbol("function", scope.id, id(frame), -1 if bound is None else bound.number)
        thing.made, thing.function = True, (scope, frame, bound)
        return thing

    def _store(self, target: ast.expr, value: Value, frame: Frame) -> None:
        match target:
            case ast.Name(id=name):
                self._bind(name, value, frame)
            case ast.Attribute(value=base, attr=name):
                owner = self._resolved(self.value(base, frame))
                if isinstance(owner, Thing):
                    setter = self._setter(owner.cls, name) if owner.cls is not None else None
                    if setter is not None:
                        self._follow(setter, None, owner, [value], {})
                    else:
                        self._set(self._attributes(owner), name, value)
            case ast.Subscript(value=base, slice=key):
                owner, where = self._resolved(self.value(base, frame)), self.value(key, frame)
                if isinstance(owner, Thing):
                    owner.members = None
                    self._put(self._items(owner), where, value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                members = value.members if isinstance(value, Thing) else None
                for number, each in enumerate(targets):
                    if members is not None and len(members) == len(targets):
                        part: Value = members[number]
                    else:
                        whole = value.number if isinstance(value, Thing) else -1
                        part = self._symbol("part", whole, number, code=getattr(value, "code", None))
                    self._store(each, part, frame)
            case ast.Starred(value=inner):
                self._store(inner, self._symbol("rest", id(inner)), frame)

    def _set(self, table: Table, name: str, value: Value) -> None:
        self._put(table, Known(name), value)

    def _put(self, table: Table, key: Value, value: Value) -> None:
        token = _token(self._resolved(key))
        table.entries[token] = self._kept(value)
        table.absent.discard(token)

    def _kept(self, value: Value) -> Value:
        """What is kept is there: `self.v = make()` keeps no None."""
        if isinstance(value, Thing) and (value.code is not None or (value.maker and not value.made)):
            kept = self._symbol("stored", len(self.symbols))
            kept.made, kept.maker = True, value.maker
            return kept
        return value

    def _get(self, table: Table, key: Value, error: str) -> Value:
        """What is kept under a key.

        Raises:
            _RaisedError: if nothing is.
        """
        key = self._resolved(key)
        token = _token(key)
        if token in table.entries:
            return table.entries[token]
        if token in table.absent or table.exact:
            raise _RaisedError(error)
        if self._is_handled(error) and not self._holds(self._contains(table, key)):
            raise _RaisedError(error)
        moved = table.version or table.grown  # the elements of a list may be others by now
        code = _ANY if moved else getattr(key, "code", None)
        return self._symbol("kept", table.owner, token, moved, code=code)

    def _contains(self, table: Table, key: Value) -> Value:
        key = self._resolved(key)
        token = _token(key)
        if token in table.entries or ("element", token) in table.entries:
            return Known(True)
        if token in table.absent or table.exact:
            return Known(False)
        code = _ANY if table.version else getattr(key, "code", None)
        if self._choose(("in", table.owner, token, table.version), code):
            table.entries[token] = self._symbol("kept", table.owner, token, table.version)
            return Known(True)
        table.absent.add(token)
        return Known(False)

    def _delete(self, target: ast.expr, frame: Frame) -> None:
        match target:
            case ast.Attribute(value=base, attr=name):
                owner = self._resolved(self.value(base, frame))
                if isinstance(owner, Thing):
                    self._remove(self._attributes(owner), Known(name))
            case ast.Subscript(value=base, slice=key):
                owner = self._resolved(self.value(base, frame))
                if isinstance(owner, Thing) and isinstance(key, ast.Slice):
                    owner.members = None
                    self._clear(self._items(owner)) if key.lower is key.upper else self._disturb(owner)
                elif isinstance(owner, Thing):
                    self._remove(self._items(owner), self.value(key, frame))
            case ast.Name(id=name):
                home = self._home(name, frame)
                if isinstance(home, Frame):
                    home.names.pop(name, None)
                else:
                    self._remove(home, Known(name))
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for each in targets:
                    self._delete(each, frame)

    def _remove(self, table: Table, key: Value) -> None:
        token = _token(self._resolved(key))
        table.entries.pop(token, None)
        if table.entries.pop(("element", token), None) is not None:
            table.grown -= 1
        table.absent.add(token)
        table.emptied += 1

    def _clear(self, table: Table) -> None:
        table.entries.clear()
        table.absent.clear()
        table.exact, table.grown = True, 0

    def _is_handled(self, error: str) -> bool:
        return any(_catches(names, error) for names in self.handlers)

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, frame: Frame) -> Value:
        """What an expression gives, and what it does on the way."""
        self._step()
        match node:
            case ast.Constant(value=value):
                return Known(value)
            case ast.Name():
                return self._name(node, frame)
            case ast.Attribute(value=base, attr=name):
                return self._attribute(self.value(base, frame), name)
            case ast.Subscript(value=base, slice=ast.Slice() as part):
                return self._part(self._resolved(self.value(base, frame)), part)
            case ast.Subscript(value=base, slice=key):
                return self._subscript(self.value(base, frame), self.value(key, frame))
            case ast.Call():
                return self._call(node, frame)
            case ast.Compare():
                return self._comparison(node, frame)
            case ast.BoolOp():
                return self._boolean(node, frame)
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(op, self.value(operand, frame))
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self.value(left, frame), self.value(right, frame))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.condition(test, frame) else orelse, frame)
            case ast.NamedExpr(target=target, value=given):
                named = self.value(given, frame)
                self._store(target, named, frame)
                return named
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                values = [self.value(element, frame) for element in elements]
                if any(isinstance(element, ast.Starred) for element in elements):
                    return self._make()
                if isinstance(node, ast.Tuple):
                    return self._tuple(values)
                return self._collection(values)
            case ast.Dict(keys=keys, values=values):
                if None in keys:
                    return self._joined(node, frame)
                return self._collection(
                    [self.value(value, frame) for value in values],
                    [self.value(key, frame) for key in keys if key is not None],
                )
            case ast.Lambda():
                return self._function(self.index.lambda_scope(node), frame)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, frame)
            case ast.Await(value=inner) | ast.Starred(value=inner):
                return self.value(inner, frame)
            case _:
                expressions = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
                parts = [_token(self.value(part, frame)) for part in expressions]
                return self._symbol("expression", id(node), *parts)

    def _joined(self, node: ast.Dict, frame: Frame) -> Value:
        """``{**d, key: value}``."""
        joined = self._collection([], [])
        for key, value in zip(node.keys, node.values, strict=True):
            given = self._resolved(self.value(value, frame))
            if key is not None:
                self._put(self._items(joined), self.value(key, frame), given)
            elif self._is_empty_literal(joined) and isinstance(given, Thing):
                joined = self._copied(given)
            else:
                self._collection_method(joined, "update", [given])
        return joined

    def _attribute(self, owner: Value, name: str) -> Value:
        owner = self._resolved(owner)
        if isinstance(owner, Known):
            if owner.value is None:
                raise _RaisedError("AttributeError")
            return self._symbol("attribute", repr(owner.value)[:99], name)
        table = self._attributes(owner)
        key = _token(Known(name))
        if name == "__dict__":
            view = self._symbol("dict", owner.number)
            view.made, view.items = True, table
            return view
        if name == "__class__":
            return owner
        if key not in table.entries and owner.cls is not None:
            if self._is_enumeration(owner.cls) and name in owner.cls.binds:
                member = self._symbol("member", owner.cls.id, name)
                member.made = True
                return member
            method = self._method(owner.cls, name)
            if method is not None:
                decorators = {_name(decorator) for decorator in method.decorators}
                if "property" in decorators or name in decorators:
                    return self._follow(method, None, owner, [], {})
                if "cached_property" in decorators:
                    value = self._follow(method, None, owner, [], {})
                    self._put(table, Known(name), value)
                    return table.entries[key]
                return self._function(method, None, owner)
            if name == "built" and self.part.is_of_keras(owner.cls) and not self._sets_built(owner.cls):
                return Known(True)  # Keras has set it before `call` runs
        return self._get(table, Known(name), "AttributeError")

    def _sets_built(self, cls: Scope) -> bool:
        line = self.part.line(cls)
        return any(
            isinstance(fact.target, ast.Attribute)
            and fact.target.attr == "built"
            and fact.scope.name == "__init__"
            and fact.scope.parent in line
            for fact in self.index.assignments
        )

    def _method(self, cls: Scope, name: str) -> Scope | None:
        """A method of a class of the file, or of its bases there."""
        for scope in self.part.line(cls):
            inner = [bind.scope for bind in scope.binds.get(name, ()) if bind.kind == "scope" and bind.scope]
            if inner:
                found = [each for each in inner if each.kind == "function"]
                # A property and its setter are two functions of one name: the first one reads.
                return found[0] if found and found[0].decorators else (found[-1] if found else None)
        return None

    def _setter(self, cls: Scope, name: str) -> Scope | None:
        for scope in self.part.line(cls):
            for bind in scope.binds.get(name, ()):
                if bind.scope is not None and any(_name(decorator) == "setter" for decorator in bind.scope.decorators):
                    return bind.scope
        return None

    def _is_enumeration(self, cls: Scope) -> bool:
        bases = cls.node.bases if isinstance(cls.node, ast.ClassDef) else ()
        return any(
            text.startswith("enum.")
            for base in bases
            for text in self.index.resolve(cls.parent or cls, path_of(base) or "")
        )

    def _subscript(self, owner: Value, key: Value) -> Value:
        owner = self._resolved(owner)
        if isinstance(owner, Known):
            return self._symbol("item", repr(owner.value)[:99], _token(key))
        if owner.members is not None and isinstance(key, Known) and isinstance(key.value, int):
            with suppress(IndexError):
                return owner.members[key.value]
        if isinstance(key, Known) and isinstance(key.value, int) and self._is_handled("IndexError"):
            needed = key.value + 1 if key.value >= 0 else -key.value
            if not self._holds(self._compared(ast.GtE(), self._length(owner), Known(needed))):
                raise _RaisedError("IndexError")
            if owner.element is not None:
                return owner.element
            kept = self._symbol("kept", self._items(owner).owner, _token(key), self._items(owner).version)
            self.facts[("none", kept.number)] = False, len(self.unknown_code)
            return kept
        return self._get(self._items(owner), key, "KeyError")

    def _part(self, owner: Value, part: ast.Slice) -> Value:
        """A new sequence with some elements of another one."""
        if isinstance(owner, Known):
            return self._symbol("slice", repr(owner.value)[:99], id(part))
        if isinstance(part.upper, ast.Constant) and part.upper.value == 0:
            return self._collection([])
        if part.lower is part.upper is part.step is None:
            return self._copied(owner)
        made = self._make()
        made.items = Table(made.number)
        return made

    def _comparison(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.value(node.left, frame)
        outcome: Value = Known(True)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator, frame)
            outcome = self._compared(op, left, right)
            if len(node.ops) == 1:
                return outcome
            if not self._holds(outcome):
                return Known(False)
            left = right
        return outcome

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        left, right = self._resolved(left), self._resolved(right)
        if isinstance(op, ast.NotEq | ast.IsNot | ast.NotIn):
            positive = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}[type(op)]()
            return self._negated(self._compared(positive, left, right))
        if isinstance(op, ast.In):
            if isinstance(right, Known):
                return self._tested(("in", repr(right.value)[:99], _token(left)), True, getattr(left, "code", None))
            if right.members is not None and len(right.members) <= _FEW:
                return Known(any(self._holds(self._compared(ast.Eq(), left, member)) for member in right.members))
            return self._contains(self._items(right), left)
        if isinstance(op, ast.Is | ast.Eq):
            return self._equal(op, left, right)
        return self._ordered(op, left, right)

    def _equal(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(left, Known):
            left, right = right, left
        if isinstance(left, Known) and isinstance(right, Known):
            same = type(left.value) is type(right.value) or isinstance(op, ast.Eq)
            return Known(left.value is right.value or (same and left.value == right.value))
        assert isinstance(left, Thing)
        if isinstance(right, Known):
            if right.value is None:
                return Known(self._is_none(left))
            if left.made and isinstance(op, ast.Is):
                return Known(False)
            if isinstance(right.value, bool) and left.test is not None:
                return left if right.value else self._negated(left)
            truth = self.facts.get(("true", left.number))
            if truth is not None and left.code is None and truth[0] != bool(right.value):
                return Known(False)
            base, least = self.sums.get(left.number, (None, 0))
            if base in self.lengths and isinstance(right.value, int) and right.value < least:
                return Known(False)
            key = "equal", left.number, _token(right)
            if left.code is None and self._choose(key):
                self.equal[left.number] = right
                return Known(True)
            return Known(False) if left.code is None else self._tested(key, True, left.code)
        if left is right:
            return Known(True)
        for one, other in ((left, right), (right, left)):
            if self._is_empty_literal(one) and isinstance(op, ast.Eq):
                return self._negated(other)
        if isinstance(op, ast.Is) and left.made and right.made:
            return Known(False)
        low, high = sorted((left, right), key=lambda thing: thing.number)
        if left.made or right.made:
            other = right if left.made else left
            if self._is_none(other):
                return Known(False)
        return self._tested(("equal", low.number, high.number), True, left.code or right.code)

    def _ordered(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        """An order; a count that has gone on toward its bound since the last test will reach it."""
        if isinstance(op, ast.Gt | ast.GtE):
            left, right = right, left
        strict = isinstance(op, ast.Lt | ast.Gt)
        for length, bound, least in ((right, left, 0 if strict else 1), (left, right, 1 if strict else 0)):
            counted = self.lengths.get(length.number) if isinstance(length, Thing) else None
            if counted is not None and bound == Known(least):  # `0 < len(d)` asks whether there are any
                return Known(self._holds(counted) == (length is right))
        (low, below), (high, above) = self._linear(left), self._linear(right)
        distance = below - above
        if low == high:
            return Known(distance < 0 if strict else distance <= 0)
        key = "order", strict, low, high
        decided = self.orders.setdefault(key, [])
        for before, outcome in decided:
            if (outcome and distance <= before) or (not outcome and distance >= before):
                return Known(outcome)
        if decided:
            return Known(not decided[-1][1])
        code = getattr(left, "code", None) or getattr(right, "code", None)
        outcome = self._choose((*key, distance), code)
        decided.append((distance, outcome))
        return Known(outcome)

    def _linear(self, value: Value) -> tuple[object, float]:
        """A number as a symbol and a distance from it."""
        value = self._resolved(value)
        if isinstance(value, Known):
            if isinstance(value.value, int | float):
                return None, value.value
            return ("constant", repr(value.value)[:99]), 0
        truth = self.facts.get(("true", value.number))
        if truth is not None and not truth[0] and value.code is None:
            return None, 0
        sum_ = self.sums.get(value.number)
        return sum_ if sum_ is not None else (value.number, 0)

    def _negated(self, value: Value) -> Value:
        value = self._resolved(value)
        if isinstance(value, Thing) and value.test is not None:
            key, positive = value.test
            return self._tested(key, not positive, value.code)
        return Known(not self._holds(value))

    def _boolean(self, node: ast.BoolOp, frame: Frame) -> Value:
        wanted = isinstance(node.op, ast.Or)
        value: Value = Known(not wanted)
        for number, part in enumerate(node.values):
            value = self.value(part, frame)
            if number == len(node.values) - 1:
                break
            outcome = self._holds(value)
            self._come_to(part, outcome)
            if outcome == wanted:
                break
        return value

    def _unary(self, op: ast.unaryop, value: Value) -> Value:
        if isinstance(op, ast.Not):
            return self._negated(value)
        value = self._resolved(value)
        if isinstance(value, Known) and isinstance(value.value, int | float):
            if isinstance(op, ast.USub):
                return Known(-value.value)
            if isinstance(op, ast.UAdd):
                return value
        return self._symbol("unary", type(op).__name__, _token(value), code=getattr(value, "code", None))

    def _augmented(self, op: ast.operator, before: Value, value: Value) -> Value:
        """``d += [x]`` changes the list, and ``n += 1`` does not change the number."""
        before = self._resolved(before)
        if isinstance(before, Thing) and isinstance(value, Thing) and isinstance(op, ast.Add | ast.BitOr):
            if value.made and value.items is not None:
                table = self._items(before)
                table.entries |= value.items.entries
                table.absent -= set(value.items.entries)
                table.grown += value.items.grown
                return before
        if isinstance(before, Thing) and isinstance(value, Thing) and isinstance(op, ast.Sub) and value.members:
            for member in value.members:
                self._remove(self._items(before), member)
            return before
        return self._binary(op, before, value)

    def _binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        left, right = self._resolved(left), self._resolved(right)
        compute = _OPERATORS.get(type(op))
        if isinstance(left, Known) and isinstance(right, Known):
            if compute is not None and _is_small(left.value) and _is_small(right.value):
                with suppress(TypeError, ValueError, ZeroDivisionError):
                    return Known(compute(left.value, right.value))
            return self._symbol("binary", type(op).__name__, _token(left), _token(right))
        for one, other in ((left, right), (right, left)):
            if isinstance(op, ast.Add) and isinstance(one, Thing) and one.made and one.items is not None:
                if isinstance(other, Thing) and not self._is_empty_literal(one):
                    joined = self._copied(one)
                    if other.items is not None and joined.items is not None:
                        joined.items.entries |= other.items.entries
                    return joined
        code = getattr(left, "code", None) or getattr(right, "code", None)
        thing = self._symbol("binary", type(op).__name__, _token(left), _token(right), code=code)
        if isinstance(op, ast.Mult) and 0 in (getattr(left, "value", 1), getattr(right, "value", 1)):
            return Known(0)
        if isinstance(op, ast.Add | ast.Sub):
            (base, offset), (more, distance) = self._linear(left), self._linear(right)
            if isinstance(op, ast.Sub) and base == more:
                return Known(offset - distance)
            if base is more is None:
                return Known(offset + distance if isinstance(op, ast.Add) else offset - distance)
            if more is None:
                self.sums[thing.number] = base, offset + (distance if isinstance(op, ast.Add) else -distance)
            elif base is None and isinstance(op, ast.Add):
                self.sums[thing.number] = more, offset + distance
        return thing

    def _comprehension(self, node: ast.expr, frame: Frame) -> Value:
        assert isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp)
        scope = self.index.scope_of(node)
        inner = frame if scope is None else Frame(scope, frame)
        found: list[Value] = []
        is_whole = self._generate(node, node.generators, inner, found)
        made = self._make()
        if isinstance(node, ast.DictComp):
            made.items = Table(made.number, version=1)  # which keys there are is not known
            return made
        made.items = Table(made.number, exact=is_whole or not found, grown=len(found))
        made.items.entries = {("element", _token(value)): value for value in found}
        made.members = tuple(found)
        made.element = found[0] if found else None
        return made

    def _generate(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        generators: Sequence[ast.comprehension],
        frame: Frame,
        found: list[Value],
    ) -> bool:
        """Find what a comprehension has; whether that is all of it, one by one."""
        if not generators:
            found.append(self._kept(self.value(node.value if isinstance(node, ast.DictComp) else node.elt, frame)))
            return True
        first, *others = generators
        values = self._resolved(self.value(first.iter, frame))
        is_whole = isinstance(values, Thing) and values.members is not None
        for element in self._elements(values):
            self._store(first.target, element, frame)
            if all(self.condition(test, frame) for test in first.ifs):
                is_whole = self._generate(node, others, frame, found) and is_whole
        return is_whole

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        function = node.func
        if isinstance(function, ast.Name) and self.index.lookup(frame.scope, function.id) is None:
            arguments = [self.value(argument, frame) for argument in node.args]
            for keyword in node.keywords:
                self.value(keyword.value, frame)
            return self._builtin(function.id, node, arguments)
        if isinstance(function, ast.Attribute):
            owner = self._super(function.value, frame)
            if owner is not None and owner.cls is None and node is self.for_effect:
                cls = _class_around(frame)
                if cls is not None and not self.part.is_public_method(cls, function.attr):
                    self._disturb(owner)
            return self._method_call(node, owner or self.value(function.value, frame), function.attr, frame)
        called = self._resolved(self.value(function, frame))
        arguments, keywords = self._arguments(node, frame)
        if isinstance(called, Thing) and called.function is not None:
            return self._follow(*called.function, arguments, keywords)
        return self._unknown(node, called, arguments, frame)

    def _arguments(self, node: ast.Call, frame: Frame) -> tuple[list[Value], dict[str, Value]]:
        arguments = [self.value(argument, frame) for argument in node.args]
        named = {keyword.arg or "**": self.value(keyword.value, frame) for keyword in node.keywords}
        return arguments, named

    def _super(self, node: ast.expr, frame: Frame) -> Thing | None:
        """What ``super()`` finds methods on: the instance, as the base that has them."""
        if not isinstance(node, ast.Call) or path_of(node.func) != "super":
            return None
        cls = _class_around(frame)
        if cls is None:
            return None
        bases = [scope for scope in self.part.line(cls) if scope is not cls]
        above = self._symbol("super", cls.id)
        above.made, above.cls = True, bases[0] if bases else None
        above.attributes = self._attributes(self._self(cls))
        return above

    def _method_call(self, node: ast.Call, owner: Value, name: str, frame: Frame) -> Value:
        owner = self._resolved(owner)
        if isinstance(owner, Known):
            arguments, _ = self._arguments(node, frame)
            if owner.value is None:
                raise _RaisedError("AttributeError")
            if isinstance(owner.value, str) and name in _OF_TEXTS and all(isinstance(a, Known) for a in arguments):
                with suppress(TypeError, ValueError):
                    return Known(getattr(owner.value, name)(*(a.value for a in arguments if isinstance(a, Known))))
            return self._symbol("method", repr(owner.value)[:99], name, *map(_token, arguments))
        if name in ("__setattr__", "__getattribute__", "__delattr__") and path_of(node.func) != f"object.{name}":
            arguments, _ = self._arguments(node, frame)
            return self._builtin(name.strip("_").replace("getattribute", "getattr"), node, [owner, *arguments])
        key = _token(Known(name))
        kept = owner.attributes.entries.get(key) if owner.attributes is not None else None
        if owner.cls is not None and kept is None:
            method = self._method(owner.cls, name)
            arguments, keywords = self._arguments(node, frame)
            if method is not None:
                bound = next((owner for d in [method] if not _is_static(d)), None)
                return self._follow(method, None, bound, arguments, keywords)
            return self._foreign_method(node, owner, name, arguments, frame)
        arguments, keywords = self._arguments(node, frame)
        kept = self._resolved(kept) if kept is not None else None
        if isinstance(kept, Thing) and kept.function is not None:
            return self._follow(*kept.function, arguments, keywords)
        if path_of(node.func) == "object.__setattr__" and len(arguments) == 3:
            return self._builtin("setattr", node, arguments)
        if name == "update":
            for key_word, value in keywords.items():
                self._put(self._items(owner), Known(key_word), value)
        found = self._collection_method(owner, name, arguments)
        if found is not None:
            return found
        return self._unknown(node, self._symbol("bound", owner.number, name), arguments, frame, owner)

    def _foreign_method(self, node: ast.Call, owner: Thing, name: str, arguments: list[Value], frame: Frame) -> Value:
        """A method that no class of the file has: a library's, a sublayer that is kept, or one that is not known."""
        assert owner.cls is not None
        if name in owner.cls.attributes:
            return self._unknown(node, self._get(self._attributes(owner), Known(name), ""), arguments, frame)
        if self.part.is_public_method(owner.cls, name):
            return self._result(node, self._symbol("bound", owner.number, name), arguments, library=True)
        if node is self.for_effect:
            self._disturb(owner)
        return self._result(node, self._symbol("bound", owner.number, name), arguments, library=False)

    def _disturb(self, thing: Thing) -> None:
        """Unknown code may have changed anything of an object."""
        self.unknown_code.append(("object", thing.number))
        for table in (thing.attributes, thing.items):
            if table is not None:
                table.version += 1
                table.entries.clear()
                table.absent.clear()
                table.exact = False

    def _unknown(
        self, node: ast.Call, called: Value, arguments: list[Value], frame: Frame, owner: Thing | None = None
    ) -> Value:
        texts = self.index.resolve(frame.scope, path_of(node.func) or "")
        library = bool(texts) and all(is_library(text) for text in texts)
        if not library:
            for argument in map(self._resolved, arguments):
                if isinstance(argument, Thing) and argument.cls is not None:
                    self._disturb(argument)
        return self._result(node, called, arguments, library, owner)

    def _stamp(self, value: Value) -> object:
        """Another one after each change of the contents of an object."""
        value = self._resolved(value)
        if isinstance(value, Known):
            return None
        table, touched = value.items, self.touched.get(value.number, 0)
        return touched if table is None else (touched, table.grown, len(table.entries), table.emptied, table.version)

    def _result(
        self, node: ast.Call, called: Value, arguments: list[Value], library: bool, owner: Thing | None = None
    ) -> Value:
        identity = _token(called)
        path = path_of(node.func) or ""
        if library or path.rpartition(".")[2][:1].isupper():
            # A constructor, or an operation: what it gives is there.
            return self._made_by(node, path, identity, arguments)
        self.unknown_code.append(identity)
        if self._is_handled(_ANY) and self._choose(("raises", identity, *map(_token, arguments)), identity):
            raise _RaisedError(_ANY)
        looked_at = map(self._stamp, (*([] if owner is None else [owner]), *arguments))
        thing = self._symbol("result", identity, *map(_token, arguments), *looked_at, code=identity)
        thing.maker = path
        if owner is not None and node is self.for_effect:
            self.touched[owner.number] = self.touched.get(owner.number, 0) + 1
        return thing

    def _made_by(self, node: ast.Call, path: str, identity: object, arguments: list[Value]) -> Thing:
        """The result of a public function: a new object, the same value for the same arguments."""
        if self._is_handled(_ANY) and self._choose(("raises", identity, *map(_token, arguments))):
            raise _RaisedError(_ANY)
        if path.rpartition(".")[2][:1].isupper():
            return self._make(path)
        thing = self._symbol("result", id(node), identity, *map(_token, arguments))
        thing.maker = path
        return thing

    def _follow(
        self, scope: Scope, frame: Frame | None, bound: Thing | None, arguments: list[Value], named: dict[str, Value]
    ) -> Value:
        """Run a function of the file."""
        node = scope.node
        identity = ("function", scope.id)
        if not self.part.follows(scope):
            return self._symbol("result", identity, *map(_token, arguments), code=identity)
        if self.depth >= _MOST_DEEP or not self.part.can_follow(scope):
            self.unknown_code.append(identity)
            if bound is not None:
                self._disturb(bound)
            numbers = map(_token, arguments)
            return self._symbol("result", identity, -1 if bound is None else bound.number, *numbers, code=identity)
        inner = Frame(scope, frame)
        given = [*([bound] if bound is not None else []), *arguments]
        syntax = getattr(node, "args", None)
        assert isinstance(syntax, ast.arguments)
        parameters = [each.arg for each in (*syntax.posonlyargs, *syntax.args)]
        defaults = dict(zip(reversed(parameters), reversed(syntax.defaults), strict=False))
        defaults |= {
            each.arg: default
            for each, default in zip(syntax.kwonlyargs, syntax.kw_defaults, strict=True)
            if default is not None
        }
        for number, name in enumerate([*parameters, *(each.arg for each in syntax.kwonlyargs)]):
            if number < len(given) and number < len(parameters):
                inner.names[name] = given[number]
            elif name in named:
                inner.names[name] = named[name]
            elif isinstance(default := defaults.get(name), ast.Constant):
                inner.names[name] = Known(default.value)
            else:
                inner.names[name] = self._symbol("parameter", scope.id, name)
        for rest in (syntax.vararg, syntax.kwarg):
            if rest is not None:
                inner.names[rest.arg] = self._symbol("rest", scope.id, rest.arg, *map(_token, given))
        self.depth += 1
        try:
            if isinstance(node, ast.Lambda):
                return self.value(node.body, inner)
            self.suite(getattr(node, "body", []), inner, whole=self.part.fills(scope))
        except _ReturnedError as done:
            return done.value
        finally:
            self.depth -= 1
        return Known(None)

    def _collection_method(self, owner: Thing, name: str, arguments: list[Value]) -> Value | None:
        """The methods of lists, dicts and sets; None for any other."""
        first = arguments[0] if arguments else Known(None)
        if name in _GROWING and arguments:
            table = self._items(owner)
            value = self._resolved(arguments[-1])
            table.grown += 1
            table.entries[("element", _token(value))] = value
            table.absent.discard(_token(value))
            owner.members = None
        elif name == "update":
            table = self._items(owner)
            other = self._resolved(first)
            if isinstance(other, Thing) and other.items is not None:
                table.entries |= other.items.entries
                table.absent -= set(other.items.entries)
                table.grown += other.items.grown
            else:
                table.grown += 1
        elif name in ("get", "setdefault") and arguments:
            table = self._items(owner)
            if self._holds(self._contains(table, first)):
                return self._get(table, first, "KeyError")
            default = arguments[1] if arguments[1:] else Known(None)
            if name == "setdefault":
                self._put(table, first, default)
                return table.entries[_token(self._resolved(first))]
            return default
        elif name in ("pop", "popitem", "popleft", "remove", "discard"):
            table = self._items(owner)
            owner.members = None
            if name == "pop" and len(arguments) == 2 and not self._holds(self._contains(table, first)):
                return arguments[1]
            if not arguments and self._is_handled("IndexError") and not self._holds(owner):
                raise _RaisedError("IndexError")
            if (arguments and name != "pop") or _token(self._resolved(first)) in table.entries:
                self._remove(table, first)
            else:
                table.grown -= 1
                if table.exact and table.grown <= 0:
                    table.entries.clear()
            return self._symbol("popped", owner.number, table.emptied, table.grown)
        elif name == "clear":
            self._clear(self._items(owner))
            owner.members = None
        elif name in ("index",) and arguments:
            if not self._holds(self._contains(self._items(owner), first)):
                raise _RaisedError("ValueError")
            return self._symbol("index", owner.number, _token(first))
        elif name == "__contains__" and arguments:
            return self._contains(self._items(owner), first)
        elif name == "__setitem__" and len(arguments) == 2:
            self._put(self._items(owner), first, arguments[1])
        elif name == "__getitem__" and arguments:
            return self._subscript(owner, first)
        elif name == "__len__":
            return self._length(owner)
        elif name in ("keys", "copy"):
            return self._copied(owner)
        elif name in ("values", "items"):
            return self._symbol(name, owner.number, self._stamp(owner))
        else:
            return None
        return Known(None)

    def _copied(self, owner: Thing) -> Thing:
        table = self._items(owner)
        copy = self._symbol("copy", len(self.symbols))
        copy.members, copy.element = owner.members, owner.element
        copy.items = Table(
            table.owner, dict(table.entries), set(table.absent), table.exact, table.grown, table.version, table.emptied
        )
        return copy

    def _length(self, owner: Value) -> Value:
        owner = self._resolved(owner)
        if isinstance(owner, Known):
            return Known(len(owner.value)) if isinstance(owner.value, str | bytes) else self._symbol("length", "?")
        table = self._items(owner)
        if table.exact:
            keyed = sum(not (isinstance(key, tuple) and key[:1] == ("element",)) for key in table.entries)
            return Known(max(keyed if not table.grown else table.grown, 0))
        base = self._symbol("length", owner.number, table.version)
        self.lengths[base.number] = owner
        before = self._resolved(base)
        if isinstance(before, Known) and before.value == 0:  # so it is known what came since then
            table.exact = True
            return self._length(owner)
        if not table.grown:
            return base
        thing = self._symbol("length", owner.number, table.version, table.grown)
        self.sums[thing.number] = base.number, table.grown
        return thing

    def _builtin(self, name: str, node: ast.Call, arguments: list[Value]) -> Value:
        first = self._resolved(arguments[0]) if arguments else Known(None)
        second = self._resolved(arguments[1]) if len(arguments) > 1 else None
        if isinstance(first, Thing) and second is not None and name in ("hasattr", "getattr", "setattr", "delattr"):
            return self._by_name(name, first, second, arguments)
        if name == "len" and arguments:
            return self._length(first)
        if name == "isinstance" and len(node.args) == 2:
            return self._instance_of(first, node.args[1])
        if name == "callable" and isinstance(first, Known):
            return Known(False)
        if name == "bool" and arguments:
            if isinstance(first, Thing) and first.test is not None:
                return first
            return Known(self._holds(first))
        if name == "type" and len(arguments) == 1 and isinstance(first, Thing):
            return first if first.cls is not None else self._symbol("type", first.number)
        if name == "vars" and isinstance(first, Thing):
            return self._attribute(first, "__dict__")
        if name in ("globals", "locals"):
            view = self._symbol("dict", name)
            view.made = True
            if name == "globals":
                view.items = self._attributes(self._symbol("scope", self.index.module.id))
            return view
        if name in ("tuple", "frozenset") and isinstance(first, Thing) and not first.made:
            return self._symbol("builtin", name, first.number, self._stamp(first))
        if name in _COPIES:
            return self._copied(first) if isinstance(first, Thing) and arguments else self._collection([])
        if name == "object":
            return self._make()
        if name in ("any", "all") and isinstance(first, Thing) and first.members is not None:
            return Known((any if name == "any" else all)(map(self._holds, first.members)))
        if name == "next" and arguments:
            if second is not None and isinstance(first, Thing):
                if first.items is None:
                    count = self.touched[first.number] = self.touched.get(first.number, 0) + 1
                    return self._symbol("next", first.number, count)
                if not self._holds(first):
                    return second
                element = next(iter(self._elements(first)), second)
                if isinstance(element, Thing):
                    self.facts[("none", element.number)] = False, len(self.unknown_code)  # None stands for no element
                return element
            if isinstance(first, Thing) and first.members is not None and self._is_handled("StopIteration"):
                if not first.members:
                    raise _RaisedError("StopIteration")
                return first.members[0]
            return self._symbol("next", len(self.symbols), code=_ANY)
        if name in _PURE:
            return self._symbol("builtin", name, *map(_token, arguments), *map(self._stamp, arguments))
        return self._result(node, self._symbol("builtin", name), arguments, library=False)

    def _by_name(self, name: str, owner: Thing, key: Value, arguments: list[Value]) -> Value:
        table = self._attributes(owner)
        if name == "setattr":
            if len(arguments) == 3:
                self._put(table, key, arguments[2])
            return Known(None)
        if name == "delattr":
            self._remove(table, key)
            return Known(None)
        text = key.value if isinstance(key, Known) else None
        if isinstance(text, str) and owner.cls is not None and self._method(owner.cls, text) is not None:
            return Known(True) if name == "hasattr" else self._attribute(owner, text)
        if name == "hasattr":
            return self._contains(table, key)
        if len(arguments) < 3:
            return self._get(table, key, "AttributeError")
        if self._holds(self._contains(table, key)):
            return self._get(table, key, "AttributeError")
        return arguments[2]

    def _instance_of(self, value: Value, classes: ast.expr) -> Value:
        names = [path_of(each) or "?" for each in (classes.elts if isinstance(classes, ast.Tuple) else [classes])]
        value = self._resolved(value)
        if names == ["type()"] or names[0].rpartition(".")[2] == "NoneType":
            return Known(self._is_none(value))
        if isinstance(value, Known):
            plain = {name.rpartition(".")[2] for name in names}
            return Known(any(cls.__name__ in plain for cls in type(value.value).__mro__[:-1]))
        if value.maker and value.maker in names:
            return Known(True)
        if value.made and value.maker.rpartition(".")[2][:1].isupper() and all(hasattr(builtins, n) for n in names):
            return Known(False)
        key = "instance", value.number, tuple(names)
        if value.made:
            return self._tested(key, True, _ANY)
        outcome = self._choose(key, value.code)
        if outcome:
            self.facts[("none", value.number)] = False, len(self.unknown_code)
        return Known(outcome)


# -- syntax ------------------------------------------------------------------------------------------------------------


def _token(value: Value) -> object:
    """The same for the same value."""
    if isinstance(value, Thing):
        return value.number
    return ("constant", type(value.value).__name__, value.value)


def _is_small(value: object) -> bool:
    if isinstance(value, str):
        return len(value) < 1000
    return isinstance(value, int | float) and abs(value) < _SIZE


def _name(node: ast.expr | None) -> str:
    """The last part of a path."""
    return (path_of(node.func if isinstance(node, ast.Call) else node) or "").rpartition(".")[2]


def _class_around(frame: Frame) -> Scope | None:
    return next((scope for scope in frame.scope.chain() if scope.kind == "class"), None)


def _is_static(scope: Scope) -> bool:
    return any(_name(decorator) == "staticmethod" for decorator in scope.decorators)


def _handled(handler: ast.ExceptHandler) -> frozenset[str]:
    if handler.type is None:
        return frozenset({"BaseException"})
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return frozenset(_name(kind) or _ANY for kind in types)


def _catches(names: Iterable[str], kind: str) -> bool:
    found = set(names)
    return bool(found) and (kind == _ANY or not found.isdisjoint({kind, _ABOVE.get(kind, kind), _ANY, *_BROAD}))


def _leaves(node: ast.AST) -> bool:
    """Whether a statement may end what is around it."""
    return any(isinstance(part, _LEAVING) for part in ast.walk(node))


_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_ALWAYS = (*_LEAVING, ast.FunctionDef, ast.AsyncFunctionDef)
