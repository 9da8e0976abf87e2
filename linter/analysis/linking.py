"""From a file's summary to its links: all names in it resolved, and nothing asked about the code of other files.

A summary's ``edges`` become rows of calls and slots, its ``passes`` rows of what is given away, to whom, and of what is
kept after its first call; functions yield wraps, marks and roots, and conditions effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from .effects import own_effects
from .entities import Entity, Key
from .execution_context import given
from .links import (
    NOTHING,
    CallKind,
    CallRow,
    Links,
    OnceRow,
    OpenEffects,
    PassRow,
    ResultRow,
    SlotRow,
    WrapRow,
    cells_of,
    named,
)
from .names import canonical
from .resolution import Resolver
from .roots import MAKES_ONCE, given_to, marks_of, roots_of
from .summary import CallEdge, FunctionSummary, GivenFunctions

_T = TypeVar("_T")
_MAX_RETURNED = 4
"""Functions that return each other's results."""


def links_of(names: Resolver, file: str) -> Links:
    """The links of a file, whose names `names` resolves."""
    return _Linker(names, file).links()


class _Numbers(dict[_T, int]):
    """Numbers of what rows speak of, in the order in which they first do."""

    def __missing__(self, key: _T) -> int:
        number = self[key] = len(self)
        return number


class _Linker:
    def __init__(self, names: Resolver, file: str) -> None:
        self._project = names
        self._file = file
        self._summary = names.summaries[file]
        self._files = _Numbers[str]({file: 0})
        self._names = _Numbers[str]()
        self._shapes = _Numbers[tuple[Any, ...]]()
        self._properties: dict[Key, bool] = {}
        self._rows: list[NamedTuple] = []

    def _resolve(self, text: str) -> tuple[Entity, ...]:
        return self._project.resolve(self._file, text)

    def links(self) -> Links:
        functions = self._summary["functions"].items()
        used = (entity for text in self._summary["uses"] for entity in self._project.resolve(self._file, text))
        uses = list(dict.fromkeys(entity.text for entity in used if entity.kind == "external"))
        calls = list(named(CallEdge, self._summary["edges"]))
        passes = list(named(GivenFunctions, self._summary["passes"]))
        for call in calls:
            self._call(call)
        for row in passes:
            self._give(row)
        for number, function in functions:
            self._wrap(int(number), function)
        self._rows += roots_of(self._project, self._file, uses, self._names)
        return {
            "effects": self._effects(),
            "owners": self._owners({call.caller for call in calls} | {row.caller for row in passes}),
            "entries": {n: marks for n, f in functions if (marks := marks_of(self._project, self._file, f))},
            "v1_calls": {n: f["v1_calls"] for n, f in functions if f["v1_calls"]},
            "uses": uses,
            "rows": cells_of(self._rows),
            "files": list(self._files),
            "names": list(self._names),
            "shapes": [[count, keywords] for count, *keywords in self._shapes],
        }

    def _effects(self) -> list[int | OpenEffects]:
        found: list[int | OpenEffects] = []
        for condition in self._summary["conditions"]:
            outer = found[condition["outer"]] if found else 0
            effects = int(own_effects(self._project, self._file, condition))
            managers = [m for text, _ in condition["withs"] for m in self._project.context_managers(self._file, text)]
            absent = [(n, self._project.position((self._file, n), name), name) for n, name in condition["absent"]]
            if managers or absent or not isinstance(outer, int):
                numbers = [self._files[manager] for manager in managers]
                found.append(OpenEffects(condition["outer"], effects, numbers, absent))
            else:
                found.append(effects | outer)
        return found

    def _owners(self, callers: Iterable[int]) -> dict[str, int]:
        """Code in a class body runs when the code around the class does."""
        classes = self._summary["classes"]
        owners: dict[str, int] = {}
        for caller in callers:
            owner = caller
            while str(owner) in classes:
                owner = classes[str(owner)]["outer"]
            if owner != caller:
                owners[str(caller)] = owner
        return owners

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, edge: CallEdge) -> None:
        shape = NOTHING if edge.shape is None else self._shapes[edge.shape[0], *edge.shape[1]]
        caller, line, condition = edge.caller, edge.line, edge.conditions
        for text in edge.targets:
            for entity in self._resolve(text):
                if entity.kind == "parameter" and edge.shape is not None:
                    function, _, name = entity.text[1:].partition(":")
                    self._rows.append(SlotRow(caller, line, condition, int(function), self._names[name]))
                for kind, (file, scope) in self._read(entity) if edge.shape is None else self._called(entity):
                    self._rows.append(CallRow(caller, line, condition, shape, kind, self._files[file], scope))

        if edge.shape is not None:
            results = (text.removesuffix("()") for text in edge.targets if text.endswith("()"))
            for file, scope in dict.fromkeys(key for text in results for key in self._givers(self._file, text, 0)):
                self._rows.append(ResultRow(caller, condition, self._files[file], scope))

    def _givers(self, file: str, text: str, depth: int) -> Iterator[Key]:
        """The functions whose result a call gives: the one that is called, and those whose result it returns."""
        for entity in self._project.resolve(file, text):
            if entity.kind == "function":
                yield entity.key
                function = self._project.function(entity.key)
                for returned in function["returns"] if function and depth < _MAX_RETURNED else ():
                    if returned.endswith("()"):
                        yield from self._givers(entity.file, returned.removesuffix("()"), depth + 1)

    def _read(self, entity: Entity) -> Iterator[tuple[CallKind, Key]]:
        """What runs when an attribute is read: a property."""
        if entity.kind == "function":
            if entity.key not in self._properties:
                self._properties[entity.key] = self._project.is_property(entity.key)
            if self._properties[entity.key]:
                yield CallKind.READ, entity.key

    def _called(self, entity: Entity) -> Iterator[tuple[CallKind, Key]]:
        """What runs when something is called: a function, or methods of what is no function."""
        methods: tuple[str, ...] = ()
        if entity.kind == "function":
            yield CallKind.CALL, entity.key
        elif entity.kind == "instance":
            methods = ("__call__", "call")
        elif entity.kind == "class":
            yield CallKind.MAKE, entity.key
            methods = ("__init__", "__new__")
        for name in methods:
            if (method := self._project.method(entity.key, name)) is not None:
                yield CallKind.ENTER, method

    # -- functions that are given away -------------------------------------------------------------------------------

    def _give(self, row: GivenFunctions) -> None:
        """What the callee does with a function that it is given decides how it runs."""
        functions = [e.key for text in row.functions for e in self._resolve(text) if e.kind == "function"]
        if not functions:
            return
        takers = [taker for target in row.targets for taker in self._takers(target, row.argument, functions)]
        for file, scope in functions:
            for taker in takers:
                self._rows.append(PassRow(row.caller, row.line, row.conditions, self._files[file], scope, *taker))

    def _takers(self, target: str, argument: str, functions: Iterable[Key]) -> Iterator[tuple[int, int, int]]:
        """The last three cells of a `PassRow`, of each thing that the callee may be."""
        for entity in self._resolve(target) if not target.startswith("?") else [Entity("external", target)]:
            if entity.kind == "function":
                callee = self._project.function(entity.key)
                name = _parameter_name(callee, argument) if callee else None
                if name:
                    yield self._files[entity.file], entity.scope, self._names[name]
                continue
            public = canonical(entity.text) if entity.kind == "external" else ""
            if public == MAKES_ONCE:
                for file, scope in functions:
                    self._rows.append(OnceRow(self._files[file], scope))
            change = given_to(public.removeprefix("?"), argument, entity.kind)
            if change is not None:
                yield NOTHING, given(change), NOTHING

    def _wrap(self, scope: int, function: FunctionSummary) -> None:
        """A wrapper that calls what it decorates: the function runs as the wrapper runs it."""
        for text in function["decorators"]:
            for entity in self._resolve(text.removesuffix("()")):
                decorator = self._project.function(entity.key) if entity.kind == "function" else None
                if decorator is not None and decorator["parameters"]:
                    name = self._names[decorator["parameters"][0]]
                    self._rows.append(WrapRow(scope, self._files[entity.file], entity.scope, name))


def _parameter_name(callee: FunctionSummary, argument: str) -> str | None:
    if not argument.isdigit():
        return argument
    position = int(argument) + (1 if callee["cls"] >= 0 else 0)
    return callee["parameters"][position] if position < len(callee["parameters"]) else None
