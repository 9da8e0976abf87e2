"""Where the code of each file leads in its project, as plain numbers, and what follows for the whole.

`Links` are made from a file's summary once all names in it are resolved; they hold for as long as the file and the
structure of the project stay as they are, whatever the code of other files does.
A `CallGraph` joins the links of all files: who calls whom, in which contexts each function runs, who uses what.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypedDict

from .execution_context import IN_GRAPH, UNCHANGED, UNREACHABLE, entered, transferred
from .lazy import cached_property
from .names import below, canonical

Key = tuple[str, int]

CALL, READ, ENTER, MAKE = range(4)
"""What a row of `Links.calls` is: a call of a function; an attribute that is read and is a property; a method that runs
when an instance is called or a class is constructed; the construction of a class."""

NO_PARAMETER = -1000
"""Stands for the position of a parameter that the function does not have."""

_SCOPE_BITS = 24
_TRACED = 2
_UNROOTED = 4 | 8 | 32 | 512 | 1024  # SHIM, SCOPED, LIFTED, ONCE, LEGACY: they begin nowhere by themselves
_MAX_CONTEXTS = 24
_NO_FILE = -1


class Links(TypedDict):
    """One file; lists of numbers are rows one after the other, and files, names and shapes stand for their index."""

    files: list[str]
    """Those that the rows speak of; the file itself comes first."""
    names: list[str]
    """Of parameters."""
    shapes: list[list[Any]]
    """See `Summary.edges`."""
    effects: list[Any]
    """Of each of the file's conditions: the bits of its `Effects`, or ``[bits, files of context managers, absent]``
    where that depends on the code of other files; absent are ``[function, position, name]`` of parameters."""
    owners: dict[str, int]
    """The function or module in which the body of a class runs that calls something."""
    calls: list[int]
    """caller, line, effects, shape, kind, file, scope"""
    slots: list[int]
    """caller, line, effects, function, name: a parameter is called."""
    passes: list[int]
    """caller, line, effects, file, function, file or -1, function or transfer, name: a function is given to a parameter
    of another, or (-1) to something public, which runs it in its own way."""
    once: list[int]
    """file, function: it is given to what keeps the result of its first call"""
    wraps: list[int]
    """function, file of its decorator, decorator, name of the decorator's first parameter"""
    roots: list[int]
    """scope, context, reason, whether that needs the function not to be in `once`"""
    reasons: list[str]
    entries: dict[str, str]
    """Marks of decorated functions, see `execution_context.entered`."""
    v1_calls: dict[str, list[str]]
    uses: list[str]
    """Absolute names of what is public."""


class _File:
    """The links of one file, in little memory."""

    __slots__ = (
        "calls",
        "effects",
        "entries",
        "files",
        "names",
        "once",
        "owners",
        "passes",
        "reasons",
        "roots",
        "shapes",
        "slots",
        "uses",
        "v1_calls",
        "wraps",
    )  # fmt: skip

    def __init__(self, links: Links, numbers: Mapping[str, int], leaf: int | None) -> None:
        self.files = array("i", [numbers[name] for name in links["files"]])
        self.names = [sys.intern(name) for name in links["names"]]
        self.shapes = links["shapes"]
        self.effects = links["effects"]
        self.owners = {int(scope): owner for scope, owner in links["owners"].items()}
        self.calls = array("i", links["calls"])
        self.slots = array("i", links["slots"])
        self.passes = array("i", links["passes"])
        self.once = array("i", links["once"])
        self.wraps = array("i", links["wraps"])
        self.roots = array("i", links["roots"])
        self.reasons = [sys.intern(reason) for reason in links["reasons"]]
        self.entries = {int(scope): sys.intern(marks) for scope, marks in links["entries"].items()}
        self.v1_calls = {int(scope): [sys.intern(n) for n in names] for scope, names in links["v1_calls"].items()}
        self.uses = tuple(map(sys.intern, links["uses"]))
        if leaf is not None:
            self.calls = self._within(leaf, self.calls, 7, 5)
            self.passes = self._within(leaf, self.passes, 8, 3)
            self.once = self._within(leaf, self.once, 2, 0)

    def _within(self, own: int, numbers: array[int], width: int, column: int) -> array[int]:
        """The rows whose file, in a column, is the file with the number `own`."""
        rows = (row for row in _rows(numbers, width) if self.files[row[column]] == own)
        return array("i", chain.from_iterable(rows))


