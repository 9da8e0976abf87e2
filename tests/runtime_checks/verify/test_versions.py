"""What the versions of TensorFlow differ by is no failure of the migration, and the report says which is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks import verifying
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.wording import verdict

from ...interpreters import Children
from .programs import Program, changing, failing, record

OLD, NEW = Program(side="tf1"), Program(side="tf2", rounding=1)
VERSIONS = {
    "a layer computes something else": {"scale": 1.001},
    "an optimizer has another epsilon": {"epsilon": 1e-5},
    "statistics move faster": {"decay": 0.91},
    "regularization weighs more": {"l2": 2e-3},
    "a gradient is another one": {"change": changing("gradient", lambda value: value * np.float32(1.01))},
    "the loss is another one": {"change": changing("loss", lambda value: value * np.float32(1.01))},
}
"""What the old TensorFlow does otherwise."""
BUGS: dict[str, dict[str, Any]] = {
    "forward": {"scale": 0.99},
    "momentum": {"decay": 0.8},
    "rate": {"rate": lambda step: 0.02 / (1 + step)},
    "swapped": {"swapped": True},
    "epsilon": {"epsilon": 1e-3},
}
DIFFER = "of the same program differ"


def verified(folder: Path, old: Program, today: Program | None, new: Program, policy: str = "noise") -> Report:
    """The report of a run's folder with three recordings, or two."""
    (folder / "run.json").write_text("{}")
    for place, program in (("tf1", old), ("tf1-today", today), ("tf2", new)):
        if program is not None:
            record(program, folder / place)
    return verifying.compare(folder, policy=policy)


@pytest.mark.parametrize("kind", VERSIONS)
def test_what_only_the_old_version_does_is_told_as_the_versions(tmp_path: Path, kind: str) -> None:
    """The migration is equal; without the third recording it would not be."""
    old = replace(OLD, **VERSIONS[kind])
    report = verified(tmp_path, old, OLD, NEW)

    assert 1 == verifying.compare(tmp_path / "tf1", tmp_path / "tf2").status
    assert (0, ()) == (report.status, report.causes)
    assert DIFFER in verdict(report)
    assert any("the version's, not the migration's" in note for rung in report.rungs for note in rung.notes)


@pytest.mark.parametrize("kind", BUGS)
def test_a_bug_of_the_migration_stays_one_beside_what_the_versions_differ_by(tmp_path: Path, kind: str) -> None:
    """It fails the rungs that it fails where the versions agree."""
    new = replace(NEW, **BUGS[kind])
    report = verified(tmp_path, replace(OLD, scale=1.001), OLD, new)
    (tmp_path / "alone").mkdir()
    alone = verified(tmp_path / "alone", OLD, None, new)

    assert (1, failing(alone)) == (report.status, failing(report))
    assert [cause.kind for cause in alone.causes] == [cause.kind for cause in report.causes]
    assert DIFFER in verdict(report)


@pytest.mark.parametrize("kind", BUGS)
def test_where_the_versions_agree_all_is_the_migrations(tmp_path: Path, kind: str) -> None:
    """And that is said."""
    report = verified(tmp_path, OLD, replace(OLD, rounding=1), replace(NEW, **BUGS[kind]))

    assert 1 == report.status
    assert "the same program agrees" in verdict(report)


def without(names: Sequence[str]) -> Program:
    return replace(OLD, leave_out=tuple(names))


@pytest.mark.parametrize(
    ("today", "words"),
    [
        (without(["top/bias"]), "1 of 7 variables do not match"),
        (replace(OLD, batches=lambda step: NEW.batches(step + 1)), "the sides got other data"),
    ],
)
def test_a_program_that_is_another_one_in_the_new_version_decides_nothing(
    tmp_path: Path, today: Program, words: str
) -> None:
    """The report is that of both sides, as without it."""
    report = verified(tmp_path, replace(OLD, scale=1.001), today, NEW)

    assert 1 == report.status
    assert "says nothing of what belongs to the version" in verdict(report) and words in verdict(report)


def test_who_is_equal_needs_no_third_recording(tmp_path: Path) -> None:
    """Nothing is said of versions."""
    report = verified(tmp_path, OLD, replace(OLD, scale=1.01), NEW)

    assert (0, "") == (report.status, report.versions)


def begun(folder: str) -> list[bool]:
    """In a child: whether a second recording of a TF1 program has the initial values and batches of the first."""
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, Spec
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
    from migrate_lint.runtime_checks.worker.recording.format.reading import read
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording
    from migrate_lint.runtime_checks.worker.recording.tf1.side import record_tf1

    v1 = tf.compat.v1
    calls: list[int] = []

    def network(x: Any, labels: Any) -> Any:
        out = v1.layers.dense(x, 2, name="out")
        loss = v1.losses.sparse_softmax_cross_entropy(labels, out)
        return Spec(out, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss))

    def inputs(step: int) -> Any:
        calls.append(step)
        return np.random.default_rng(step).normal(size=(4, 3)).astype("f") * np.float32(1 + len(calls) * 1e-7)

    names = ("structure", "inference", "steps")
    one, other = f"{folder}/one", f"{folder}/other"
    for place, seed, before in ((one, 1, None), (other, 2, one), (f"{folder}/alone", 2, None)):
        pair = Pair(network, None, inputs, np.array([0, 1, 1, 0]))
        recording = Recording(place, "tf1")
        record_tf1(pair, Plan(names, 2, seed), recording, UserCode([]), before=read(before) if before else None)
    first, second, alone = (read(f"{folder}/{name}") for name in ("one", "other", "alone"))

    def same(recorded: Any, scenario: str, kind: str, name: str, step: int) -> bool:
        values = [side.scenario(scenario).find(kind, name, step).value for side in (first, recorded)]
        return bool(np.array_equal(*values))

    asked = [("inference", "variable", "out/kernel", 0), ("steps", "variable", "out/kernel", 1)]
    asked += [("steps", "input", "input", 1), ("steps", "loss", "loss", 1)]
    return [all(same(second, *one) for one in asked), any(same(alone, *one) for one in asked)]


@pytest.mark.tensorflow
@pytest.mark.parametrize("keras", ["keras2", "keras3"])
def test_the_third_recording_begins_where_the_first_began(children: Children, keras: str, tmp_path: Path) -> None:
    """With the same batches, though its own seed and its own rounding would give others."""
    assert [True, False] == children.call(keras, begun, str(tmp_path))
