"""Which of the findings of a run were known before, by what they say and not by their lines.

A known finding is found again in its file under the same code and text: first in the same function, then anywhere in
the file.
Where a file is gone, a file without known findings that has mostly the same findings is that file under a new name;
where a function or class is gone from its file, so is one of its name in another file.
An ``info`` that is gone from its file may be found again in any.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..finding import Finding
from ..source.parsing import SourceFile, parse_source
from .fingerprint import Identity, digest, identities

_LONGEST = 240
"""Characters of a text that is kept as it is; of a longer one the beginning is kept, with a digest."""

_ANYWHERE = "*"
_SOME = 3
"""Findings that make a place known again also where more than as many new ones stand beside them."""


class Known(NamedTuple):
    """What a finding is known by; ``code``, ``scope`` and ``text`` are those of a fingerprint.

    The ``scope`` of an ``info`` is ``*``: such findings are told once a file, wherever a name is used first.
    """

    path: str
    code: str
    scope: str
    text: str
    origin: str = "static"


def known_as(
    findings: Sequence[Finding], source_of: Callable[[str], SourceFile | None], path_of: Callable[[str], str]
) -> list[Known]:
    """What each finding is known by, in their order.

    Args:
        findings: of any files.
        source_of: the source of a file by its displayed path; `Result.source`.
        path_of: how a file is called here, by its displayed path.
    """
    paths = {path: path_of(path) for path in {finding.path for finding in findings}}
    return [
        _known(paths[finding.path], identity, finding.origin)
        for finding, identity in zip(findings, identities(findings, source_of), strict=True)
    ]


def _known(path: str, identity: Identity, origin: str) -> Known:
    code, scope, text = identity.key
    return Known(path, code, _ANYWHERE if identity.is_info else scope, _short(text), origin)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} {digest(text)}"


def match(
    known: Sequence[Known],
    current: Sequence[Known],
    *,
    judged: Callable[[Known], bool],
    scopes_of: Callable[[str], frozenset[str] | None],
) -> dict[int, int]:
    """Find known findings among the current ones: for the index of each that is found, that of the current one.

    Args:
        known: from before.
        current: of this run.
        judged: whether a known finding would have been found if it were still there.
        scopes_of: the scopes of a file; None if the file is gone.
    """
    return _Matching(known, current, judged, scopes_of).matches()


class _Matching:
    def __init__(
        self,
        known: Sequence[Known],
        current: Sequence[Known],
        judged: Callable[[Known], bool],
        scopes_of: Callable[[str], frozenset[str] | None],
    ) -> None:
        self.known = list(known)
        self.current = list(current)
        self.judged = judged
        self.scopes_of = scopes_of
        self.found: dict[int, int] = {}
        self.rest = list(range(len(known)))
        self.free = list(range(len(current)))

    def matches(self) -> dict[int, int]:
        self._pair(lambda one: one)
        self.rest = [index for index in self.rest if self.judged(self.known[index])]
        self._pair(_in_file)
        if self.rest and self.free:
            self._follow(_file, _in_file_by_scope, self._renamed)
        if self.rest and self.free:
            self._follow(_place, _in_place, self._moved)
        self._pair(_anywhere)
        return self.found

    def _pair(self, key: Callable[[Known], tuple[str, ...]]) -> None:
        waiting: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for index in reversed(self.free):
            waiting[key(self.current[index])].append(index)
        rest = []
        for index in self.rest:
            if candidates := waiting.get(key(self.known[index])):
                self.found[index] = candidates.pop()
            else:
                rest.append(index)
        self.rest = rest
        taken = set(self.found.values())
        self.free = [index for index in self.free if index not in taken]

    def _follow(
        self,
        place: Callable[[Known], tuple[str, ...]],
        item: Callable[[Known], tuple[str, ...]],
        may_be: Callable[[tuple[str, ...], tuple[str, ...]], bool],
    ) -> None:
        """Give known findings the new name of their place, and pair them again."""
        old, new = self._items(self.known, self.rest, place, item), self._items(self.current, self.free, place, item)
        taken = {place(one) for one in self.known}
        holders: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
        for there, found in new.items():
            if there not in taken:
                for one in found:
                    holders[one].append(there)
        shared: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
        for here, items in old.items():
            for one, number in items.items():
                for there in holders.get(one, ()):
                    if may_be(here, there):
                        shared[here, there] += min(number, new[there][one])
        moves: dict[tuple[str, ...], tuple[str, ...]] = {}
        claimed: set[tuple[str, ...]] = set()
        for (here, there), number in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0])):
            most = 2 * number >= new[there].total() or (number >= _SOME and 2 * number >= old[here].total())
            if here not in moves and there not in claimed and most:
                moves[here] = there
                claimed.add(there)
        for index in self.rest:
            one = self.known[index]
            if (target := moves.get(place(one))) is not None:
                self.known[index] = one._replace(path=target[0])
        self._pair(lambda one: one)
        self._pair(_in_file)

    @staticmethod
    def _items(
        findings: Sequence[Known],
        indices: Iterable[int],
        place: Callable[[Known], tuple[str, ...]],
        item: Callable[[Known], tuple[str, ...]],
    ) -> dict[tuple[str, ...], Counter[tuple[str, ...]]]:
        places: dict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
        for index in indices:
            places[place(findings[index])][item(findings[index])] += 1
        return places

    def _renamed(self, here: tuple[str, ...], there: tuple[str, ...]) -> bool:
        return self.scopes_of(here[0]) is None

    def _moved(self, here: tuple[str, ...], there: tuple[str, ...]) -> bool:
        """A function or class went to another file; module-level code is of its file alone."""
        scope = here[1]
        return scope not in {"", _ANYWHERE} and scope == there[1] and scope not in (self.scopes_of(here[0]) or ())


def _file(one: Known) -> tuple[str, ...]:
    return (one.path,)


def _place(one: Known) -> tuple[str, ...]:
    return one.path, one.scope


def _in_file(one: Known) -> tuple[str, ...]:
    return one.path, one.code, one.text, one.origin


def _in_file_by_scope(one: Known) -> tuple[str, ...]:
    return one.scope, one.code, one.text, one.origin


def _anywhere(one: Known) -> tuple[str, ...]:
    return (*_in_place(one), "" if one.scope == _ANYWHERE else one.path)


def _in_place(one: Known) -> tuple[str, ...]:
    return one.code, one.text, one.origin


def scopes(source: SourceFile | None) -> frozenset[str]:
    """The dotted paths of all classes and functions of a file, and the empty one of the module."""
    tree = None if source is None else parse_source(source)
    found = {""}
    if not isinstance(tree, ast.Module):
        return frozenset(found)
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, scope = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = scope
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{scope}.{child.name}" if scope else child.name
                found.add(inner)
            if not isinstance(child, ast.expr):
                waiting.append((child, inner))
    return frozenset(found)
