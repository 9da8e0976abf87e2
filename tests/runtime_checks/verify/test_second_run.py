"""A first run of both sides records what decides; where that differs, a second one records what explains it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.repeated import confirmed
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, run
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children
from .programs import CLEAN, changing, compared
from .workers import in_children

PAIRS = Path(__file__).parent / "second_runs.py"
TARGETS = (Target.KERAS2, Target.KERAS3)
OWN = "own.toml"


class Kind(NamedTuple):
    """A pair, as far as which rung it is verified and by which policy; the status, and the first rung that fails."""

    pair: str
    until: str
    policy: str
    status: int
    failed: str = ""


TWICE = {
    "inference": Kind("forward", "fingerprint", "noise", 1, "3"),
    "the first step, under the policy of the guide": Kind("first_step", "step", "guide", 1, "6"),
    "a later step": Kind("later_step", "steps", "noise", 1, "7"),
    "a setting alone": Kind("setting", "settings", "noise", 1, "7s"),
    "so little that only one policy minds": Kind("slightly", "fingerprint", "noise", 1, "3f"),
}
"""What differs."""
ONCE = {
    "equal": Kind("equal", "steps", "noise", 0),
    "equal as far as was asked": Kind("first_step", "random", "noise", 0),
    "equal under a policy of one's own": Kind("slightly", "fingerprint", OWN, 0),
    "nothing but zeros": Kind("nothing", "fingerprint", "noise", 3),
    "a side that raises": Kind("from_a_file", "random", "noise", 4),
    "sides that run themselves": Kind("themselves", "steps", "noise", 1, "6"),
}
"""What is equal, or shows nothing that a second run could explain."""


class Verified:
    """A pair's verification, and the jobs that its workers had; `heard` is told each of these before it is done."""

    def __init__(self, children: Children, folder: Path, heard: Callable[[int], object] | None = None) -> None:
        self._children = children
        self._folder = folder
        self._heard = heard
        self.jobs: list[dict[str, Any]] = []
        shutil.copy(PAIRS, folder)
        (folder / OWN).write_text('base = "noise"\n[[rule]]\nkind = "output"\nrtol = 1e-3\n')

    def report(self, kind: Kind, target: Target, **options: Any) -> Report:
        pair, output = f"{self._folder / PAIRS.name}:{kind.pair}", str(self._folder / "run")
        policy = str(self._folder / OWN) if kind.policy == OWN else kind.policy
        request = Request(pair, until=kind.until, policy=policy, target=target, output=output)
        with in_children(self._children, self._begin):
            return run(request, **options)

    @property
    def sides(self) -> list[str]:
        return [job["side"] for job in self.jobs]

    def _begin(self, job: dict[str, Any]) -> None:
        self.jobs.append(job)
        if self._heard is not None:
            self._heard(len(self.jobs))


def failed(report: Report) -> str:
    return next((rung.number for rung in report.rungs if rung.status is Status.FAIL), "")


def turn(table: dict[str, Kind], name: str) -> Target:
    """Each kind is run on one target, since neither Keras nor the kind is what decides."""
    return TARGETS[list(table).index(name) % 2]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", TWICE)
def test_what_differs_is_run_again(children: Children, tmp_path: Path, name: str) -> None:
    """Both sides, for what the first run left out; all of it is then in the recordings, and nothing is brief."""
    kind, verified = TWICE[name], Verified(children, tmp_path)
    report = verified.report(kind, turn(TWICE, name))
    recorded = [read(tmp_path / "run" / side) for side in ("tf1", "tf2")]
    brief, _, second, _ = verified.jobs
    everything = {*brief["scenarios"], *second["scenarios"]}

    assert (kind.status, kind.failed) == (report.status, failed(report)), report
    assert ["tf1", "tf2", "tf1", "tf2"] == verified.sides
    assert ([False, False, True, True], True) == ([job["operations"] for job in verified.jobs], second["keep"])
    assert not any(one.content["brief"] for one in recorded)
    assert ("fingerprint-nudged" in brief["scenarios"]) == (kind.policy == "noise")
    assert scenarios.FINGERPRINT_NUDGED in everything
    assert (scenarios.STEPS_AGAIN in everything) == (kind.policy == "noise" and scenarios.STEPS in brief["scenarios"])
    assert all("operation" in {record.kind for record in one.scenario("fingerprint").records} for one in recorded)
    values = [record.value for side in recorded for one in side.scenarios.values() for record in one.records]
    assert all(value is not None for value in values)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ONCE)
