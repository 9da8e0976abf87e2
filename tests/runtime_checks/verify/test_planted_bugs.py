"""A small network with one bug at a time: the rung and the step that see it, and the class of causes that is named.

Each pair is recorded on both Keras targets, all pairs of a target in one child process; without a bug nothing may be
said. TensorFlow never enters the pytest process.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from .planted.bugs import BUGS, SOUND, TWO, Planted, options

pytestmark = pytest.mark.tensorflow

SCRIPT = Path(__file__).parent / "planted" / "record_sides.py"
SECONDS = 1200
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


def jobs(names: list[str], folder: Path) -> Iterator[dict[str, Any]]:
    """What the child records: each TF1 side once, before the first TF2 side that needs it."""
    begun = set()
    for name in names:
        planted = PAIRS[name]
        bug = name if name in BUGS or name in TWO else ""
        old = variant(planted)
        for side, at in (("tf1", old), ("tf2", name)):
            if at not in begun:
                begun.add(at)
                left_out = ONLY_TF2 if side == "tf1" else ONLY_TF1 | (set() if name in SOUND else SPARED)
                left_out = left_out | (SEEDLESS if name in SEEDED else set())
                yield {
                    "name": at,
                    "side": side,
                    "style": planted.style,
                    "params": options("" if side == "tf1" else bug, planted),
                    "seed": planted.seed,
                    "steps": STEPS,
                    "scenarios": [one for one in ALL if one not in left_out],
                    "folder": str(folder / at),
                    "tf1": str(folder / old),
                }


def shares(names: list[str]) -> list[list[str]]:
    """The names for each child: half the cores for a target, and pairs with one TF1 side together."""
    number = min(max(1, (os.cpu_count() or 1) // len(TARGETS)), len(names))
    ordered = sorted(names, key=lambda name: variant(PAIRS[name]))
    return [ordered[len(names) * part // number : len(names) * (part + 1) // number] for part in range(number)]


def record(target: str, names: list[str], folder: Path) -> None:
    """Record the pairs of a target."""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT)],
        input=json.dumps(list(jobs(names, folder))),
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_ENABLE_ONEDNN_OPTS": "0",
            "TF_NUM_INTRAOP_THREADS": "1",
            "TF_NUM_INTEROP_THREADS": "1",
            "TF_USE_LEGACY_KERAS": "1" if target == "keras2" and version("keras").startswith("3.") else "0",
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert 0 == ended.returncode, ended.stderr[-3000:]


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reports]:
    """Compares a recorded pair under a policy; the pairs that the selected tests name are recorded side by side."""
    for package in ("tensorflow", "keras"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    specs = (getattr(item, "callspec", None) for item in request.session.items if item.path == request.path)
    chosen: dict[str, dict[str, None]] = {target: {} for target in TARGETS}
    for spec in specs:
        if spec is not None:
            chosen[spec.params["target"]][spec.params["name"]] = None
    children: dict[tuple[str, str], tuple[Future[None], Path]] = {}

    if version("keras").startswith("2."):
        chosen["keras3"] = {}
    elif importlib.util.find_spec("tf_keras") is None:
        chosen["keras2"] = {}

    @cache
    def compared(target: str, name: str, policy: str = "noise") -> Report:
        if name not in chosen[target]:
            pytest.skip(f"the TensorFlow that is installed has no {target}")
        child, folder = children[target, name]
        child.result()
        return compare(read(folder / variant(PAIRS[name])), read(folder / name), policy=policy, name=name)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for target in TARGETS:
            for names in shares(list(chosen[target])):
                folder = tmp_path_factory.mktemp(target)
                child = pool.submit(record, target, names, folder)
                children |= {(target, name): (child, folder) for name in names}
        yield compared


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
