"""Fixes that are proven: of those that can be applied, which leave what a program computes as it is, and which do not.

Each state of the files is run, and the last one is what is written: nothing is concluded for a state that was not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from ..runtime_report import Attempt, Try
from .fixing import AppliedFix, Fixed, Place

RUNS = 40
"""Attempts, unless told otherwise."""
_HINTED = 3
"""Fixes that are tried because a report speaks of their lines, before all are halved."""

FixAllBut = Callable[[frozenset[Place]], Fixed]
"""Applies all fixes but those of some findings."""


@dataclass(frozen=True, slots=True)
class Harmful:
    """A fix with which an attempt does not hold: how, in words, and how not without it, if it does not hold then."""

    fix: AppliedFix
    told: str
    without: str = ""


@dataclass(frozen=True, slots=True)
class Proven:
    """What became of a proof.

    ``fixed`` has the fixes that are proven; ``harmful`` and ``unreached`` are left out, and of the second kind no line
    ran. ``why`` says why nothing is proven, empty where all that is applied is; ``remark`` says what was not looked at
    of that; ``runs`` counts the attempts.
    """

    fixed: Fixed
    harmful: tuple[Harmful, ...]
    unreached: tuple[AppliedFix, ...]
    why: str
    remark: str
    runs: int


def prove(fix: FixAllBut, attempt: Try, runs: int = RUNS) -> Proven:
    """Apply the fixes with which an attempt holds.

    A fix of which no line runs is left out, since nothing was seen of it. Where an attempt does not hold, the fix that
    this comes from is searched for: first where the attempt itself points to, then by halves.

    Args:
        fix: applies all fixes but some.
        attempt: runs what is to stay as it is.
        runs: how often it may, at most.
    """
    search = _Search(fix, attempt, runs)
    try:
        why = search.run()
    except _OverError:
        why = f"{runs} runs were not enough to find which fix changes it"
    if why:
        search.without |= {one.place for one in search.fixed().applied}
    harmful, unreached = tuple(search.harmful), tuple(search.unreached)
    return Proven(search.fixed(), harmful, unreached, why, search.remark, search.count)


class _OverError(Exception):
    """All runs are used up."""


class _Search:
    def __init__(self, fix: FixAllBut, attempt: Try, runs: int) -> None:
        self.fix = fix
        self.attempt = attempt
        self.runs = runs
        self.count = 0
        self.without: frozenset[Place] = frozenset()
        self.harmful: list[Harmful] = []
        self.unreached: list[AppliedFix] = []
        self.remark = ""
        self.paths: dict[str, str] = {}
        """Real paths by displayed ones."""
        self.states: dict[frozenset[Place], Fixed] = {}
        self.attempts: dict[frozenset[tuple[str, bytes]], Attempt] = {}

    def run(self) -> str:
        """Leave out what is wrong or was not run, until what is left holds; why it never does, if so."""
        while (fixed := self.fixed()).applied:
            tried = self.tried(self.without)
            silent = [one for one in fixed.applied if tried.ended and not self._reached(tried, one)]
            if silent:
                self.without |= {one.place for one in silent}
                self.unreached += silent
                continue
            if tried.holds:
                self.remark = tried.told
                return ""
            found = self._culprit(tried)
            if found is None:
                return tried.told
            one, still = found
            self.without |= {one.place}
            self.harmful.append(Harmful(one, tried.told, still))
            if still and self.fixed().applied:
                return f"the finding of {one.place.code} in line {one.place.line} has to be mended first: {still}"
        return ""

    def fixed(self, without: frozenset[Place] | None = None) -> Fixed:
        """The files with all fixes but these."""
        left = self.without if without is None else without
        if left not in self.states:
            self.states[left] = made = self.fix(left)
            self.paths |= {file.display: os.path.realpath(file.path) for file in made.files}
        return self.states[left]

    def tried(self, without: frozenset[Place]) -> Attempt:
        """How the program is with all fixes but these.

        Raises:
            _OverError: if no run is left.
        """
        files = {os.path.realpath(one.path): one.now for one in self.fixed(without).files}
        state = frozenset(files.items())
        if state not in self.attempts:
            if self.count == self.runs:
                raise _OverError
            self.count += 1
            self.attempts[state] = self.attempt(files)
        return self.attempts[state]

    def _culprit(self, tried: Attempt) -> tuple[AppliedFix, str] | None:
        """The fix because of which an attempt does not hold, and how it does not without it.

        It may be one without which all is well; or one at which what stands there is wrong as well, or does not run:
        the attempt points to it with the fix and without it, or it is the only one that the value that differs depends
        on, which differs otherwise without it.
        """
        candidates = [one for one in self.fixed().applied if not tried.lines or self._reached(tried, one)]
        hinted = self._hinted(tried, candidates)[:_HINTED]
        for one in hinted:
            rest = self.without | {one.place}
            if self.tried(rest).holds:
                return one, ""
            if self._points_to(self.tried(rest), rest, one):
                return one, self.tried(rest).told
        some = [one for one in candidates if one not in hinted] + hinted
        found = self._halved(self.without, some)
        if found is not None:
            return found, ""
        moving = [one for one in some if self._moves(tried, self.without | {one.place})]
        return (moving[0], self.tried(self.without | {moving[0].place}).told) if len(moving) == 1 else None

    def _reached(self, tried: Attempt, one: AppliedFix) -> bool:
        return tried.reached(self.paths[one.place.path], one.line)

    def _hinted(self, tried: Attempt, some: list[AppliedFix]) -> list[AppliedFix]:
        """Those fixes of the statements that an attempt points to, in its order."""
        at: dict[tuple[str, int], list[AppliedFix]] = {}
        for one in some:
            path = self.paths[one.place.path]
            at.setdefault((path, tried.statement(path, one.line)), []).append(one)
        pointed = dict.fromkeys((path, tried.statement(path, line)) for path, line in tried.places)
        return [one for place in pointed for one in at.get(place, ())]

    def _moves(self, tried: Attempt, without: frozenset[Place]) -> bool:
        """Whether the value in which an attempt does not hold is another one without some fixes, and still wrong."""
        rest = self.tried(without)
        return not rest.holds and rest.ended and tried.value == rest.value != "" and rest.told != tried.told

    def _points_to(self, tried: Attempt, without: frozenset[Place], one: AppliedFix) -> bool:
        """Whether an attempt without a fix says that what it lacks is at that place."""
        if not tried.places:
            return False
        line = self.fixed(without).now[one.place][0]
        path, first = tried.places[0]
        return path == self.paths[one.place.path] and tried.statement(path, line) == tried.statement(path, first)

    def _halved(self, without: frozenset[Place], some: list[AppliedFix]) -> AppliedFix | None:
        """The fix of some because of which all but `without` do not hold, by leaving out half of them."""
        while len(some) > 1:
            half = some[: len(some) // 2], some[len(some) // 2 :]
            for left, kept in (half, half[::-1]):
                rest = without | {one.place for one in left}
                tried = self.tried(rest)
                if tried.holds:
                    some = left
                    break
                if tried.ended:
                    without, some = rest, kept
                    break
            else:
                return self._single(without, some)
        return self._single(without, some)

    def _single(self, without: frozenset[Place], some: list[AppliedFix]) -> AppliedFix | None:
        return next((one for one in some if self.tried(without | {one.place}).holds), None)