class CallGraph:
    """The links of all files of a project, joined.

    A function or class is a number in here: that of its file, then its scope id.
    A notebook is a leaf: it is known only if it is linted too, so nothing in it changes what is found in another file.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self._names = sorted(files)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._files: list[_File | None] = [None] * len(self._names)
        self._leaves = frozenset(number for number, name in enumerate(self._names) if name.endswith(".ipynb"))
        self._found: dict[tuple[str, ...], frozenset[int]] = {}
        self._spelled: dict[tuple[str, ...], str | None] = {}

    def add(self, file: str, links: Links) -> None:
        """Add a file's links; all must be there before the first question."""
        number = self._numbers[file]
        self._files[number] = _File(links, self._numbers, number if number in self._leaves else None)

    def _all(self) -> Iterator[tuple[int, _File]]:
        for number, file in enumerate(self._files):
            assert file is not None
            yield number << _SCOPE_BITS, file

    def _id(self, key: Key) -> int:
        number = self._numbers.get(key[0], _NO_FILE)
        return number if number == _NO_FILE else number << _SCOPE_BITS | key[1]

    def _key(self, node: int) -> Key:
        return self._names[node >> _SCOPE_BITS], node & (1 << _SCOPE_BITS) - 1

    # -- execution contexts ----------------------------------------------------------------------------------------

    def contexts(self, key: Key) -> tuple[int, ...]:
        """The contexts in which a function's body runs."""
        return tuple(sorted(self._table.get(self._id(key), ())))

    def steps(self, key: Key, flag: int) -> list[tuple[Key, int, str]]:
        """The functions from a root down to `key`, each with the line in which it calls the next."""
        steps: list[tuple[Key, int, str]] = []
        seen: set[int] = set()
        current = self._id(key)
        if current == _NO_FILE:
            return [(key, 0, "")]
        line = 0
        while current >= 0 and current not in seen:
            seen.add(current)
            options = [(s, v) for s, v in sorted(self._table.get(current, {}).items()) if s & flag]
            parent, next_line, reason = options[0][1] if options else (-1, 0, "")
            steps.append((self._key(current), line, reason if parent < 0 else ""))
            current, line = parent, next_line
        steps.reverse()
        return steps

    @cached_property
    def _table(self) -> dict[int, dict[int, tuple[int, int, str]]]:
        """Of each function its contexts, each with the caller that led to it, the line, and why a root is one."""
        edges, wrapped = self._edges()
        marks = {base | scope: marks for base, file in self._all() for scope, marks in file.entries.items()}
        table: dict[int, dict[int, tuple[int, int, str]]] = {}
        queue: deque[tuple[int, int]] = deque()
        moved: dict[int, int] = {}
        marked: dict[tuple[int, str], int] = {}

        def add(node: int, context: int, parent: int, line: int, reason: str) -> None:
            if context and (node in marks or node in wrapped):
                if node in wrapped:
                    context = transferred(context, wrapped[node])
                mark = marks.get(node, "")
                known = marked.get((context, mark))
                if known is None:
                    known = marked[context, mark] = entered(context, mark)
                context = known
            if not context & ~_UNROOTED:
                return
            ways = table.setdefault(node, {})
            if context not in ways and len(ways) < _MAX_CONTEXTS:
                ways[context] = (parent, line, reason)
                queue.append((node, context))

        once = {
            file.files[number] << _SCOPE_BITS | scope
            for _, file in self._all()
            for number, scope in _rows(file.once, 2)
        }
        for base, file in self._all():
            for scope, context, reason, unless_once in _rows(file.roots, 4):
                if not (unless_once and base | scope in once):
                    add(base | scope, context, -1, 0, file.reasons[reason])

        def spread() -> None:
            while queue:
                node, context = queue.popleft()
                for callee, line, transfer in edges.get(node, ()):
                    way = transfer << 12 | context
                    after = moved.get(way)
                    if after is None:
                        after = moved[way] = transferred(context, transfer)
                    add(callee, after, node, line, "")

        spread()
        for function, context in self._given_by_unknown(table):
            add(function, context, -1, 0, " (a tf.function)" if context == _TRACED else "")
        spread()
        return table

    def _given_by_unknown(self, known: Mapping[int, Any]) -> list[tuple[int, int]]:
        """What `tf.function` and the like make of a function that is given by code whose callers are not known."""
        found: list[tuple[int, int]] = []
        for base, file in self._all():
            own = self._effects[base >> _SCOPE_BITS]
            for caller, _, effect, where, scope, taker_file, taker, _ in _rows(file.passes, 8):
                if taker_file < 0 and base | file.owners.get(caller, caller) not in known:
                    context = transferred(0, own[effect] | taker)
                    if context:
                        found.append((file.files[where] << _SCOPE_BITS | scope, context))
        return found

    def _edges(self) -> tuple[dict[int, list[tuple[int, int, int]]], dict[int, int]]:
        """Callees of every function, with line and transfer; and the transfers of the project's own wrappers."""
        edges: dict[int, list[tuple[int, int, int]]] = {}
        parameter_calls: dict[tuple[int, str], list[tuple[int, int, int]]] = {}
        effects = self._effects
        for base, file in self._all():
            own = effects[base >> _SCOPE_BITS]
            owners = file.owners
            for caller, line, effect, _, kind, where, scope in _rows(file.calls, 7):
                if kind != MAKE:
                    callee = file.files[where] << _SCOPE_BITS | scope
                    edges.setdefault(base | owners.get(caller, caller), []).append((callee, line, own[effect]))
            for caller, line, effect, function, name in _rows(file.slots, 5):
                slot = (base | function, file.names[name])
                parameter_calls.setdefault(slot, []).append((base | owners.get(caller, caller), line, own[effect]))
        for base, file in self._all():
            own = effects[base >> _SCOPE_BITS]
            for caller, line, effect, where, scope, taker_file, taker, name in _rows(file.passes, 8):
                function = file.files[where] << _SCOPE_BITS | scope
                if taker_file < 0:
                    transfer = own[effect] | taker
                    edges.setdefault(base | file.owners.get(caller, caller), []).append((function, line, transfer))
                    continue
                slot = (file.files[taker_file] << _SCOPE_BITS | taker, file.names[name])
                for inner, inner_line, transfer in parameter_calls.get(slot, ()):
                    edges.setdefault(inner, []).append((function, inner_line, transfer))
        wrapped: dict[int, int] = {}
        for base, file in self._all():
            for scope, where, decorator, name in _rows(file.wraps, 4):
                slot = (file.files[where] << _SCOPE_BITS | decorator, file.names[name])
                for inner, line, transfer in parameter_calls.get(slot, ()):
                    wrapped.setdefault(base | scope, transfer)
                    edges.setdefault(base | scope, []).append((inner, line, UNCHANGED))
        return edges, wrapped

    @cached_property
    def _effects(self) -> list[list[int]]:
        """The bits of each file's conditions."""
        return [
            [effect if isinstance(effect, int) else self._effect(base, file, *effect) for effect in file.effects]
            for base, file in self._all()
        ]

    def _effect(self, base: int, file: _File, bits: int, managers: list[int], absent: list[list[Any]]) -> int:
        if any(file.files[manager] in self._graph_files for manager in managers):
            bits |= IN_GRAPH
        for scope, position, name in absent:
            omitting, calls = self._omitting(base | scope, position, name)
            if calls and not omitting:
                bits |= UNREACHABLE
        return bits

    @cached_property
    def _graph_files(self) -> frozenset[int]:
        return frozenset(number for name in GRAPH_NAMES for number in self._users.get(name, ()))

    # -- calls -------------------------------------------------------------------------------------------------------

    def callers_omitting(self, key: Key, position: int, name: str) -> tuple[int, int]:
        """How many calls leave a parameter to its default, and how many there are."""
        return self._omitting(self._id(key), position, name)

    def _omitting(self, node: int, position: int, name: str) -> tuple[int, int]:
        calls = self._callers.get(node, ())
        return sum(self._omits(call, position, name) for call in calls), len(calls)

    def callers_omitting_under(self, key: Key, position: int, name: str, flags: int, without: int) -> tuple[int, int]:
        """The same for the calls that run in a context with all `flags` and none of `without`."""
        found = []
        for call in self._callers.get(self._id(key), ()):
            caller, number, effect, _ = call
            bits = self._effects[number][effect]
            runs = (transferred(s, bits) for s in sorted(self._table.get(caller, ())))
            if any((s & flags) == flags and not s & without for s in runs):
                found.append(self._omits(call, position, name))
        return sum(found), len(found)

    def _omits(self, call: tuple[int, int, int, int], position: int, name: str) -> bool:
        file = self._files[call[1]]
        assert file is not None
        count, keywords = file.shapes[call[3]]
        return position != NO_PARAMETER and count <= position and name not in keywords and "*" not in keywords

    @cached_property
    def _callers(self) -> dict[int, list[tuple[int, int, int, int]]]:
        """The calls of each function: caller, number of its file, effects, shape."""
        found: dict[int, list[tuple[int, int, int, int]]] = {}
        for base, file in self._all():
            for caller, _, effect, shape, kind, where, scope in _rows(file.calls, 7):
                if kind == CALL:
                    row = (base | caller, base >> _SCOPE_BITS, effect, shape)
                    found.setdefault(file.files[where] << _SCOPE_BITS | scope, []).append(row)
        return found

    def makers(self, key: Key) -> list[Key]:
        """The functions and modules in whose own code a class is constructed."""
        return sorted({self._key(node) for node in self._makers.get(self._id(key), ())})

    @cached_property
    def _makers(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for base, file in self._all():
            for caller, _, _, _, kind, where, scope in _rows(file.calls, 7):
                if kind == MAKE:
                    maker = base | file.owners.get(caller, caller)
                    found.setdefault(file.files[where] << _SCOPE_BITS | scope, []).append(maker)
        return found

    def v1_calls(self, key: Key) -> tuple[str, ...]:
        """The functions that make variables by name which a function calls, itself or through others."""
        seen = {self._id(key)}
        queue = list(seen)
        found: set[str] = set()
        while queue:
            current = queue.pop()
            file = self._files[current >> _SCOPE_BITS] if current >= 0 else None
            if file is not None:
                found.update(file.v1_calls.get(current & (1 << _SCOPE_BITS) - 1, ()))
            fresh = self._callees.get(current, set()) - seen
            seen |= fresh
            queue.extend(fresh)
        return tuple(sorted(found))

    @cached_property
    def _callees(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for base, file in self._all():
            for caller, _, _, _, kind, where, scope in _rows(file.calls, 7):
                if kind == CALL:
                    found.setdefault(base | caller, set()).add(file.files[where] << _SCOPE_BITS | scope)
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
        return self._numbers.get(file, _NO_FILE) in self._using(names)

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
        for base, file in self._all():
            for name in file.uses:
                found.setdefault(name, []).append(base >> _SCOPE_BITS)
        return found

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


GRAPH_NAMES = (
    "tensorflow.Graph",
    "tensorflow.Session",
    "tensorflow.get_default_session",
    "tensorflow.get_default_graph",
)
"""A file that reads one of these may enter a graph in a context manager of its own."""


def _rows(numbers: array[int], width: int) -> Iterator[tuple[int, ...]]:
    cells = iter(numbers)
    return zip(*[cells] * width, strict=True)
