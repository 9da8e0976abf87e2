"""A small network with one bug at a time: the rung and the step that see it, and the class of causes that is named.

Each pair is recorded on both Keras targets, in child interpreters; without a bug nothing may be said.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children
from .planted.bugs import BUGS, SOUND, TWO, Planted, options
from .planted.record_sides import record

pytestmark = [pytest.mark.tensorflow, pytest.mark.longest]

STEPS = 3
TARGETS = ("keras2", "keras3")
SEEDED = {
    f"{name}, seed {seed}": SOUND[name]._replace(seed=seed) for seed in range(20) for name in [list(SOUND)[seed % 2]]
}
"""The two styles of training in turn."""
NOISY = "bias before the norm"
PAIRS = {**BUGS, **TWO, **SOUND, **SEEDED}
ALL = [getattr(scenarios, name) for name in scenarios.__all__ if name != "CHECKPOINT"]
ONLY_TF1 = {scenarios.FINGERPRINT_NUDGED, scenarios.STEPS_NUDGED}
ONLY_TF2 = {scenarios.ONCE, scenarios.INFERENCE_COPIED}
SPARED = {
    scenarios.ONCE,
    scenarios.TRAINING,
    scenarios.TRAINING_CONSTANT,
    scenarios.STEPS_AGAIN,
    scenarios.FINGERPRINT_AGAIN,
}
"""What the TF2 side with a bug, or one of many seeds, is not put through, as it takes its time."""
SEEDLESS = {
    scenarios.CONSTANT,
    scenarios.FINGERPRINT,
    scenarios.FINGERPRINT_AGAIN,
    scenarios.FINGERPRINT_NUDGED,
}
"""What is the same for every seed."""

Reports = Callable[..., Report]


def cases(pairs: dict[str, Planted]) -> list[Any]:
    """Every pair on every target that it is for, the target first."""
    return [
        pytest.param(target, name, id=f"{target}-{name}")
        for target in TARGETS
        for name in pairs
        if target in pairs[name].targets
    ]


def variant(planted: Planted) -> str:
    """What the folder of the TF1 side is called, which pairs share."""
    return f"tf1 {planted.old} {planted.seed}"


def job(side: str, target: str, name: str, folder: Path) -> dict[str, Any]:
    """What a child records: a pair's TF2 side, or the TF1 side that pairs of one variant and seed share."""
    planted = PAIRS[name]
    old = folder / (variant(planted) + " alone" * (name in SEEDED))
    left_out = ONLY_TF2 if side == "tf1" else ONLY_TF1 | (set() if name in SOUND else SPARED)
    left_out = left_out | (SEEDLESS if name in SEEDED else set())
    return {
        "name": old.name if side == "tf1" else name,
        "side": side,
        "style": planted.style,
        "params": options(name if side == "tf2" and (name in BUGS or name in TWO) else "", planted),
        "seed": planted.seed,
        "steps": STEPS,
        "scenarios": [one for one in ALL if one not in left_out],
        "folder": str(old if side == "tf1" else folder / f"{target} {name}"),
        "tf1": str(old),
    }


@pytest.fixture(scope="module")
def reports(children: Children, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Compares a pair under a policy; each side is recorded when it is first asked for, that of TF1 beside Keras 2."""
    folder = tmp_path_factory.mktemp("planted")

    @cache
    def compared(target: str, name: str, policy: str = "noise") -> Report:
        one, other = (job(side, target, name, folder) for side in ("tf1", "tf2"))
        for keras, side in (("keras2", one), (target, other)):
            if not Path(side["folder"]).exists():
                children.call(keras, record, side)
        return compare(read(Path(one["folder"])), read(Path(other["folder"])), policy=policy, name=name)

    return compared


def seen(report: Report) -> tuple[str, int]:
    """The lowest rung that failed, and the earliest step that it failed in."""
    for rung in report.rungs:
        if rung.status is Status.FAIL:
            return rung.number, min((check.step for check in rung.failures), default=0)
    return "", 0


def complaints(report: Report) -> list[str]:
    """Whatever a report says against a pair."""
    failed = [f"{rung.number}: {rung.detail}" for rung in report.rungs if rung.status in (Status.FAIL, Status.VACUOUS)]
    told = [] if report.first_divergence is None else [report.first_divergence.text]
    return [*report.problems, *failed, *told, *(cause.kind for cause in report.causes)]


@pytest.mark.parametrize(("target", "name"), cases(dict(BUGS)))
def test_bug_is_seen(reports: Reports, target: str, name: str) -> None:
    """The comparison fails on the rung and at the step where the bug first has an effect."""
    report = reports(target, name)

    assert (BUGS[name].rung, BUGS[name].step) == seen(report), complaints(report)
    assert 1 == report.status


@pytest.mark.parametrize(("target", "name"), cases(dict(BUGS)))
def test_cause_is_named(reports: Reports, target: str, name: str) -> None:
    """The class of the bug is the first or the second cause."""
    causes = reports(target, name).causes

    assert BUGS[name].kind in [cause.kind for cause in causes[:2]], causes


@pytest.mark.parametrize(("target", "name"), cases(dict(TWO)))
def test_two_bugs_are_told_apart(reports: Reports, target: str, name: str) -> None:
    """With two bugs at once both classes are the first two causes."""
    report = reports(target, name)

    assert (TWO[name].rung, TWO[name].step) == seen(report), complaints(report)
    assert set(TWO[name].kind.split(" + ")) == {cause.kind for cause in report.causes[:2]}, report.causes


@pytest.mark.parametrize(("target", "name"), cases({**SOUND, **SEEDED}))
def test_nothing_is_said_without_a_bug(reports: Reports, target: str, name: str) -> None:
    """A pair without a bug is equal, whatever the seed, the optimizer and the way to train."""
    report = reports(target, name)

    assert [] == complaints(report)
    assert 0 == report.status


@pytest.mark.parametrize(("target", "name"), cases({name: SOUND[name] for name in SOUND if name != NOISY}))
def test_nothing_is_said_under_the_guides_policy(reports: Reports, target: str, name: str) -> None:
    """Nor with the tolerances of TensorFlow's guides."""
    report = reports(target, name, "guide")

    assert [] == complaints(report)
    assert 0 == report.status


@pytest.mark.parametrize(("target", "name"), cases({NOISY: SOUND[NOISY]}))
def test_noise_is_named_under_the_guides_policy(reports: Reports, target: str, name: str) -> None:
    """A program noisier than those tolerances fails them, and noise is named first."""
    report = reports(target, name, "guide")

    assert 1 == report.status
    assert "numerics" == report.causes[0].kind
