"""The TF2 side run again and again, with known differences changed: to find a cause, or to see what would be caught."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from . import planning, verifying

if TYPE_CHECKING:
    from .comparison.report import Report
    from .comparison.results import Planted
    from .comparison.trying.proposals import Proposal
    from .comparison.trying.search import Attempt, Effort
    from .verifying import Again
    from .worker.recording.format.plan import Plan

__all__ = ["RUNS", "SECONDS", "find_cause", "seed_bugs"]

RUNS = 30
SECONDS = 1800.0
_WAVE = 3
_LONGER = (8, 20)
"""Numbers of steps that are tried where a planted bug was not caught."""


def find_cause(report: Report, again: Again, *, runs: int = RUNS, seconds: float = SECONDS) -> Report:
    """Search for the changes of the TF2 program with which everything agrees.

    Args:
        report: of the pair as it is.
        again: runs its TF2 side.
        runs: of the TF2 side, at most.
        seconds: for all of them.
    """
    from .comparison.trying import search
    from .comparison.trying.proposals import proposals
    from .worker.recording.format.reading import read

    effort = search.Effort(runs, seconds)
    if report.status != 1:  # a side may have left no recording that could be read
        trial = search.find(search.Attempt(report, None), lambda attempt: (), lambda sets, rung: [], effort)
        return cast("Report", search.marked(report, trial))
    first, second = (read(folder) for folder in again.folders)
    runner = _Runner(again, effort)

    def propose(attempt: Attempt) -> Sequence[Proposal]:
        if attempt.report is None or attempt.recorded is None:
            return ()
        return proposals(attempt.report, first, attempt.recorded, report.causes)

    trial = search.find(search.Attempt(report, second), propose, runner.run, effort)
    return cast("Report", search.marked(report, trial))


def seed_bugs(report: Report, again: Again, *, runs: int = RUNS, seconds: float = SECONDS) -> Report:
    """Plant bugs into the TF2 side of a pair that is equal, one at a time, and see which of them are caught.

    Args:
        report: of the pair as it is; one that is not equal is given back.
        again: runs its TF2 side.
        runs: of the TF2 side, at most.
        seconds: for all of them.
    """
    from .comparison.results import SelfTest
    from .comparison.trying import plants, search
    from .worker.recording.format.reading import read

    if not report.equal:
        why = "bugs are planted only into a pair that was compared and is equal"
        return replace(report, self_test=SelfTest((), again.plan.steps, not_planted=(why,)))
    effort = search.Effort(runs, seconds)
    every, without = plants.plants(report, read(again.folders[1]))
    found: dict[str, Planted] = {}
    waiting = list(every)
    left: list[str] = []
    for steps in (again.plan.steps, *(one for one in _LONGER if one > again.plan.steps and _trains(again.plan))):
        longer = again if steps == again.plan.steps else again.longer(steps)
        runner = _Runner(longer, effort)
        if longer is not again:
            effort.used += 1
            (plain,) = runner.run([[]], None)
            plain.discard()
            if plain.report is None or not plain.report.equal:
                left.append(f"more bugs with --steps {steps}: the pair itself is not equal then, or cannot be compared")
                break
        waiting = _planted(waiting, runner, effort, steps, found, left)
        if not waiting:
            break
        if over := effort.over():
            missed = sum(one.key in found for one in waiting)
            if missed and _trains(again.plan) and steps < _LONGER[-1]:
                left.append(f"{missed} of those that were not caught, with more steps: {over}")
            break
    left += [f"{one.change.text}: {effort.over()}" for one in waiting if one.key not in found]
    if without:
        left.append(f"{len(without)} kinds that this program has no place for: {', '.join(without)}")
    listed = tuple(found[one.key] for one in every if one.key in found)
    test = SelfTest(listed, again.plan.steps, effort.used, round(effort.spent, 1), tuple(dict.fromkeys(left)))
    return replace(report, self_test=test)


def _trains(plan: Plan) -> bool:
    return "steps" in plan.scenarios and plan.steps > 1


def _planted(
    waiting: Sequence[Proposal],
    runner: _Runner,
    effort: Effort,
    steps: int,
    found: dict[str, Planted],
    left: list[str],
) -> list[Proposal]:
    """Try bugs until none is left or no run is; gives back those that were not caught."""
    from .comparison.trying import plants

    missed: list[Proposal] = []
    rest = list(waiting)
    while rest and effort.room:
        count = effort.wave(_WAVE)
        wave, rest = rest[:count], rest[count:]
        effort.used += len(wave)
        for one, attempt in zip(wave, runner.run([[one] for one in wave], None), strict=True):
            said = plants.caught(one, attempt, steps)
            attempt.discard()
            if isinstance(said, str):
                left.append(f"{one.change.text}: {said}")
                continue
            found[one.key] = said
            if not said.rung:
                missed.append(one)
    return missed + rest


class _Runner:
    """Runs the TF2 side with sets of changes, and compares."""

    def __init__(self, again: Again, effort: Effort) -> None:
        self._again = again
        self._effort = effort

    def run(self, sets: Sequence[Sequence[Proposal]], rung: str | None) -> list[Attempt]:
        """An attempt for each set."""
        plan = self._plan(rung)
        attempts = [[one.mutation for one in found] for found in sets]
        folders = self._again.record(plan, attempts, max(self._effort.seconds - self._effort.spent, 1.0))
        return [
            replace(self._compared(folder, rung), discard=partial(shutil.rmtree, folder, ignore_errors=True))
            for folder in folders
        ]

    def _plan(self, rung: str | None) -> Plan:
        """Everything, or what one rung compares, without the runs that measure noise."""
        asked = self._again.plan
        if rung is None:
            return asked
        needed = planning.alone(rung, steps=asked.steps, seed=asked.seed)
        return needed._replace(scenarios=tuple(one for one in needed.scenarios if one in asked.scenarios))

    def _compared(self, folder: str, rung: str | None) -> Attempt:
        from .comparison.trying.search import Attempt
        from .worker.recording.format.reading import RecordingError, read

        request = self._again.request
        if not os.listdir(folder):
            return Attempt(None, None, why="an attempt before it took all the time that was left")
        try:
            recorded = read(folder)
            pair = recorded.content.get("pair") or {}
            report = verifying.compare(
                self._again.folders[0],
                folder,
                policy=request.policy,
                until=rung or request.until,
                findings=self._again.findings,
                **{key: pair[key] for key in ("renames", "transposes", "reshapes", "ignore") if key in pair},
            )
        except (RecordingError, verifying.VerifyUsageError) as error:
            return Attempt(None, None, why=str(error))
        applied = recorded.content.get("applied") or ()
        return Attempt(report, recorded, frozenset(one for one in applied if isinstance(one, int)))


