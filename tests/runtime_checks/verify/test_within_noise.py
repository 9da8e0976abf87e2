"""What a policy does not allow and the sides' own noise explains: rungs, headline, place and causes say the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.comparison.climb import WITHIN_NOISE
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.comparison.wording import verdict
from migrate_lint.runtime_checks.worker.recording.format import scenarios

from .programs import CLEAN, Program, compared

KINDS = pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("gradient", "hidden/bias"),
        ("gradient", "hidden/kernel"),
        ("loss", "loss"),
        ("output", "output"),
        ("variable", "stats/moving_mean"),
    ],
)
Change = Callable[[str, dict[str, Any]], Any]


def moved(scenario: str, kind: str, name: str, by: float) -> Change:
    """Changes one value of the second step of training."""

    def change(where: str, record: dict[str, Any]) -> dict[str, Any]:
        if (where, record["kind"], record["name"], record["step"]) == (scenario, kind, name, 1):
            return {**record, "value": record["value"] + type(record["value"].flat[0])(by)}
        return record

    return change


def noisy(folder: Path, kind: str, name: str, policy: str, **faults: Any) -> Report:
    """A pair in which moving the values changes one by 0.002, and the sides differ in it by 0.001."""
    tf1 = Program(change=moved(scenarios.STEPS_NUDGED, kind, name, 0.002))
    tf2 = replace(CLEAN, change=moved(scenarios.STEPS, kind, name, 0.001), **faults)
    return compared(folder, tf1=tf1, tf2=tf2, policy=policy)


@KINDS
def test_a_difference_within_the_noise_is_told_as_that_everywhere(tmp_path: Path, kind: str, name: str):
    """Policy guide does not allow it; the headline and the only cause are the noise."""
    report = noisy(tmp_path, kind, name, "guide")
    failed = [rung for rung in report.rungs if rung.status is Status.FAIL]

    assert 1 == report.status
    assert failed and all(WITHIN_NOISE in rung.notes for rung in failed)
    assert report.first_divergence is not None and report.first_divergence.noise
    assert "which policy noise would tolerate" in verdict(report)
    assert {"numerics"} == {cause.kind for cause in report.causes}


@KINDS
def test_policy_noise_tolerates_it(tmp_path: Path, kind: str, name: str):
    """As the headline of the other policy says."""
    assert 0 == noisy(tmp_path, kind, name, "noise").status


@KINDS
def test_what_is_beyond_the_noise_comes_first(tmp_path: Path, kind: str, name: str):
    """The moving mean has another decay from the first step on, or what follows from it is looked at."""
    report = noisy(tmp_path, kind, name, "guide", decay=0.8)
    first = report.first_divergence

    assert first is not None and not first.noise
    assert "stats/moving_mean" == first.deviation.tf1_name
    assert "which policy noise would tolerate" not in verdict(report)


@pytest.mark.parametrize("policy", ["noise", "guide"])
def test_a_sign_that_moved_values_change_is_no_noise(tmp_path: Path, policy: str):
    """Grappler loses the minus of a loss in some sessions: another loss still differs."""

    def turned(where: str, record: dict[str, Any]) -> dict[str, Any]:
        again = where in (scenarios.STEPS_NUDGED, scenarios.STEPS_AGAIN)
        return {**record, "value": -record["value"]} if again and record["kind"] == "loss" else record

    def other(where: str, record: dict[str, Any]) -> dict[str, Any]:
        value = record["value"] * type(record["value"].flat[0])(1.5)
        return {**record, "value": value} if where == scenarios.STEPS and record["kind"] == "loss" else record

    unlike, same = (
        compared(tmp_path / name, tf1=Program(change=turned), tf2=replace(CLEAN, change=change), policy=policy)
        for name, change in (("unlike", other), ("same", CLEAN.change))
    )

    assert {"loss"} == {check.kind for check in unlike.rung("step").failures}
    assert Status.PASS is same.rung("step").status
