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
    SlotRow,
    WrapRow,
    cells_of,
    named,
)
from .names import canonical
from .paths import ITEM, held_by, keyed, split_head
from .resolution import Resolver
from .roots import MAKES_ONCE, given_to, marks_of, roots_of
from .summary import UNKNOWN_SHAPE, CallEdge, FunctionSummary, GivenFunctions

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
        self._running: dict[Key, bool] = {}
        self._keeping: dict[Key, bool] = {}
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
            self._place(int(number), function)
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
            position = self._project.position
            asked = [Asked(n, position((self._file, n), name), name, *how) for n, name, *how in condition["asked"]]
            if managers or asked or not isinstance(outer, int):
                numbers = [self._files[manager] for manager in managers]
                found.append(OpenEffects(condition["outer"], effects, numbers, asked))
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
        shape = other = NOTHING
        if edge.shape is not None:
            shape = self._shapes[edge.shape[0], *edge.shape[1]]
        caller, line, condition = edge.caller, edge.line, edge.conditions
        for text in edge.targets:
            for entity in self._resolve(text):
                if entity.kind == "parameter" and edge.shape is not None:
                    self._slot(caller, line, condition, entity, (NOTHING, given("same"), NOTHING))
                for kind, (file, scope) in self._read(entity) if edge.shape is None else self._called(entity):
                    via = self._names[edge.via] if edge.via and self._runs_given((file, scope), edge.via) else NOTHING
                    by_name = kind not in (CallKind.CALL, CallKind.ENTER) or self._is_named((file, scope), edge.via)
                    if not by_name and other == NOTHING:
                        other = self._shapes[UNKNOWN_SHAPE[0], *UNKNOWN_SHAPE[1]]
                    cells = caller, line, condition, shape if by_name else other, kind, self._files[file], scope, via
                    self._rows.append(CallRow(*cells))

        if edge.shape is not None:
            results = (text.removesuffix("()") for text in edge.targets if text.endswith("()"))
            givers = [key for text in results for key in self._givers(self._file, text, 0)]
            givers += [key for text in edge.targets for e in self._resolve(text) for _, key in self._read(e)]
            for file, scope in dict.fromkeys(givers):
                self._rows.append(ResultRow(caller, condition, self._files[file], scope))

    def _is_named(self, key: Key, via: str) -> bool:
        """Whether a function, or a class, is called by its own name; what has another one may be a partial of it."""
        function = self._project.function(key)
        if function is None:
            return False
        cls = self._project.cls((key[0], function["cls"])) if function["name"] == "__init__" else None
        return (function if cls is None else cls)["name"] == via.rpartition(".")[2]

    def _slot(self, caller: int, line: int, condition: int, parameter: Entity, taker: tuple[int, int, int]) -> None:
        """A parameter, or what it holds, is called or given on."""
        function, _, name = parameter.text[1:].partition(":")
        item = ITEM.match(split_head(name)[1]) if "[" in name or "(" in name else None
        if item is not None:
            name = keyed(ITEM.sub("", name), item[1] or "")
        if parameter.file == self._file:
            self._rows.append(SlotRow(caller, line, condition, int(function), self._names[name], *taker))

    def _runs_given(self, key: Key, via: str) -> bool:
        """Whether a function may call what was given to a partial of it, to the function around it, or to its class."""
        known = self._running.get(key)
        if known is None:
            function = self._project.function(key)
            known = False
            if function is not None and function["name"] != via.rpartition(".")[2]:
                return True
            if function is not None and function["cls"] < 0:
                known = str(function["outer"]) in self._project.summaries[key[0]]["functions"]
            elif function is not None:
                known = self._keeps_given((key[0], function["cls"]))
            self._running[key] = known
        return known

    def _keeps_given(self, key: Key) -> bool:
        """Whether a class keeps what its methods are given."""
        known = self._keeping.get(key)
        if known is None:
            cls = self._project.cls(key)
            known = self._keeping[key] = cls is not None and any(
                (text.partition("]")[2] if text[0] == "[" else text).startswith("$")
                for texts in cls["attributes"].values()
                for text in texts
            )
        return known

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
        if entity.kind == "function" and self._is_property(entity.key):
            yield CallKind.READ, entity.key

    def _is_property(self, key: Key) -> bool:
        if key not in self._properties:
            self._properties[key] = self._project.is_property(key)
        return self._properties[key]

    def _called(self, entity: Entity) -> Iterator[tuple[CallKind, Key]]:
        """What runs when something is called: a function, or methods of what is no function."""
        methods: tuple[str, ...] = ()
        if entity.kind == "function" and self._is_property(entity.key):
            yield CallKind.READ, entity.key
            for value in self._project.property_values(entity.key):
                if value.kind != "function" or value.key != entity.key:
                    yield from self._called(value)
        elif entity.kind == "function":
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
        held = [held_by(text) if text.startswith("{") else ("", text) for text in row.functions]
        entities = [(key, entity) for key, text in held for entity in self._resolve(text)]
        given_keys = dict.fromkeys((key, function) for key, entity in entities for function in self._run_of(entity))
        functions = [function for _, function in given_keys]
        if row.argument.startswith("="):
            self._default(row, functions)
            return
        parameters = [(key, entity) for key, entity in entities if entity.kind == "parameter"]
        if not functions and not parameters:
            return
        takers = [taker for target in row.targets for taker in self._takers(row, target, functions)]
        kept = self._names[row.kept] if row.kept else NOTHING
        for taker in dict.fromkeys(takers):
            for key, (file, scope) in given_keys:
                cells = (row.caller, row.line, row.conditions, self._files[file], scope, *self._item(taker, key))
                self._rows.append(PassRow(*cells, kept, row.is_partial))
            for key, parameter in parameters:
                self._slot(row.caller, row.line, row.conditions, parameter, self._item(taker, key))

    def _item(self, taker: tuple[int, int, str | int], key: str) -> tuple[int, int, int]:
        """Who takes an item of a dict, or the whole."""
        file, scope, name = taker
        return file, scope, self._names[keyed(name, key)] if isinstance(name, str) else name

    def _default(self, row: GivenFunctions, functions: Iterable[Key]) -> None:
        name = row.argument[1:]
        position = self._project.position((self._file, row.caller), name)
        for file, scope in functions:
            cells = (row.caller, row.line, self._files[file], scope, self._names[name], position)
            self._rows.append(DefaultRow(*cells))

    def _run_of(self, entity: Entity) -> Iterator[Key]:
        """The functions that run when something is called that is given away."""
        if entity.kind == "function" and self._is_property(entity.key):
            yield from (value.key for value in self._project.property_values(entity.key) if value.kind == "function")
        elif entity.kind == "function":
            yield entity.key
        elif entity.kind == "instance" and entity.text != "self":
            for name in ("__call__", "call"):
                if (method := self._project.method(entity.key, name)) is not None:
                    yield method

    def _takers(
        self, row: GivenFunctions, target: str, functions: Iterable[Key]
    ) -> Iterator[tuple[int, int, str | int]]:
        """Who takes an argument, as in the last cells of a `SlotRow`, of each thing that the callee may be.

        A parameter is still called by its name.
        """
        for entity in self._resolve(target) if not target.startswith("?") else [Entity("external", target)]:
            if entity.kind in ("function", "class", "instance"):
                for file, scope in self._taking(entity):
                    callee = self._project.function((file, scope))
                    name = _parameter_name(callee, row.argument) if callee else None
                    if name:
                        yield self._files[file], scope, name
                continue
            public = canonical(entity.text) if entity.kind == "external" else ""
            if entity.kind == "parameter":
                public = f"?{entity.text.rpartition('.')[2] if '.' in entity.text else ''}"
            if public == MAKES_ONCE:
                for file, scope in functions:
                    self._rows.append(OnceRow(self._files[file], scope))
            change = given_to(public, row.argument, bool(row.kept))
            if change is not None and not row.is_partial:
                yield NOTHING, given(change), NOTHING

    def _taking(self, entity: Entity) -> Iterator[Key]:
        """The functions that take the arguments of a call of something of the project."""
        if entity.kind == "function":
            yield entity.key
            return
        for name in ("__init__",) if entity.kind == "class" else ("__call__", "call"):
            if (method := self._project.method(entity.key, name)) is not None:
                yield method
                return

    def _place(self, scope: int, function: FunctionSummary) -> None:
        """Where a function stands, and which of its parameters it returns."""
        outer = function["cls"] if function["cls"] >= 0 else function["outer"]
        if outer:
            self._rows.append(NestRow(scope, outer))
        for text in function["returns"]:
            held = held_by(text)[1] if text.startswith("{") else ""
            if held[:1] == "@" and held[1:].isdigit() and "tensorflow.custom_gradient" in function["decorators"]:
                cells = (scope, function["line"], 0, NOTHING, CallKind.READ, 0, int(held[1:]), NOTHING)
                self._rows.append(CallRow(*cells))  # the gradient
            if text.startswith(f"${scope}:"):
                self._rows.append(ReturnRow(scope, self._names[text.partition(":")[2]]))

    def _wrap(self, scope: int, function: FunctionSummary) -> None:
        """A wrapper that calls what it decorates: the function runs as the wrapper runs it."""
        for text in function["decorators"]:
            for entity in self._resolve(text):
                for file, taker in self._taking(entity) if entity.kind in ("function", "class", "instance") else ():
                    decorator = self._project.function((file, taker))
                    name = _parameter_name(decorator, "0") if decorator is not None else None
                    if name and not self._project.is_property((file, taker)):
                        self._rows.append(WrapRow(scope, self._files[file], taker, self._names[name]))


def _parameter_name(callee: FunctionSummary, argument: str) -> str | None:
    if argument == "**":
        return argument
    if not argument.isdigit():
        return argument
    is_bound = callee["cls"] >= 0 and not any(text.endswith("staticmethod") for text in callee["decorators"])
    position = int(argument) + (1 if is_bound else 0)
    return callee["parameters"][position] if position < len(callee["parameters"]) else callee["rest"] or None
