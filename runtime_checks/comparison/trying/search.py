"""The search for the changes that take a difference away: the likeliest first, alone and then together.

A change is kept that moves the first divergence later, or makes it smaller; what the comparison then says is what the
next one is chosen by. When everything agrees, every change is left out once: what was not needed goes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ...worker.recording.format.reading import Recorded
from ..results import Results, Rung, Status, Trial, Tried
from .proposals import Proposal, changes_of

__all__ = ["Attempt", "Effort", "amounts", "closer", "find", "marked"]

_FIRST, _WAVE = 3, 6
"""Attempts that are run at once: they share a process that imports TensorFlow."""
_MOST = 5
"""Changes that are put together."""
_REVISED = 2
"""How often another value may take the place of one that was found, as seen later."""
_STRONG = 0.5
"""The share of the first difference that has to go for a change to be kept before all others are tried."""
_PATIENCE = 12
"""Attempts after the best so far until it is kept: what else differs is then looked for on top of it."""
_LATER = 0.2
"""The share that is enough where what differs first agrees with the change."""
_LEAST = 0.07
"""Shares below which two differences are alike."""
_NONE, _WORSE = "no change", "worse"
"""Effects of changes that do not help."""
_MISSING = 14.0
"""What a value counts that cannot be compared: more than any number."""


@dataclass(frozen=True)
class Attempt:
    """A run of the TF2 side with changes, compared; ``report`` is None, and ``why`` says so, where it cannot be.

    ``applied`` are the positions of the changes that the program came to; ``discard`` removes what it recorded.
    """

    report: Results | None
    recorded: Recorded | None
    applied: frozenset[int] = frozenset()
    why: str = ""
    discard: Callable[[], object] = lambda: None

    @property
    def ended(self) -> str:
        """Why its TF2 side ended early; empty where it did not."""
        sides = () if self.report is None else self.report.sides
        return next((str(side.cause) for side in sides if side.cause), "")


Run = Callable[[Sequence[Sequence[Proposal]], str | None], list[Attempt]]
"""Runs the TF2 side once with each of these, as far as a rung or, for None, as it was asked for."""


@dataclass
class Effort:
    """How many runs, and seconds, a search may take; and what it has taken."""

    runs: int
    seconds: float
    clock: Callable[[], float] = time.monotonic
    used: int = 0
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return self.clock() - self.began

    @property
    def room(self) -> int:
        """Runs that are left; none when the time is over."""
        return max(0, self.runs - self.used) if self.spent < self.seconds else 0

    def wave(self, most: int) -> int:
        """How many runs to begin at once: no more than there is time for, by what the others took, and at least one."""
        if not self.used or not self.room:
            return min(most, self.room)
        return max(1, min(most, self.room, int((self.seconds - self.spent) * self.used / max(self.spent, 1e-3))))

    def over(self) -> str:
        """In words, what is used up; empty where nothing is."""
        if self.room:
            return ""
        return f"{self.runs} runs are used up" if self.used >= self.runs else f"{self.seconds:g} s are used up"


def find(base: Attempt, propose: Callable[[Attempt], Sequence[Proposal]], run: Run, effort: Effort) -> Trial:
    """Search for the changes with which everything agrees.

    Args:
        base: the comparison without a change.
        propose: what to try on top of an attempt, the likeliest first.
        run: runs the TF2 side again.
        effort: counts the runs.
    """
    if base.report is None or base.report.status != 1:
        status = 4 if base.report is None else base.report.status
        if status == 0:
            return Trial("none needed")
        return Trial("not tried", left="only a pair that was compared and differs has a cause that can be tried")
    search = _Search(propose, run, effort)
    trial = search.all(base)
    return replace(trial, runs=effort.used, seconds=round(effort.spent, 1), tried=tuple(search.tried))


class _Search:
    def __init__(self, propose: Callable[[Attempt], Sequence[Proposal]], run: Run, effort: Effort) -> None:
        self.tried: list[Tried] = []
        self._propose = propose
        self._run = run
        self._effort = effort

    def all(self, base: Attempt) -> Trial:
        """Add one change after the other."""
        found: list[Proposal] = []
        current = base
        for _ in range(_MOST + _REVISED):
            best = self._one(current, found)
            if best is None:
                break
            found = _with(found, best[0])
            current.discard()
            rung, current = _failed(current), best[1]
            if amounts(current, rung) == {} and self._effort.room:
                current.discard()
                current = self._again([found], None)[0]  # everything that was asked for
                if current.report is not None and current.report.status == 0:
                    return Trial("found", changes_of(self._needed(found)))
            if not _failed(current):
                break
        left = self._effort.over() or "none of the changes that are known here helps any further"
        if not found:
            return Trial("not found", left=left)
        rung = _failed(current) if current.report is not None else ""
        left += f"; rung {_number(current, rung)} still fails" if rung else ""
        return Trial("closer", changes_of(found), left=left)

    def _one(self, current: Attempt, found: Sequence[Proposal]) -> tuple[Proposal, Attempt] | None:
        """The change that helps most on top of others: the first good enough, or that nothing soon surpasses."""
        rung = _failed(current)
        taken = {one.key for one in found}
        waiting = [one for one in self._propose(current) if one.key not in taken]
        best: tuple[Proposal, Attempt] | None = None
        begun, since = len(self.tried), 0
        while waiting and self._effort.room:
            count = self._effort.wave(_WAVE if self.tried[begun:] else _FIRST)
            wave, waiting = waiting[:count], waiting[count:]
            sets = [_with(found, one) for one in wave]
            attempts = self._again(sets, rung)
            since += len(sets)
            for one, tried, attempt in zip(wave, sets, attempts, strict=True):
                at = len(tried) - 1
                self.tried.append(Tried(one.change, _effect(current, attempt, rung, at)))
                known = best[1] if best else current
                if at in attempt.applied and closer(amounts(attempt, rung), amounts(known, rung)) > 0:
                    if best:
                        best[1].discard()
                    best, since = (one, attempt), 0
                else:
                    attempt.discard()
            if best and (since >= _PATIENCE or self._enough(best[1], current, rung)):
                break
        return best

    @staticmethod
    def _enough(attempt: Attempt, current: Attempt, rung: str) -> bool:
        """Whether a change is kept before all others are tried: half of the difference is gone, or it begins later."""
        share = closer(amounts(attempt, rung), amounts(current, rung))
        return share >= _STRONG or (share >= _LATER and _beginning(attempt, rung) > _beginning(current, rung))

    def _needed(self, found: list[Proposal]) -> list[Proposal]:
        """Leave out what everything agrees without."""
        at = 0
        while len(found) > 1 and at < len(found) and self._effort.room:
            others = found[:at] + found[at + 1 :]
            (attempt,) = self._again([others], None)
            attempt.discard()
            if attempt.report is not None and attempt.report.status == 0:
                found = others
            else:
                at += 1
        return found

    def _again(self, sets: Sequence[Sequence[Proposal]], rung: str | None) -> list[Attempt]:
        self._effort.used += len(sets)
        return self._run(sets, rung)


def _with(found: Sequence[Proposal], one: Proposal) -> list[Proposal]:
    """Changes with one more at the end, in the place of what was found for the same thing."""
    return [*(other for other in found if other.subject != one.subject), one]


def _failed(attempt: Attempt) -> str:
    """The name of the first rung that failed; empty where none did."""
    rungs: Iterable[Rung] = () if attempt.report is None else attempt.report.rungs
    return next((rung.name for rung in rungs if rung.status is Status.FAIL), "")


def _number(attempt: Attempt, name: str) -> str:
    return "" if attempt.report is None else attempt.report.rung(name).number


def amounts(attempt: Attempt, rung: str) -> dict[int, float] | None:
    """How much differs on a rung at each step, on a scale of logarithms: empty where it passed, None if it was not run.

    A value that fails counts one, and one more for each power of ten by which it exceeds its tolerance.
    """
    if attempt.report is None:
        return None
    try:
        found = attempt.report.rung(rung)
    except KeyError:
        return None
    if found.status is Status.PASS:
        return {}
    if found.status is not Status.FAIL:
        return None
    if not found.failures:
        return {0: 1.0 + _MISSING * sum(bool(row.problem) for row in attempt.report.variables)}
    totals: dict[int, float] = {}
    for check in found.failures:
        excess = check.excess
        counted = _MISSING if check.problem or not excess < math.inf else 1.0 + min(math.log10(max(excess, 1.0)), 12.0)
        totals[check.step] = totals.get(check.step, 0.0) + counted
    return totals


def _beginning(attempt: Attempt, rung: str) -> int:
    """How many values of a rung agree, in the order of execution, before one does not."""
    checks = () if attempt.report is None else attempt.report.rung(rung).checks
    return next((at for at, check in enumerate(checks) if check.counts and not check.passed), len(checks))


def closer(now: dict[int, float] | None, before: dict[int, float] | None) -> float:
    """The share of the first difference that went away; negative where it grew, and 0 where both are alike."""
    if now is None or before is None:
        return 0.0 if now is before else -math.inf if now is None else math.inf
    for step in sorted({*now, *before}):
        one, other = now.get(step, 0.0), before.get(step, 0.0)
        share = (other - one) / max(one, other)
        if abs(share) > _LEAST:
            return share
    return 0.0


def _effect(current: Attempt, attempt: Attempt, rung: str, at: int) -> str:
    if attempt.report is None:
        return f"it could not be run: {attempt.why}"
    if attempt.ended:
        return f"the program ended early: {attempt.ended}"
    if at not in attempt.applied:
        return "nothing: the program does not come there"
    now = amounts(attempt, rung)
    number = _number(current, rung)
    if now is None:
        return f"rung {number} could not be compared any more"
    share = closer(now, amounts(current, rung))
    if not now:
        return f"rung {number} agrees"
    if share > 0:
        return f"rung {number} is closer"
    return _WORSE if share < 0 else _NONE


def marked(report: Results, trial: Trial) -> Results:
    """The report with what was found, and with its causes marked by it.

    Where everything agrees without a change of its kind, a cause is refuted. That no change of its kind helped tells
    nothing of those that nobody tried.
    """
    kinds = {change.kind for change in trial.changes}
    refuted = "refuted" if trial.outcome == "found" else ""
    causes = tuple(replace(one, tried="found" if one.kind in kinds else refuted) for one in report.causes)
    return replace(report, trial=trial, causes=causes)
