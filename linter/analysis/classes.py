"""The classes and functions of a project: bases, kinds, methods, parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

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
        """The class and its bases in the project, nearest first, and the public bases it ends in."""
        known = self._mro.get(key)
        if known is None:
            self._mro[key] = ([key], [])
            before = self._cut
            inner: list[Key] = [key]
            outer: list[str] = []
            summary = self.cls(key)
            for alternatives in summary["bases"] if summary else ():
                for text in alternatives:
                    for base in self.resolve(key[0], text):
                        if base.kind == "class" and base.key != key:
                            bases, externals = self.mro(base.key)
                            inner += [b for b in bases if b not in inner]
                            outer += [e for e in externals if e not in outer]
                        elif base.kind == "external" and base.text not in outer:
                            outer.append(base.text)
            known = self._mro[key] = (inner, outer)
            if self._cut < before:
                del self._mro[key]  # a base was cut short by a question still open
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

    def load_descent(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
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
        return self._method_of(self.mro(key)[0], name)

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
        return summary["parameters"].index(parameter) - (1 if summary["cls"] >= 0 else 0)

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
