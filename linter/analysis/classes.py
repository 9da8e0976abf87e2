"""The classes and functions of a project: bases, kinds, methods, parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from .circles import circles
from .entities import Entity, Key
from .kinds import kinds_of_base
from .links import NO_PARAMETER
from .summary import ClassSummary, FunctionSummary, Summary


class Classes(ABC):
    """What is asked of classes and functions, given what the names in their files mean.

    Args:
        summaries: summary of each file, by its path relative to the project's root, with ``/``.
    """

    def __init__(self, summaries: Mapping[str, Summary]) -> None:
        self.summaries = summaries
        self._cut = 0
        """The depth of the open question that has cut the latest answer of `resolve` short; see there."""
        self._kinds: dict[Key, frozenset[str]] = {}
        self._mro: dict[Key, tuple[list[Key], list[str]]] = {}
        self._direct_bases: dict[Key, list[Key | str]] = {}
        self._found_methods: dict[tuple[Key, str], Key | None] = {}
        self._inherited_methods: dict[Key, dict[str, Key]] = {}
        self._subclasses: dict[Key, list[Key]] | None = None

    @abstractmethod
    def resolve(self, file: str, text: str, /) -> tuple[Entity, ...]:
        """Say what a name of `file`, as `FileIndex.resolve` gives it, is in the whole project."""

    def function(self, key: Key) -> FunctionSummary | None:
        """The summary of a function of the project."""
        return self.summaries[key[0]]["functions"].get(str(key[1])) if key[0] in self.summaries else None

    def cls(self, key: Key) -> ClassSummary | None:
        """The summary of a class of the project."""
        return self.summaries[key[0]]["classes"].get(str(key[1])) if key[0] in self.summaries else None

    def mro(self, key: Key) -> tuple[list[Key], list[str]]:
        """The class and its bases in the project, nearest first, and the public bases it ends in.

        A base that descends from the class itself is none: Python would not have made either.
        """
        known = self._mro.get(key)
        return self._line_of_descent(key) if known is None else known

    def _line_of_descent(self, key: Key) -> tuple[list[Key], list[str]]:
        before = self._cut
        found: dict[Key, tuple[list[Key], list[str]]] = {}
        for circle in circles(key, self._own_bases, self._mro):
            members = frozenset(circle)
            for cls in circle:
                lines: list[list[Key]] = [[cls]]
                outer: dict[str, None] = {}
                for base in self._bases(cls):
                    if isinstance(base, str):
                        outer[base] = None
                    elif base not in members:
                        inner, externals = found.get(base) or self._mro[base]
                        lines.append(inner)
                        outer |= dict.fromkeys(externals)
                found[cls] = list(dict.fromkeys(chain.from_iterable(lines))), list(outer)
        if self._cut >= before:  # no base was cut short by a question still open
            self._mro |= found
        return found[key]

    def _own_bases(self, key: Key) -> Iterator[Key]:
        """The bases of a class that are classes of the project."""
        return (base for base in self._bases(key) if not isinstance(base, str))

    def _bases(self, key: Key) -> list[Key | str]:
        """What a class is derived from: classes of the project, and names of public ones."""
        known = self._direct_bases.get(key)
        if known is None:
            before = self._cut
            summary = self.cls(key)
            known = []
            for text in chain.from_iterable(summary["bases"]) if summary else ():
                for base in self.resolve(key[0], text):
                    if base.kind == "class" and base.key != key:
                        known.append(base.key)
                    elif base.kind == "external":
                        known.append(base.text)
            if self._cut >= before:
                self._direct_bases[key] = known
        return known

    def knows_bases(self, key: Key) -> bool:
        """Whether every base of a class, and of its bases in the project, is certainly a class that is known."""
        for base in self.mro(key)[0]:
            summary = self.cls(base)
            for alternatives in summary["bases"] if summary else ():
                found = [entity for text in alternatives for entity in self.resolve(base[0], text)]
                if not found or any(entity.kind not in ("class", "external") for entity in found):
                    return False
        return True

    def subclasses(self, key: Key) -> list[Key]:
        """All classes of the project that descend from `key`, in file order."""
        if self._subclasses is None:
            found: dict[Key, list[Key]] = {}
            for file in sorted(self.summaries):
                if file.endswith(".ipynb"):  # a leaf, see `CallGraph`
                    continue
                for number in self.summaries[file]["classes"]:
                    child = (file, int(number))
                    for base in self.mro(child)[0][1:]:
                        found.setdefault(base, []).append(child)
            self._subclasses = found
        return self._subclasses.get(key, [])

    def descent(self) -> list[list[Any]]:
        """All pairs of a class and one that it descends from, in a form that can be kept with the structure."""
        files = {file: number for number, file in enumerate(self.summaries)}
        self.subclasses(("", 0))
        return [[files[k[0]], k[1], files[c[0]], c[1]] for k, found in (self._subclasses or {}).items() for c in found]

    def load_descent(self, rows: Iterable[Sequence[int]]) -> None:
        """Take over what `descent` gave for the same structure."""
        files = list(self.summaries)
        self._subclasses = {}
        for base_file, base, file, scope in rows:
            self._subclasses.setdefault((files[base_file], base), []).append((files[file], scope))

    def kinds(self, key: Key) -> frozenset[str]:
        """The kinds of a class (see `linter.analysis.kinds`), through all its bases."""
        known = self._kinds.get(key)
        if known is None:
            known = frozenset(kind for base in self.mro(key)[1] for kind in kinds_of_base(base))
            self._kinds[key] = known
        return known

    def method(self, key: Key, name: str) -> Key | None:
        """The method `name` of a class, its own or an inherited one of the project."""
        line: list[Key] = []
        cls = key
        while (cls, name) not in self._found_methods:
            line.append(cls)
            classes = self.mro(cls)[0]
            found = self._method_of(classes[:1], name)
            if found is None and len(classes) > 1:
                if cls in self._mro and len(self.mro(classes[1])[0]) == len(classes) - 1:
                    cls = classes[1]  # all that is left are this base and its bases
                    continue
                found = self._inherited(cls, classes[1:]).get(name)
            if cls not in self._mro:
                return found
            self._found_methods[cls, name] = found
        found = self._found_methods[cls, name]
        self._found_methods.update(((below, name), found) for below in line)
        return found

    def _inherited(self, key: Key, bases: list[Key]) -> dict[str, Key]:
        """The methods that a class of several bases has of them, by name."""
        known = self._inherited_methods.get(key)
        if known is None:
            known = {}
            for base in reversed(bases):
                summary = self.cls(base)
                methods = summary["methods"] if summary else {}
                known.update((name, (base[0], scope)) for name, scope in methods.items())
            if key in self._mro:
                self._inherited_methods[key] = known
        return known

    def _method_of(self, classes: Iterable[Key], name: str) -> Key | None:
        for base in classes:
            summary = self.cls(base)
            if summary and name in summary["methods"]:
                return base[0], summary["methods"][name]
        return None

    def position(self, key: Key, parameter: str) -> int:
        """Where a call gives a parameter of a function, counted without ``self``; `NO_PARAMETER` if it has none."""
        summary = self.function(key)
        if summary is None or parameter not in summary["parameters"]:
            return NO_PARAMETER
        is_bound = summary["cls"] >= 0 and "builtins.staticmethod" not in summary["decorators"]
        return summary["parameters"].index(parameter) - is_bound

    def display(self, key: Key) -> str:
        """A function's or class's name as a person writes it: ``Net.call``."""
        function = self.function(key)
        if function is None:
            cls = self.cls(key)
            return cls["name"] if cls else "the module"
        owner = self.cls((key[0], function["cls"])) if function["cls"] >= 0 else None
        return f"{owner['name']}.{function['name']}" if owner else function["name"]

    def is_property(self, key: Key) -> bool:
        """Whether a method is read like an attribute."""
        summary = self.function(key)
        return summary is not None and any(
            text in ("builtins.property", "functools.cached_property", "abc.abstractproperty")
            or text.endswith("property")
            for text in summary["decorators"]
        )
