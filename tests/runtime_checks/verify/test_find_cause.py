"""The cause of the planted bugs, found by trying: the line of the TF2 program, and what to write there.

The attempts of a search run in the shared child of a target, with nothing recorded that a bug does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.results import Results, Trial
from migrate_lint.runtime_checks.comparison.rungs import reached
from migrate_lint.runtime_checks.comparison.trying.proposals import Proposal, proposals
from migrate_lint.runtime_checks.comparison.trying.search import Attempt, Effort, find
from migrate_lint.runtime_checks.planning import alone, plan
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children
from .planted.bugs import BUGS, SOUND, TWO, Planted, options
from .planted.record_sides import HERE, record

pytestmark = [pytest.mark.tensorflow, pytest.mark.longest]

NEW = (HERE / "new.py").read_text("utf-8").splitlines()


class Searcher:
    """Finds the cause of a pair's difference, as the command does, in a child that is there already."""

    def __init__(
        self, children: Children, folder: Path, target: str, name: str, planted: Planted, last: str = ""
    ) -> None:
        self._children = children
        self._folder = folder
        self._target = target
        self._name = name
        self._planted = planted
        self._begun = 0
        self._until = last or LAST[planted.rung]
        self._old = folder / f"tf1 {planted.old}"
        if not self._old.exists():
            self._children.call("keras2", record, self._job("tf1", self._old, everything(None)))

    def trial(self) -> tuple[Results, Trial]:
        """The comparison without a change, and what trying comes to."""
        base = self.run([[]], None)[0]
        old = read(self._old)

        def propose(attempt: Attempt) -> Sequence[Proposal]:
            assert attempt.report is not None
            assert attempt.recorded is not None
            return proposals(attempt.report, old, attempt.recorded)

        assert base.report is not None
        return base.report, find(base, propose, self.run, Effort(30, 1e9))

    def run(self, sets: Sequence[Sequence[Proposal]], rung: str | None) -> list[Attempt]:
        """An attempt for each set of changes."""
        return [self._attempt([one.mutation for one in found], rung) for found in sets]

    def _attempt(self, mutations: Sequence[Any], rung: str | None) -> Attempt:
        folder = self._folder / f"{self._target} {self._name} {self._begun}"
        self._begun += 1
        scenarios = everything(self._until) if rung is None else alone(rung, steps=3, seed=42).scenarios
        self._children.call(self._target, record, self._job("tf2", folder, scenarios) | {"mutations": mutations})
        recorded = read(folder)
        fields = {one["argument"]: one["value"] for one in mutations if one["what"] == "pair"}
        report = compare(read(self._old), recorded, until=rung or self._until, name=self._name, **fields)
        return Attempt(report, recorded, frozenset(recorded.content["applied"]))

    def _job(self, side: str, folder: Path, scenarios: Sequence[str]) -> dict[str, Any]:
        planted = self._planted
        name = self._name if side == "tf2" and planted.kind else ""
        program = {"style": planted.style, "params": options(name, planted)} if planted.style else {"kind": self._name}
        return program | {
            "name": self._name,
            "side": side,
            "seed": 42,
            "steps": 1 if self._until == "step" and side == "tf2" else 3,
            "scenarios": list(scenarios),
            "folder": str(folder),
            "tf1": str(self._old),
        }


LAST = {"": "steps", "2": "fingerprint", "3": "fingerprint", "3f": "fingerprint", "4": "random", "6": "step", "7": "steps"}
"""The rung up to which a pair is compared, by the one that sees the bug."""


def everything(last: str | None) -> tuple[str, ...]:
    """The scenarios of the rungs up to one, with what measures noise on the TF1 side only."""
    wanted = plan(last, noise=last is None, steps=3, seed=42).scenarios
    return tuple(one for one in wanted if one not in ("once", "checkpoint"))
