"""The links of all files of a project, joined: who calls whom, in which contexts each function runs, who uses what."""

from __future__ import annotations

import json
import sys
from array import array
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from .callbacks import Callbacks, Edge, Given, Slot
from .entities import Key
from .eras import Era, era_of
from .execution_context import UNROOTED, Context, Effects, entered, given, transferred
from .lazy import cached_property
from .links import (
    GIVEN,
    MAYBE,
    NO_PARAMETER,
    NOTHING,
    OMITTED,
    Asked,
    CallKind,
    CallRow,
    DefaultRow,
    Links,
    NestRow,
    OnceRow,
    OpenEffects,
    PassRow,
    ResultRow,
    ReturnRow,
    RootRow,
    Rows,
    SlotRow,
    WrapRow,
)
from .names import below, canonical

_Leading = TypeVar("_Leading", CallRow, PassRow, OnceRow, ResultRow, DefaultRow)
_SAME = given("same")
_SCOPE_BITS = 24
_MAX_CONTEXTS = 24
_MAX_HANDED_ON = 4
"""Functions that hand on an argument, one to the next."""
_MAX_VALUES = 6
"""That a function is known to be given for one parameter."""
MAX_STEPS = 32
"""Of a way from a root that are told; one more stands for all before. Real programs have a third of them."""
GRAPH_NAMES = (
    *(f"tensorflow.{n}" for n in ("Graph", "Session", "get_default_session", "get_default_graph")),
    "tensorflow.python.client.session.Session",
)
"""A file that reads one of these may enter a graph in a context manager of its own."""


class _Way(NamedTuple):
    """How a function came to a context: from a caller, in a line, or (`NOTHING`) for a reason of its own."""

    caller: int
    line: int
    reason: str


class _Call(NamedTuple):
    """A call of a function."""

    caller: int
    file: _File
    effects: int
    shape: int


class _File:
    """The links of one file, in little memory."""

    __slots__ = (
        "effects", "entries", "files", "is_leaf", "names", "number", "owners", "rows", "shapes", "uses", "v1_calls",
    )  # fmt: skip

    def __init__(self, links: Links, numbers: Mapping[str, int], is_leaf: bool) -> None:
        self.files = array("i", [numbers[name] for name in links["files"]])
        self.number = self.files[0]
        self.names = [sys.intern(name) for name in links["names"]]
        self.shapes = links["shapes"]
        self.effects = links["effects"]
        self.owners = {int(scope): owner for scope, owner in links["owners"].items()}
        self.entries = {int(scope): sys.intern(marks) for scope, marks in links["entries"].items()}
        self.v1_calls = {int(scope): [sys.intern(n) for n in names] for scope, names in links["v1_calls"].items()}
        self.uses = tuple(map(sys.intern, links["uses"]))
        self.rows = Rows(links["rows"])
        self.is_leaf = is_leaf

    def moved_to(self, other: _File) -> dict[int, int] | None:
        """For links that are the same but for their lines: which line each one has become."""
        parts = ("entries", "files", "is_leaf", "names", "number", "owners", "uses", "v1_calls")
        if self is other:
            return {}
        if any(getattr(self, part) != getattr(other, part) for part in parts):
            return None
        if json.dumps([self.effects, self.shapes]) != json.dumps([other.effects, other.shapes]):  # kept ones are lists
            return None
        return self.rows.moved_to(other.rows)

    def leading(self, kind: type[_Leading]) -> Iterator[_Leading]:
        """The rows that lead to a function or class; those of a leaf lead to no other file."""
        found = self.rows.of(kind)
        return (row for row in found if row.file == 0) if self.is_leaf else found

    def node(self, scope: int, file: int = 0) -> int:
        """The number of a function or class of this file, or of another that its rows speak of."""
        return self.files[file] << _SCOPE_BITS | scope

    def caller(self, scope: int) -> int:
        """The function or module whose code runs in a scope: code in a class body runs with what is around it."""
        return self.number << _SCOPE_BITS | self.owners.get(scope, scope)


