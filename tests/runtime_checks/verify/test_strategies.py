"""The TF2 side is really trained under strategies, on both Keras, and what goes wrong there is told by its cause."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, VerifyUsageError, compare, run

from ...interpreters import Children
from .test_other_settings import TARGETS, split
from .workers import in_children, work

pytestmark = pytest.mark.tensorflow
PAIRS = Path(__file__).parent / "under_strategies.py"
MIRRORED = "mirrored:2"


def on_two_devices(job: dict[str, Any]) -> dict[str, Any]:
    """In a child: what a worker does with a job; another one may have come into its place."""
    split()
    return work(job)


@pytest.fixture(scope="module")
def two_devices() -> Iterator[Children]:
    children = Children()
    yield children
    children.close()


@pytest.fixture(scope="module")
def for_bugs() -> Iterator[Children]:
    """Their own: what replicas cannot do together breaks their collective operations for the rest of a process."""
    children = Children()
    yield children
    children.close()


def request(folder: Path, pair: str, target: Target, strategy: str, steps: int = 1) -> Request:
    until = "steps" if steps > 1 else "step"
    return Request(
        f"{PAIRS}:{pair}", until=until, steps=steps, target=target, output=str(folder), strategies=(strategy,)
    )


def verified(
    children: Children, folder: Path, pair: str, target: Target, strategy: str = MIRRORED, steps: int = 1
) -> Report:
    with in_children(children, do=on_two_devices):
        return run(request(folder / "run", pair, target, strategy, steps))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "pair", ["compiled", "looped", "dropping", "penalized", "scaled_penalty", "put_together"]
)
def test_a_sound_program_trains_as_on_one_device(
    pair: str, target: Target, two_devices: Children, tmp_path: Path
) -> None:
    """Also where it draws random numbers, and where it runs the strategy itself."""
    report = verified(two_devices, tmp_path, pair, target, steps=2)
    rung = report.rung("9b")

    assert rung.status is Status.PASS and " values agree" in rung.detail, rung.detail
    assert not any(cause.kind.endswith("replica") for cause in report.causes)
    assert rung == compare(tmp_path / "run", until="steps").rung("9b")


@pytest.mark.parametrize(
    ("pair", "target", "kind", "words"),
    [
        ("mean_by_replica", Target.KERAS3, "loss by replica", "gradients of step 0 are 2 times those of one device"),
        ("divided_twice", Target.KERAS2, "loss by replica", "it is divided once more by the number of replicas, 2"),
        ("weighted_by_replica", Target.KERAS3, "loss by replica", "such as the number of its rows that count"),
        ("penalty_by_replica", Target.KERAS2, "regularization by replica", "each adds all of it"),
        ("summed_twice", Target.KERAS3, "gradients summed twice", "while the loss is the same"),
        ("clipped", Target.KERAS2, "clipping by replica", "what is done to them is done on each replica"),
        ("other_rate", Target.KERAS3, "learning rate by replica", "rate of step 0 is 2 times that of one device"),
        ("counted_by_all", Target.KERAS2, "steps counted by replica", ", that of step 2: each replica counts"),
        ("told_as_sum", Target.KERAS3, "metrics by replica", "metric right is 2 times that of one device"),
        ("told_by_first", Target.KERAS2, "metrics by replica", "metric right is "),
        ("told_as_mean", Target.KERAS3, "metrics by replica", "loss loss is 0.5 times that of one device"),
        ("variables", Target.KERAS2, "variables by replica", "each step makes variables on the replicas (extra"),
    ],
)
def test_a_bug_is_told_by_its_cause(
    pair: str, target: Target, kind: str, words: str, for_bugs: Children, tmp_path: Path
) -> None:
    """First of the causes under the strategy, with a line of the program."""
    steps = {"counted_by_all": 3, "variables": 2, "weighted_by_replica": 2}.get(pair, 1)
    report = verified(for_bugs, tmp_path, pair, target, steps=steps)
    cause = next(one for one in report.causes if "replica" in one.kind or one.kind.startswith("gradients "))

    assert report.rung("9b").status is Status.FAIL and kind == cause.kind, cause
    assert any(words in text for text in cause.evidence), cause
    assert cause.tf2_place is not None and str(PAIRS) == cause.tf2_place[0]


@pytest.mark.parametrize(
    ("pair", "kind"), [("averaged", "gradients averaged"), ("not_summed", "gradients not summed")]
)
def test_an_optimizer_that_is_kept_from_adding_up(
    pair: str, kind: str, for_bugs: Children, tmp_path: Path
) -> None:
    """Keras 3 has no such argument."""
    report = verified(for_bugs, tmp_path, pair, Target.KERAS2)

    assert kind in [cause.kind for cause in report.causes][:1], report.causes


def test_batch_normalization_by_replica_is_due(tmp_path: Path) -> None:
    """That it explains all of the difference is shown by a run in which all replicas normalize together.

    Each strategy has a process of its own: what one of them has begun in it disturbs the next.
    """
    rung = run(request(tmp_path / "run", "normalizing", Target.KERAS3, MIRRORED)).rung("9b")

    assert Status.PASS is rung.status, rung.detail
    assert "due: batch normalization by replica (batch_normalization)" in rung.detail
    assert any("values differ" in note for note in rung.notes)
    assert {"strategy-mirrored-2", "strategy-mirrored-2-synchronized", "strategy-one-CPU-0-synchronized"} == {
        path.name for path in (tmp_path / "run" / "variants").iterdir()
    }


@pytest.mark.parametrize("target", TARGETS)
def test_a_batch_that_replicas_do_not_divide(target: Target, two_devices: Children, tmp_path: Path) -> None:
    """A program that divides by the rows of all replicas as one replica counts them is not right then."""
    rung = verified(two_devices, tmp_path, "uneven", target).rung("9b")

    assert Status.NOT_RUN is rung.status, rung.detail
    assert "a batch of 9 rows is not divided evenly over 2 replicas (5, 4)" in rung.detail


def test_processes_that_train_together(tmp_path: Path) -> None:
    """Two of them, each with a strategy over both; what each did reaches the first one."""
    report = run(request(tmp_path / "run", "mean_by_replica", Target.KERAS3, "multiworker:2"))

    assert "loss by replica" == report.causes[0].kind, report.causes
    assert "2 times those of one device" in report.causes[0].evidence[0]


def test_variables_on_a_server(tmp_path: Path) -> None:
    """What asynchronous workers would do is told as not compared."""
    rung = run(request(tmp_path / "run", "looped", Target.KERAS2, "ps:2+1")).rung("9b")

    assert Status.PASS is rung.status and any("was not compared" in note for note in rung.notes), rung


def test_a_program_that_makes_its_own_strategy(tmp_path: Path) -> None:
    """The one that was asked for stands in its place: there is one in a process."""
    report = run(request(tmp_path / "run", "of_its_own", Target.KERAS3, MIRRORED))

    assert report.rung("9b").status is Status.PASS, report.rung("9b")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("mirrored", "--strategy mirrored: a strategy is written one:CPU:0, mirrored:N"),
        ("mirrored:0", "--strategy mirrored:0: a number is from 1 to"),
        ("tpu", "--strategy tpu: there is no TPU, only "),
    ],
)
def test_a_strategy_that_cannot_be_had(words: str, message: str, two_devices: Children, tmp_path: Path) -> None:
    """The text says what is possible, or what is there."""
    with pytest.raises(VerifyUsageError, match=message):
        verified(two_devices, tmp_path, "compiled", Target.KERAS3, words)
