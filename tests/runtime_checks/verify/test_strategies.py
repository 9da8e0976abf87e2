"""The TF2 side is really trained under strategies, on both Keras, and what goes wrong there is told by its cause."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, VerifyUsageError, compare, run

from ...interpreters import Children
from .test_other_settings import TARGETS, on_two_devices
from .workers import in_children

pytestmark = pytest.mark.tensorflow
PAIRS = Path(__file__).parent / "under_strategies.py"
MIRRORED = "mirrored:2"


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


def request(
    folder: Path, pair: str, target: Target, strategy: str, steps: int = 1, until: str | None = None
) -> Request:
    until = until or ("steps" if steps > 1 else "step")
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


def dealt(children: Children, folder: Path, pair: str, target: Target, strategy: str) -> Report:
    """What a strategy makes of a pipeline alone; processes that read together are such."""
    asked = request(folder / "run", pair, target, strategy, until="data")
    with in_children(children, do=on_two_devices, alone=lambda job: "multiworker" in str(job["strategy"])):
        return run(asked)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("pair", "status", "words"),
    [
        ("shared_data", Status.PASS, "3 batches are shared out to the replicas, each row once"),
        ("endless_data", Status.PASS, "the first 100 batches are shared out to the replicas"),
        ("data_of_functions", Status.PASS, "in batch 2 a replica gets none"),
        ("larger_batches", Status.PASS, "not compared: training (it was not recorded), the size of batches ("),
        ("data_with_sums", Status.NOT_RUN, "the strategy cannot distribute the dataset: "),
        ("python_data", Status.NOT_RUN, "a strategy distributes datasets, and data gave a list"),
        ("undivided_data", Status.FAIL, "replicas get 16 rows together in a batch, and one device 8"),
    ],
)
def test_what_replicas_get_of_a_pipeline(
    pair: str, status: Status, words: str, target: Target, two_devices: Children, tmp_path: Path
) -> None:
    """What could not be compared of it is said; where that is all of it, the rung is no pass."""
    report = dealt(two_devices, tmp_path, pair, target, MIRRORED)
    rung = report.rung("9b")

    assert status is rung.status and words in " ".join((rung.detail, *rung.notes)), rung
    assert rung == compare(tmp_path / "run", until="data").rung("9b")
    assert "training with mirrored:2 (it was not recorded)" in report.not_compared
    places = [cause.tf2_place for cause in report.causes if cause.kind == "data by replica"]
    assert [str(PAIRS)] * (status is Status.FAIL) == [place[0] for place in places if place is not None]


@pytest.mark.parametrize(
    ("pair", "target", "status", "words"),
    [
        ("data_of_files", Target.KERAS3, Status.PASS, "each row comes as often in an epoch as on one device"),
        ("shuffled_data", Target.KERAS2, Status.PASS, "processes that set no seed (they draw other numbers"),
        ("repeated_data", Target.KERAS3, Status.FAIL, "all of the 2 replicas get the same rows"),
        ("divided_twice_data", Target.KERAS2, Status.FAIL, "10 of 20 rows reach no replica"),
    ],
)
def test_what_processes_get_of_a_pipeline(
    pair: str, target: Target, status: Status, words: str, two_devices: Children, tmp_path: Path
) -> None:
    """Where each of them reads a part of its own, the rows of an epoch are compared."""
    report = dealt(two_devices, tmp_path, pair, target, "multiworker:2")
    rung = report.rung("9b")

    assert status is rung.status and words in " ".join((rung.detail, *rung.notes)), rung
    assert ("no seed" in rung.detail) == (pair == "shuffled_data")
    assert (status is Status.FAIL) == any(cause.kind == "data by replica" for cause in report.causes)


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_not_compared_is_counted(target: Target, two_devices: Children, tmp_path: Path) -> None:
    """A metric of each replica, of which the program does not say what it is over all of them."""
    report = verified(two_devices, tmp_path, "told_by_each", target)
    rung = report.rung("9b")

    assert Status.PASS is rung.status and "; not compared: 1 of " in rung.detail, rung
    assert rung.detail.endswith(" values (metric right)")
    assert any(text.endswith(" values with mirrored:2 (metric right)") for text in report.not_compared)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("mirrored", "--strategy mirrored: a strategy is written one:CPU:0, mirrored:N"),
        ("mirrored:0", "--strategy mirrored:0: a number is from 1 to"),
        ("tpu", "--strategy tpu: there is no TPU, only "),
        ("one:GPU:7", "--strategy one:GPU:7: there is no GPU:7, only /physical_device:CPU:0"),
    ],
)
def test_a_strategy_that_cannot_be_had(words: str, message: str, two_devices: Children, tmp_path: Path) -> None:
    """The text says what is possible, or what is there, before anything is recorded."""
    with pytest.raises(VerifyUsageError, match=message):
        verified(two_devices, tmp_path, "compiled", Target.KERAS3, words)

    assert [] == [path.name for path in (tmp_path / "run").rglob("*.npz")]