class CallGraph:
    """The links of all files of a project, joined.

    A function or class is a number in here: that of its file, then its scope id.
    A notebook is a leaf: it is known only if it is linted too, so nothing in it changes what is found in another file.

    Args:
        links: of all files, or of those that have others than in the graph `around` them.
        around: a graph of these files and more, whose other files stay as they are.
    """

    def __init__(self, links: Mapping[str, Links], around: CallGraph | None = None) -> None:
        self._names: list[str] = sorted(links) if around is None else around._names
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._leaves = frozenset(number for number, name in enumerate(self._names) if name.endswith(".ipynb"))
        self._files: list[_File] = [
            _File(links[name], self._numbers, number in self._leaves)
            if around is None or name in links
            else around._files[number]
            for number, name in enumerate(self._names)
        ]
        self._found: dict[tuple[str, ...], frozenset[int]] = {}
        self._spelled: dict[tuple[str, ...], str | None] = {}
        self._stands_for: dict[int, int] = {}
        self._given_on: dict[tuple[int, str, int], list[str]] = {}
        self._lines: dict[int, dict[int, int]] = {}
        """Of files whose text has other lines than when they were linked: where those that lead somewhere are now."""

    def with_links(self, links: Mapping[str, Links]) -> CallGraph:
        """The graph with other links of some of its files; where only lines have moved, with all that it knows."""
        graph = CallGraph(links, self)
        lines = {number: moved for number, moved in self._lines.items() if self._names[number] not in links}
        for name in links:
            number = self._numbers[name]
            moved = self._files[number].moved_to(graph._files[number])
            if moved is None:
                return graph
            lines[number] = {line: now for line, now in moved.items() if line != now}
        self.contexts(("", 0))
        graph.__dict__.update(self.__dict__, _lines=lines)
        return graph

    def _line(self, key: Key, line: int) -> int:
        """Where what stood in a line of a function's file stands now."""
        return self._lines.get(self._numbers.get(key[0], NOTHING), {}).get(line, line)

    def _id(self, key: Key) -> int:
        number = self._numbers.get(key[0], NOTHING)
        return number if number == NOTHING else number << _SCOPE_BITS | key[1]

    def _key(self, node: int) -> Key:
        return self._names[node >> _SCOPE_BITS], node & (1 << _SCOPE_BITS) - 1

    # -- execution contexts ----------------------------------------------------------------------------------------

    def contexts(self, key: Key) -> tuple[int, ...]:
        """The contexts in which a function's body runs."""
        return tuple(sorted(self._table.get(self._id(key), ())))

    def steps(self, key: Key, flag: int) -> list[tuple[Key, int, str]]:
        """The functions from a root down to `key`, each with the line in which it calls the next; the last ones."""
        steps: list[tuple[Key, int, str]] = []
        seen: set[int] = set()
        current = self._id(key)
        if current == NOTHING:
            return [(key, 0, "")]
        line = 0
        while current >= 0 and current not in seen and len(steps) <= MAX_STEPS:
            seen.add(current)
            ways = self._table.get(current, {})
            way = ways[min(flagged)] if (flagged := [s for s in ways if s & flag]) else _Way(NOTHING, 0, "")
            function = self._stands_for.get(current, current)
            if function == NOTHING or (steps and steps[-1][0] == self._key(function)):
                if way.reason and steps:  # a decorated function's own way to run
                    steps[-1] = (*steps[-1][:2], way.reason)
                current, line = way.caller, way.line or line
                continue
            steps.append((self._key(function), line, way.reason))
            current, line = way.caller, way.line
        return [(key, self._line(key, line), reason) for key, line, reason in reversed(steps)]

    @cached_property
    def _table(self) -> dict[int, dict[int, _Way]]:
        """Of each function its contexts, each with the first way that led to it."""
        direct, handed_on = self._edges()
        further, entry, bodies, stands_for = handed_on.edges, handed_on.entry, handed_on.bodies, handed_on.stands_for
        marks = {file.node(scope): marks for file in self._files for scope, marks in file.entries.items()}
        marks |= {copy: marks[function] for copy, function in stands_for.items() if function in marks}
        table: dict[int, dict[int, _Way]] = {}
        queue: deque[tuple[int, int]] = deque()

        def add(node: int, context: int, caller: int, line: int, reason: str) -> None:
            node = entry.get(node, node)
            while True:
                if node in marks and context:
                    context = entered(context, marks[node])
                if not context & ~UNROOTED:
                    return
                ways = table.setdefault(node, {})
                if context in ways or len(ways) >= _MAX_CONTEXTS:
                    return
                ways[context] = _Way(caller, line, reason)
                queue.append((node, context))
                if node not in bodies:
                    return
                caller, line, reason, node = node, 0, "", bodies[node]

        def spread() -> None:
            while queue:
                node, context = queue.popleft()
                for edges in (direct.get(node, ()), further.get(node, ())):
                    for callee, line, transfer in edges:
                        add(callee, transferred(context, transfer), node, line, "")

        copies: dict[int, list[int]] = {}
        for function, copy in handed_on.same_roots:
            copies.setdefault(function, []).append(copy)
        once = {file.node(row.scope, row.file) for file in self._files for row in file.leading(OnceRow)}
        for file in self._files:
            for root in file.rows.of(RootRow):
                function = file.node(root.scope)
                if not (root.unless_once and function in once):
                    for node in (function, *copies.get(function, ())):
                        add(node, root.context, NOTHING, 0, file.names[root.reason])
        spread()
        for giver, function, transfer in self._given_by_unknown(handed_on):
            if giver not in table and (context := transferred(0, transfer)):
                add(function, context, NOTHING, 0, " (a tf.function)" if context == Context.TRACED else "")
        spread()
        for caller, callee, line in _in_graphs_alone(direct, table):
            add(callee, Context.GRAPH.value, caller, line, "")
        spread()
        self._stands_for = stands_for
        return table

    def _given_by_unknown(self, handed_on: Callbacks) -> list[Edge]:
        """What is given to `tf.function` and the like: who gives it may be code whose callers are not known."""
        found: list[Edge] = []
        for file in self._files:
            effects = self._effects[file.number]
            for row in file.leading(PassRow):
                if row.taker_file == NOTHING:
                    function = file.node(row.scope, row.file)
                    found.append((file.caller(row.caller), function, effects[row.effects] | row.taker))
        return found + handed_on.gives

    def _edges(self) -> tuple[dict[int, list[Edge]], Callbacks]:
        """Callees of every function, with line and transfer; and what functions do that they are handed."""
        direct: dict[int, list[Edge]] = {}
        given_away: dict[tuple[int, int], list[int]] = {}
        slots: dict[tuple[int, str], list[Slot]] = {}
        outer: dict[int, int] = {}
        returned: set[tuple[int, str]] = set()
        called_as: dict[tuple[int, int, int], str] = {}
        sites: list[Given] = []
        decorators: dict[int, list[tuple[int, str]]] = {}
        for file in self._files:
            effects, names = self._effects[file.number], file.names
            for call in file.leading(CallRow):
                if call.kind != CallKind.MAKE:
                    caller, callee = file.caller(call.caller), file.node(call.scope, call.file)
                    direct.setdefault(caller, []).append((callee, call.line, effects[call.effects]))
                    if call.via != NOTHING:
                        called_as[caller, call.line, callee] = names[call.via]
            for slot in file.rows.of(SlotRow):
                transfer, change, taker, taker_name = effects[slot.effects], slot.taker, NOTHING, ""
                if slot.taker_file == NOTHING:
                    transfer |= slot.taker
                else:
                    change, taker, taker_name = NOTHING, file.node(slot.taker, slot.taker_file), names[slot.taker_name]
                one = Slot(file.caller(slot.caller), slot.line, transfer, change, taker, taker_name)
                slots.setdefault((file.node(slot.function), names[slot.name]), []).append(one)
            for row in file.leading(PassRow):
                giver, function = file.caller(row.caller), file.node(row.scope, row.file)
                transfer = effects[row.effects]
                if row.taker_file == NOTHING:
                    direct.setdefault(giver, []).append((function, row.line, transfer | row.taker))
                    if row.taker != _SAME:
                        given_away.setdefault((giver, function), []).append(transfer | row.taker)
                else:
                    taker, kept = file.node(row.taker, row.taker_file), "" if row.kept == NOTHING else names[row.kept]
                    name, is_partial = names[row.name], bool(row.is_partial)
                    sites.append(Given(giver, row.line, transfer, function, taker, name, kept, is_partial))
            for default in file.leading(DefaultRow):
                taker, name = file.node(default.scope), names[default.name]
                omitting, calls = self._omitting(taker, default.position, name)
                if omitting or not calls:
                    function = file.node(default.function, default.file)
                    sites.append(Given(taker, default.line, 0, function, taker, name, ""))
            outer.update((file.node(row.scope), file.node(row.outer)) for row in file.rows.of(NestRow))
            returned.update((file.node(row.scope), names[row.name]) for row in file.rows.of(ReturnRow))
            for wrap in file.rows.of(WrapRow):
                decorator = file.node(wrap.decorator, wrap.file), names[wrap.name]
                decorators.setdefault(file.node(wrap.scope), []).insert(0, decorator)
        free = len(self._files) << _SCOPE_BITS
        handed_on = Callbacks(direct, given_away, slots, outer, frozenset(returned), called_as, free)
        for function, found in decorators.items():
            handed_on.decorate(function, found)
        handed_on.give(sites)
        return direct, handed_on

    @cached_property
    def _effects(self) -> list[list[int]]:
        """Of each file's conditions."""
        found: list[list[int]] = []
        for file in self._files:
            closed: list[int] = []
            for effect in file.effects:
                closed.append(effect if isinstance(effect, int) else self._closed(file, OpenEffects(*effect), closed))
            found.append(closed)
        return found

    def _closed(self, file: _File, condition: OpenEffects, before: Sequence[int]) -> int:
        effects = condition.effects | before[condition.outer]
        if any(file.files[manager] in self._graph_files for manager in condition.managers):
            effects |= Effects.GRAPH
        for row in condition.asked:
            asked = Asked(*row)
            effects |= self._effects_of(file.node(asked.function), asked)
        return int(effects)

    @cached_property
    def _graph_files(self) -> frozenset[int]:
        return frozenset(number for name in GRAPH_NAMES for number in self._users.get(name, ()))

    # -- calls -------------------------------------------------------------------------------------------------------

    def effects_of(self, file: str, asked: Asked) -> Effects:
        """What asking for it does: unreachable if no call gives it and all are known, unsure if one only may."""
        return self._effects_of(self._id((file, asked.function)), asked)

    def _effects_of(self, node: int, asked: Asked) -> Effects:
        calls = self._callers.get(node, ())
        if not calls or node in self._run_by_others:
            return Effects(0)
        given = {value for call in calls for value in self._values(call, asked.position, asked.name)}
        if any(map(asked.may_be, given - {MAYBE})):
            return Effects(0)
        return Effects.UNSURE if MAYBE in given else Effects.UNREACHABLE

    def _omitting(self, node: int, position: int, name: str) -> tuple[int, int]:
        calls = self._callers.get(node, ())
        return sum(self._gives(call, position, name) is not True for call in calls), len(calls)

    def callers_omitting_under(
        self, key: Key, position: int, name: str, flags: int, without: int
    ) -> tuple[int, int, int]:
        """The calls that run in a context with all `flags` and none of `without`.

        How many leave a parameter to its default, how many certainly give it, and how many there are.
        """
        node = self._id(key)
        calls = [*self._callers.get(node, ()), *self._entered.get(node, ())]
        found = [self._gives(call, position, name) for call in self._under(calls, flags, without)]
        return found.count(False), found.count(True), len(found)

    def _under(self, calls: Iterable[_Call], flags: int, without: int) -> Iterator[_Call]:
        """The calls that run in a context with all `flags` and none of `without`."""
        for call in calls:
            effects = self._effects[call.file.number][call.effects]
            runs = (transferred(s, effects) for s in self._table.get(call.caller, ()))
            if any((s & flags) == flags and not s & without for s in runs):
                yield call

    def _gives(self, call: _Call, position: int, name: str) -> bool | None:
        """Whether a call gives a parameter something that is not None; None where that is not known."""
        values = self._values(call, position, name)
        found = {None if value == MAYBE else value not in (OMITTED, "null") for value in values}
        return found.pop() if len(found) == 1 else None

    def arguments_under(
        self, key: Key, parameters: Sequence[tuple[int, str]], flags: int, without: int
    ) -> list[list[list[str]]] | None:
        """What each call that runs in a context with all `flags` and none of `without` may give some parameters.

        The JSON texts of literals, or `OMITTED` and its like; None where the function also runs in other ways.
        """
        node = self._id(key)
        if node in self._run_by_others:
            return None
        return [
            [self._values(call, position, name) for position, name in parameters]
            for call in self._under(self._callers.get(node, ()), flags, without)
        ]

    def arguments(self, key: Key, position: int, name: str) -> list[str]:
        """What the calls of a function in this project may give a parameter, as in `arguments_under`."""
        calls = self._callers.get(self._id(key), ())
        return sorted({value for call in calls for value in self._values(call, position, name)})

    def _values(self, call: _Call, position: int, name: str, depth: int = 0) -> list[str]:
        """What a call may give a parameter; see `arguments_under`."""
        count, keywords = call.file.shapes[call.shape]
        literal = f"={position}:", f"={name}:"
        handed_on = f"?{position}=", f"?{name}="
        for keyword in keywords:
            if keyword.startswith(literal):
                return [keyword.partition(":")[2]]
            if keyword.startswith(handed_on):
                place, outer, default = keyword.partition("=")[2].split(":", 2)
                return self._handed_on(call.caller, int(place), outer, default, depth + 1)
        if position == NO_PARAMETER or count > position or name in keywords:
            return [GIVEN]
        return [MAYBE] if "*" in keywords else [OMITTED]

    def _handed_on(self, function: int, position: int, name: str, default: str, depth: int) -> list[str]:
        """What the calls of a function may give a parameter, with its default where they give nothing."""
        key = function, name, depth
        found = self._given_on.get(key)
        if found is None:
            calls = self._callers.get(function, ()) if depth <= _MAX_HANDED_ON else ()
            values = dict.fromkeys(value for call in calls for value in self._values(call, position, name, depth))
            if not calls or function in self._run_by_others or len(values) > _MAX_VALUES:
                values |= {MAYBE if default == "null" else GIVEN: None}
            found = [(default or GIVEN) if value == OMITTED else value for value in values]
            self._given_on[key] = found
        return found

    @cached_property
    def _callers(self) -> dict[int, list[_Call]]:
        """The calls of each function."""
        return self._calls_of(CallKind.CALL)

    @cached_property
    def _entered(self) -> dict[int, list[_Call]]:
        """The calls of instances, and constructions, that run each method."""
        return self._calls_of(CallKind.ENTER)

    def _calls_of(self, kind: CallKind) -> dict[int, list[_Call]]:
        found: dict[int, list[_Call]] = {}
        for file in self._files:
            for row in file.leading(CallRow):
                if row.kind == kind:
                    call = _Call(file.node(row.caller), file, row.effects, row.shape)
                    found.setdefault(file.node(row.scope, row.file), []).append(call)
        return found

    def calls_under(self, key: Key, flag: int) -> list[tuple[Key, int]] | None:
        """The code that calls a function in a context with `flag`, by line; None if it also runs in other ways."""
        node = self._id(key)
        if node in self._run_by_others:
            return None
        return [
            (self._key(caller), self._line(self._key(caller), line))
            for caller, line, effects in self._calls_by_line.get(node, ())
            if any(transferred(s, effects) & flag for s in self._table.get(caller, ()))
        ]

    @cached_property
    def _calls_by_line(self) -> dict[int, list[Edge]]:
        """Of each function the code that leads to it, with line and effects."""
        found: dict[int, list[Edge]] = {}
        for file in self._files:
            effects = self._effects[file.number]
            for row in file.leading(CallRow):
                call = file.caller(row.caller), row.line, effects[row.effects]
                found.setdefault(file.node(row.scope, row.file), []).append(call)
        return found

    @cached_property
    def _run_by_others(self) -> frozenset[int]:
        """The functions that run by themselves, are given away or decorated."""
        found: set[int] = set()
        for file in self._files:
            found.update(file.node(row.scope, row.file) for row in file.leading(PassRow))
            found.update(file.node(row.function, row.file) for row in file.leading(DefaultRow))
            found.update(file.node(row.scope) for row in file.rows.of(RootRow))
            found.update(file.node(row.scope) for row in file.rows.of(WrapRow))
        return frozenset(found)

    def calls_result(self, key: Key, flags: int) -> bool:
        """Whether code in a context with all `flags` calls what a function returns."""
        ways = self._result_calls.get(self._id(key), ())
        return any(
            transferred(s, effects) & flags == flags for caller, effects in ways for s in self._table.get(caller, ())
        )

    @cached_property
    def _result_calls(self) -> dict[int, list[tuple[int, int]]]:
        """Of each function the code that calls what it returns, with its effects."""
        found: dict[int, list[tuple[int, int]]] = {}
        for file in self._files:
            effects = self._effects[file.number]
            for row in file.leading(ResultRow):
                way = file.caller(row.caller), effects[row.effects]
                found.setdefault(file.node(row.scope, row.file), []).append(way)
        return found

    def makers(self, key: Key) -> list[Key]:
        """The functions and modules in whose own code a class is constructed."""
        return sorted({self._key(node) for node in self._makers.get(self._id(key), ())})

    def callers(self, key: Key) -> list[Key]:
        """The functions and modules whose own code calls a function."""
        return sorted({self._key(call.caller) for call in self._callers.get(self._id(key), ())})

    @cached_property
    def _makers(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for file in self._files:
            for row in file.leading(CallRow):
                if row.kind == CallKind.MAKE:
                    found.setdefault(file.node(row.scope, row.file), []).append(file.caller(row.caller))
        return found

    def v1_calls(self, key: Key) -> tuple[str, ...]:
        """The functions that make variables by name which a function calls, itself or through others."""
        seen = {self._id(key)}
        queue = list(seen)
        found: set[str] = set()
        while queue:
            current = queue.pop()
            if current != NOTHING:
                found.update(self._files[current >> _SCOPE_BITS].v1_calls.get(current & (1 << _SCOPE_BITS) - 1, ()))
            fresh = self._callees.get(current, set()) - seen
            seen |= fresh
            queue.extend(fresh)
        return tuple(sorted(found))

    @cached_property
    def _callees(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for callee, calls in self._callers.items():
            for call in calls:
                found.setdefault(call.caller, set()).add(callee)
        return found

    # -- uses --------------------------------------------------------------------------------------------------------

    def files_using(self, *names: str) -> list[str]:
        """The files that read one of these canonical names (``a.b.*`` matches everything below); no notebooks."""
        return [self._names[number] for number in sorted(self._using(names) - self._leaves)]

    def first_file_using(self, *names: str) -> str | None:
        """The first of them, or else the first notebook."""
        return self._first(self._using(names))

    def _first(self, found: Iterable[int]) -> str | None:
        first = min(found, key=lambda number: (number in self._leaves, number), default=None)
        return None if first is None else self._names[first]

    def uses(self, file: str, names: tuple[str, ...]) -> bool:
        """Whether a file reads one of these canonical names."""
        return self._numbers.get(file, NOTHING) in self._using(names)

    def _using(self, names: tuple[str, ...]) -> frozenset[int]:
        known = self._found.get(names)
        if known is None:
            found: set[int] = set()
            for name in names:
                if name.endswith(".*"):
                    below_it = (users for used, users in self._users.items() if used.startswith(name[:-1]))
                    found.update(number for users in below_it for number in users)
                else:
                    found.update(self._users.get(name, ()))
            known = self._found[names] = frozenset(found)
        return known

    @cached_property
    def _users(self) -> dict[str, list[int]]:
        """The files that read each canonical name."""
        found: dict[str, list[int]] = {}
        for spelled, users in self._spellings.items():
            found.setdefault(canonical(spelled), []).extend(users)
        return found

    @cached_property
    def _spellings(self) -> dict[str, list[int]]:
        """The files that read each absolute name."""
        found: dict[str, list[int]] = {}
        for file in self._files:
            for name in file.uses:
                found.setdefault(name, []).append(file.number)
        return found

    def era(self, file: str) -> tuple[Era, str]:
        """The era of a file, and the file that tells: itself, or else the first of a project that is of one era."""
        own = era_of(self._files[self._numbers[file]].uses) if file in self._numbers else Era.UNKNOWN
        return (own, file) if own is not Era.UNKNOWN else self._era

    @cached_property
    def _era(self) -> tuple[Era, str]:
        """The era of those files that tell one, and the first of them; no notebooks."""
        found = ((era_of(file.uses), file.number) for file in self._files if not file.is_leaf)
        told = [(era, self._names[number]) for era, number in found if era is not Era.UNKNOWN]
        return told[0] if len({era for era, _ in told}) == 1 else (Era.UNKNOWN, "")

    def first_file_spelling(self, *names: str) -> str | None:
        """The first file that reads one of these absolute names or what is below it, written just so."""
        if names not in self._spelled:
            users = [
                number
                for spelled, numbers in self._spellings.items()
                if any(below(spelled, name) for name in names)
                for number in numbers
            ]
            self._spelled[names] = self._first(users)
        return self._spelled[names]


def _in_graphs_alone(direct: Mapping[int, list[Edge]], table: Container[int]) -> list[tuple[int, int, int]]:
    """The functions that nothing known leads to, and that all their callers call in a graph; each with one caller."""
    ways: dict[int, tuple[int, int]] = {}
    elsewhere: set[int] = set()
    transfers = {transfer for edges in direct.values() for _, _, transfer in edges}
    to_graph = {transfer for transfer in transfers if transferred(0, transfer) & Context.GRAPH}
    for caller, edges in direct.items():
        for callee, line, transfer in edges:
            if transfer in to_graph:
                ways.setdefault(callee, (caller, line))
            else:
                elsewhere.add(callee)
    unknown = (callee for callee in ways if callee not in table and callee not in elsewhere)
    return [(ways[callee][0], callee, ways[callee][1]) for callee in unknown]