def test_what_does_not_differ_is_run_once(children: Children, tmp_path: Path, name: str) -> None:
    """So is what no second run would tell more of."""
    kind, verified = ONCE[name], Verified(children, tmp_path)
    report = verified.report(kind, turn(ONCE, name))

    assert (kind.status, kind.failed) == (report.status, failed(report)), report
    assert ["tf1", "tf2"] == verified.sides
    assert not any("run both sides again" in note for rung in report.rungs for note in rung.notes)
    for side in ("tf1", "tf2"):
        recorded = read(tmp_path / "run" / side)
        assert recorded.scenario(scenarios.STEPS_AGAIN).outcome == "not run"
        assert not any(record.kind == "operation" for one in recorded.scenarios.values() for record in one.records)


@pytest.mark.tensorflow
def test_who_runs_the_pair_again_records_everything_at_once(children: Children, tmp_path: Path) -> None:
    """As the search for a cause does."""
    verified = Verified(children, tmp_path)
    report = verified.report(TWICE["inference"], Target.KERAS2, then=lambda report, again: report)

    assert (1, ["tf1", "tf2"]) == (report.status, verified.sides)
    assert all(job["operations"] for job in verified.jobs)


@pytest.mark.tensorflow
@pytest.mark.parametrize(("later", "status"), [("", 4), ("0.1", 3), ("0.3", 1)])
def test_a_side_that_is_another_one_in_the_second_run_is_not_equal(
    children: Children, tmp_path: Path, later: str, status: int
) -> None:
    """It raises, agrees, or differs in another way: each is said, and what the first run saw counts."""
    rate = tmp_path / "rate.txt"
    rate.write_text("0.2")
    verified = Verified(children, tmp_path, lambda count: rate.write_text(later) if count == 4 else None)
    report = verified.report(Kind("from_a_file", "steps", "noise", 1), Target.KERAS3)
    said = " ".join([*report.problems, *(side.cause or "" for side in report.sides)])

    assert (4, status) == (len(verified.jobs), report.status)
    assert (status == 4) == ("could not convert string to float" in said)
    assert (status == 3) == ("a first run differed on rung 6, one training step (" in said)


def test_a_difference_that_is_gone_is_not_forgotten(tmp_path: Path) -> None:
    """Of a value, in one rung or in several, and of what is no number."""
    equal = compared(tmp_path / "equal")
    for name, other in {
        "all": replace(CLEAN, scale=1.01),
        "a gradient": replace(CLEAN, change=changing("gradient", lambda value: value * 1.1, step=0)),
        "a late loss": replace(CLEAN, change=changing("loss", lambda value: value * 1.1, step=2)),
        "no number": replace(CLEAN, change=changing("output", lambda value: value * np.nan, scenarios.FINGERPRINT)),
        "a variable that lacks": replace(CLEAN, leave_out=("top/bias",)),
    }.items():
        first = compared(tmp_path / name, tf2=other)
        report = confirmed(first, equal)

        assert (1, 0, 3) == (first.status, equal.status, report.status), name
        assert f"a first run differed on rung {failed(first)}, " in report.problems[0]


def test_what_is_known_to_be_noise_by_then_is_equal(tmp_path: Path) -> None:
    """The same values, with a bound that they fail and with one that they pass."""
    policies = {rtol: tmp_path / f"{rtol}.toml" for rtol in (1e-3, 0.1)}
    for rtol, path in policies.items():
        path.write_text(f'base = "noise"\n[[rule]]\nkind = "loss"\nrtol = {rtol}\n')
    other = replace(CLEAN, change=changing("loss", lambda value: value * 1.01, step=2))
    first, second = (compared(tmp_path / path.stem, tf2=other, policy=str(path)) for path in policies.values())

    assert (1, 0) == (first.status, second.status), first
    assert second is confirmed(first, second)


def test_a_second_report_that_is_not_equal_stays_as_it_is(tmp_path: Path) -> None:
    """It has a difference of its own."""
    first, second = (compared(tmp_path / str(scale), tf2=replace(CLEAN, scale=scale)) for scale in (1.01, 1.1))

    assert second is confirmed(first, second)
