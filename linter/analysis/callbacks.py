"""What runs where functions are handed on: to helpers, constructors and decorators.

A helper's code runs what *this* call gives it, so it is copied for each function that is given away (a *site*): calls
lead from the giver into the copy, and from the copy to the function.
Copies are nodes of the call graph that stand for a function; only they lead to what was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .execution_context import UNCHANGED, given

Edge = tuple[int, int, int]
"""A callee, the line, and the transfer to it."""
NOTHING = -1
_SAME = given("same")
_MAX_DEPTH = 6
_MAX_COPIES = 50_000
_MAX_OF_A_SITE = 64
"""Copies of one helper and of those to which it gives the function on."""


class Slot(NamedTuple):
    """A place where a parameter is used as a function: called, or given to something public or to a parameter."""

    inner: int
    line: int
    transfer: int
    change: int
    taker: int
    name: str


class Given(NamedTuple):
    """A function that is given away."""

    giver: int
    line: int
    transfer: int
    function: int
    taker: int
    name: str
    kept: str
    is_partial: bool = False


class Callbacks:
    """The edges of a call graph that come of functions that are handed on.

    Args:
        direct: the callees of each function, with what is given to something public.
        given_away: the transfers of `direct` to what is given to something public that runs it in a way of its own.
        slots: where each parameter is used.
        outer: the function or class in which a function stands.
        returned: the parameters that functions return.
        called_as: by which name each call is made of a function that may run what it was given.
        free: the first number that is no function's.
    """

    def __init__(
        self,
        direct: Mapping[int, list[Edge]],
        given_away: Mapping[tuple[int, int], list[int]],
        slots: Mapping[tuple[int, str], list[Slot]],
        outer: Mapping[int, int],
        returned: frozenset[tuple[int, str]],
        called_as: Mapping[tuple[int, int, int], str],
        free: int,
    ) -> None:
        self._direct = direct
        self._slots = slots
        self._keyed: dict[tuple[int, str], list[Slot]] = {}
        """Of a parameter, where its items of any key are used."""
        for (taker, name), found in slots.items():
            if name.endswith("]"):
                self._keyed.setdefault((taker, name.partition("[")[0]), []).extend(found)
        self._outer = outer
        self._holding = frozenset(outer.values())
        self._returned = returned
        self._called_as = called_as
        self._free = self._next = self._site_began = free
        self._given_away = given_away
        self._copies: dict[tuple[int, int, str], int] = {}
        self._by_giver: dict[int, list[Given]] = {}
        self._kept: dict[tuple[int, str], set[str]] = {}
        self._escaped: dict[tuple[int, int, int], tuple[Given, int, list[Slot]]] = {}
        self.edges: dict[int, list[Edge]] = {}
        self.stands_for: dict[int, int] = {}
        """The function of which a node is a copy; `NOTHING` for one that stands for no code."""
        self.bodies: dict[int, int] = {}
        """Nodes that lead to the body of a decorated function."""
        self.same_roots: list[tuple[int, int]] = []
        """Functions and copies of them, which run by themselves as they do."""
        self.entry: dict[int, int] = {}
        """Of a decorated function the node that a call of it leads to."""
        self.gives: list[tuple[int, int, int]] = []
        """Copies that give a function to something public."""

    def _node(self, function: int) -> int:
        self._next += 1
        self.stands_for[self._next] = function
        return self._next

    def _lead(self, node: int, callee: int, line: int, transfer: int) -> None:
        edges = self.edges.setdefault(node, [])
        if (edge := (callee, line, transfer)) not in edges:
            edges.append(edge)

    def _within(self, function: int, outer: int) -> bool:
        """Whether a function is another one, or stands in it."""
        while function != outer:
            if function not in self._outer:
                return False
            function = self._outer[function]
        return True

    # -- decorators --------------------------------------------------------------------------------------------------

    def decorate(self, function: int, decorators: Iterable[tuple[int, str]]) -> None:
        """Calls of a function lead through its decorators, of which the innermost comes first, to its body."""
        current = self._node(NOTHING)
        self.bodies[current] = function
        for taker, name in decorators:
            node = self._node(NOTHING)
            if not self._wrapped(node, taker, name, current, 0):
                self._lead(node, current, 0, UNCHANGED)
            current = node
        self.entry[function] = current

    def _wrapped(self, node: int, taker: int, name: str, current: int, depth: int) -> bool:
        """Lead from a decorated function's node through what a decorator returns; False if that is not understood."""
        found = False
        if (taker, name) in self._returned:
            self._lead(node, current, 0, UNCHANGED)
            found = True
        nested: dict[int, list[Slot]] = {}
        for slot in self._slots_of(taker, name):
            if slot.inner != taker:
                nested.setdefault(self._entrance(slot.inner, taker), []).append(slot)
            elif slot.taker != NOTHING:
                if depth < _MAX_DEPTH:
                    found |= self._wrapped(node, slot.taker, slot.name, current, depth + 1)
            elif slot.change not in (_SAME, NOTHING):
                self._lead(node, current, slot.line, slot.transfer)
                self.gives.append((node, current, slot.transfer))
                found = True
        for entrance, slots in nested.items():
            site = Given(NOTHING, 0, 0, current, taker, name, "")
            if not self._within(entrance, taker) and self._outer.get(entrance) != self._outer.get(taker):
                self._escape(site, entrance, slots)
                continue
            copies = self._copied(entrance)
            for transfer in self._given_away.get((taker, entrance), [UNCHANGED]):
                self._lead(node, copies[entrance], 0, transfer)
                self._lead(node, entrance, 0, transfer)
                if transfer != UNCHANGED:
                    self.gives.append((node, copies[entrance], transfer))
            for slot in slots:
                self._use(copies.get(slot.inner, copies[entrance]), slot, current, self._next, 0)
            found = True
        return found

    def _entrance(self, inner: int, taker: int) -> int:
        """The function just below `taker` in which `inner` stands."""
        entrance = inner
        while self._within(inner, taker) and self._outer.get(entrance, taker) != taker:
            entrance = self._outer[entrance]
        return entrance

    def _slots_of(self, taker: int, name: str) -> list[Slot]:
        """Where a parameter is used, or ``name[key]``, an item of it; one of an unknown key may be any."""
        base, bracket, key = name.partition("[")
        found = self._slots.get((taker, base), [])
        if not bracket:
            return [*found, *keyed] if (keyed := self._keyed.get((taker, base))) else found
        handed_on = [
            slot._replace(name=f"{slot.name}[{key}") if slot.taker != NOTHING and "[" not in slot.name else slot
            for slot in found
        ]
        return [*handed_on, *self._slots.get((taker, name), ())]

    # -- helpers -----------------------------------------------------------------------------------------------------

    def give(self, sites: Iterable[Given]) -> None:
        """Lead from each giver through copies of the taker to what it gives."""
        every = list(sites)
        for site in every:
            self._by_giver.setdefault(site.giver, []).append(site)
            self._kept.setdefault((site.taker, site.name), set()).add(site.kept)
        for number, site in enumerate(every):
            self._site_began = self._next
            if site.is_partial:
                self._escape(site, site.taker, self._slots_of(site.taker, site.name))
                continue
            self._expand(site.giver, site, number, site.function, 0)
        self._lead_from_outside()

    def _expand(self, giver: int, site: Given, number: int, function: int, depth: int) -> None:
        slots = self._slots_of(site.taker, site.name) or [
            slot._replace(name=site.name) for slot in self._slots.get((site.taker, "**"), ()) if slot.name == "**"
        ]
        if not slots:
            return
        node = self._copies.get((number, site.taker, site.name))
        if node is not None:
            self._lead(giver, node, site.line, site.transfer)
            return
        if self._next - self._site_began > _MAX_OF_A_SITE or self._next - self._free > _MAX_COPIES:
            return
        copies = self._copied(site.taker)
        node = self._copies[number, site.taker, site.name] = copies[site.taker]
        self._lead(giver, node, site.line, site.transfer)
        if depth >= _MAX_DEPTH:
            return
        outside: dict[int, list[Slot]] = {}
        for slot in slots:
            if slot.inner in copies:
                self._use(copies[slot.inner], slot, function, number, depth)
            if slot.inner != site.taker:
                outside.setdefault(self._entrance(slot.inner, site.taker), []).append(slot)
        for entrance, found in outside.items():
            self._escape(site._replace(function=function), entrance, found)
        for copied, copy in list(copies.items()):
            for inner in self._by_giver.get(copied, ()):
                if inner.function in copies and inner.function != site.function:
                    key = hash((number, inner.line, inner.function)) | 1 << 62
                    self._expand(copy, inner, key, copies[inner.function], depth + 1)

    def _copied(self, function: int) -> dict[int, int]:
        """A copy of a function and of those in it to which its own code leads."""
        copies = {function: self._node(function)}
        queue = [function] if function in self._holding else []
        while queue:
            current = queue.pop()
            for callee, line, transfer in self._direct.get(current, ()):
                if callee != function and self._within(callee, function):
                    if callee not in copies:
                        copies[callee] = self._node(callee)
                        self.same_roots.append((callee, copies[callee]))
                        queue.append(callee)
                    self._lead(copies[current], copies[callee], line, transfer)
                    if transfer in self._given_away.get((current, callee), ()):
                        self.gives.append((copies[current], copies[callee], transfer))
            for inner in self._by_giver.get(current, ()):
                if inner.function not in copies and self._within(inner.function, function):
                    copies[inner.function] = self._node(inner.function)
                    queue.append(inner.function)
        return copies

    def _use(self, node: int, slot: Slot, function: int, number: int, depth: int) -> None:
        if slot.taker == NOTHING:
            self._lead(node, function, slot.line, slot.transfer)
            if slot.change not in (_SAME, NOTHING):
                self.gives.append((node, function, slot.transfer))
        elif depth < _MAX_DEPTH:
            site = Given(node, slot.line, slot.transfer, function, slot.taker, slot.name, "")
            self._expand(node, site, number, function, depth + 1)

    # -- functions that outlive the call that made them --------------------------------------------------------------

    def _escape(self, site: Given, entrance: int, slots: list[Slot]) -> None:
        self._escaped.setdefault((site.function, site.taker, entrance), (site, entrance, slots))

    def _lead_from_outside(self) -> None:
        """Closures and methods that run what was given before, wherever they are called."""
        incoming: dict[int, list[Edge]] = {}
        for caller, edges in self._direct.items():
            for callee, line, transfer in edges:
                incoming.setdefault(callee, []).append((caller, line, transfer))
        functions: dict[int, set[int]] = {}
        for site, entrance, _ in self._escaped.values():
            functions.setdefault(entrance, set()).add(site.function)
        apart: dict[tuple[int, int, str], dict[str | int, list[Edge]]] = {}
        for site, entrance, slots in list(self._escaped.values()):
            group = entrance, site.taker, site.name
            if group not in apart:
                apart[group] = self._told_apart(site, entrance, incoming.get(entrance, ()))
            if len(functions[entrance]) == 1 and not site.is_partial:
                calls = [call for call in incoming.get(entrance, ()) if not self._within(call[0], site.taker)]
            else:
                calls = [*apart[group].get(site.kept or NOTHING, ()), *apart[group].get(site.giver, ())]
            number = hash((site.function, site.taker, entrance)) | 1 << 61
            copies = self._copied(entrance)
            for caller, line, transfer in calls:
                self._lead(caller, copies[entrance], line, transfer)
            self.same_roots.append((entrance, copies[entrance]))
            for slot in slots:
                self._use(copies.get(slot.inner, copies[entrance]), slot, site.function, number, 0)

    def _told_apart(self, site: Given, entrance: int, calls: Iterable[Edge]) -> dict[str | int, list[Edge]]:
        """The calls of a closure by the name under which what is called was kept, or else by who calls."""
        names = self._kept.get((site.taker, site.name), set())
        found: dict[str | int, list[Edge]] = {}
        for call in calls:
            if not self._within(call[0], site.taker):
                parts = self._called_as.get((call[0], call[1], entrance), "").replace("[]", "").split(".")
                kept: list[str | int] = [part for part in dict.fromkeys(parts) if part and part in names]
                for key in kept or [call[0]]:
                    found.setdefault(key, []).append(call)
        return found
