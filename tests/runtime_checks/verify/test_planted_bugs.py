"""A small network with one bug at a time: the rung and the step that see it, and the class of causes that is named.

Each pair is recorded on both Keras targets, in child interpreters; without a bug nothing may be said.
"""

from __future__ import annotations

import ast
import shutil
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
    f"{name}, seed {seed}": SOUND[name]._replace(seed=seed, targets=(TARGETS[seed // 2 % 2],))
    for seed in range(8)
    for name in [list(SOUND)[seed % 2]]
}
"""The two styles of training in turn, and both targets."""
NOISY = "bias before the norm"
PAIRS = {**BUGS, **TWO, **SOUND, **SEEDED}
ALL = [
    getattr(scenarios, name)
    for name in scenarios.__all__
    if name not in ("CHECKPOINT", "STEPS_FORCED") and not name.startswith("FLOAT64")
]
ONLY_TF1 = {scenarios.FINGERPRINT_NUDGED, scenarios.STEPS_NUDGED, scenarios.EVALUATED_NUDGED}
ONLY_TF2 = {scenarios.ONCE, scenarios.INFERENCE_COPIED}
SPARED = {
    scenarios.ONCE,
    scenarios.TRAINING,
    scenarios.TRAINING_CONSTANT,
    scenarios.STEPS_AGAIN,
    scenarios.FINGERPRINT_AGAIN,
    scenarios.EVALUATED,
}
"""What the TF2 side with a bug, or one of many seeds, is not put through, as it takes its time."""
UNSHARED = {scenarios.TRAINING, scenarios.TRAINING_CONSTANT, scenarios.EVALUATED, scenarios.EVALUATED_NUDGED}
"""What therefore the TF1 side of a seed is not put through either."""
SEEDLESS = {
    scenarios.CONSTANT,
    scenarios.FINGERPRINT,
    scenarios.FINGERPRINT_AGAIN,
    scenarios.FINGERPRINT_NUDGED,
}
"""What is the same for every seed."""

OF_VARIABLES = {"missing variable", "extra variable", "renamed variable", "swapped weights"}
"""What these are about cannot be told from other names."""
SCOPES = ("conv", "norm", "conv_2", "hidden", "left", "right", "logits")
RENAMES = {f"{number}_{scope}/": f"{scope}/" for number, scope in enumerate(SCOPES)}

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
    if name in SEEDED:
        left_out = left_out | SEEDLESS | UNSHARED
    elif side == "tf2" and name not in SOUND:
        left_out = left_out | {scenarios.STEPS_OTHER}  # sound pairs show what another mode computes, and its noise
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
    def compared(target: str, name: str, policy: str = "noise", renamed: bool = False, renames: Any = ()) -> Report:
        one, other = (job(side, target, name, folder) for side in ("tf1", "tf2"))
        for keras, side in (("keras2", one), (target, other)):
            if not Path(side["folder"]).exists():
                children.call(keras, record, side)
        old = with_other_names(Path(one["folder"])) if renamed else Path(one["folder"])
        return compare(
            read(old), read(Path(other["folder"])), policy=policy, name=name, renames=dict(renames) or None
        )

    return compared


def with_other_names(recorded: Path) -> Path:
    """A copy of a recording of TF1 in which each scope, and the endpoint of it, is called otherwise."""
    copy = recorded.with_name(f"{recorded.name}, other names")
    if not copy.exists():
        shutil.copytree(recorded, copy)
        for file in copy.rglob("*.json"):
            text = file.read_text("utf-8")
            for scope, other in RENAMES.items():
                text = text.replace(f'"{other}', f'"{scope}').replace(f'"{other[:-1]}"', f'"{scope[:-1]}"')
            file.write_text(text, "utf-8")
    return copy


def seen(report: Report) -> tuple[str, int]:
    """The lowest rung that failed, and the earliest step that it failed in."""
    for rung in report.rungs:
        if rung.status is Status.FAIL:
            return rung.number, min((check.step for check in rung.failures), default=0)
    return "", 0


def failures(report: Report) -> list[Any]:
    """What failed, on which rung and at which steps; other names aside."""
    rungs = [rung for rung in report.rungs if rung.number != "2"]
    return [(rung.number, rung.status, [check.step for check in rung.failures]) for rung in rungs]


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


@pytest.mark.parametrize(("target", "name"), cases({name: BUGS[name] for name in BUGS if name not in OF_VARIABLES}))
def test_other_names_take_nothing_away(reports: Reports, target: str, name: str) -> None:
    """Where shapes and order pair all variables, the same is seen and named as with equal names, and the names last."""
    report, renamed = reports(target, name), reports(target, name, renamed=True)
    *causes, last = renamed.causes

    assert failures(report) == failures(renamed)
    assert "names" == last.kind
    assert [(cause.kind, cause.weight) for cause in report.causes] == [(cause.kind, cause.weight) for cause in causes]


@pytest.mark.parametrize(("target", "name"), cases(dict(SOUND)))
def test_the_renames_that_are_suggested_make_a_sound_pair_equal(reports: Reports, target: str, name: str) -> None:
    """As they are printed; without them names are all that is wrong."""
    renamed = reports(target, name, renamed=True)
    said = next(note for note in renamed.rung("variables").notes if "renames=" in note)
    pasted = ast.literal_eval(said.partition("renames=")[2])

    assert ["2"] == [rung.number for rung in renamed.rungs if rung.status is Status.FAIL]
    assert ["names"] == [cause.kind for cause in renamed.causes]
    assert [] == complaints(reports(target, name, renamed=True, renames=tuple(pasted.items())))


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


LINES = {
    "Adam epsilon": "keras.optimizers.Adam(",
    "batch norm epsilon": "norm(",
    "other activation": '"other activation" in bug',
    "batch norm momentum": "norm(",
    "update ops not run": "norm(",
    "frozen statistics": "def call(self, inputs, training=None)",
    "variance of n and not n - 1": "norm(",
    "regularization dropped": "tape.gradient(",
    "regularization doubled": '"regularization doubled" in params',
    "missing regularizer": "make.Dense(CLASSES",
    "schedule off by one": "def __call__(self, step)",
    "momentum under a decaying rate": "keras.optimizers.SGD(",
    "loss summed": '"loss summed" in params',
    "transposed kernel": "transpose_b=True",
    "keep_prob as rate": "make.Dropout(",
    "other initializer": "make.Conv2D(",
    "no training flag": '"no training flag" in params',
    "flag not passed on": "layer(x, training=training)",
    "extra random op": "tf.random.uniform(",
    "clipping left out": "apply_gradients(",
}
"""What stands on the line of TF2 to look at: the wrong one, or where something lacks, the one that lacks it."""


@pytest.mark.parametrize(("target", "name"), cases({name: BUGS[name] for name in LINES}))
def test_the_line_to_look_at_is_named(reports: Reports, target: str, name: str) -> None:
    """By the likeliest cause, with the text of it in the report."""
    report = reports(target, name)
    place = report.causes[0].tf2_place
    assert place is not None, report.causes
    shown = next(one for one in report.excerpts if (one.side, one.path, one.line) == ("tf2", *place))

    assert LINES[name] in shown.lines[shown.line - shown.first]
