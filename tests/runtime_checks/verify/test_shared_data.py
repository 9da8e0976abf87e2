"""What replicas get of a pipeline, held against one device: made-up shares, without TensorFlow."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.judging.values import Values
from migrate_lint.runtime_checks.comparison.pipelines import Shared, shared
from migrate_lint.runtime_checks.worker.recording.format.reading import Scenario, read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

Batches = Sequence[Sequence[Sequence[int]]]
"""Rows, by batch and replica."""
ROWS, BATCH = 40, 8
LINE = ("pair.py", 7)


def scenario(folder: Path, batches: Batches, said: dict[str, object], many: bool) -> Scenario:
    """A recording of rows that are numbers; of one device where there are not `many` replicas."""
    recording = Recording(str(folder), "tf2")
    with recording.scenario("data") as chapter:
        for step, parts in enumerate(batches):
            for at, part in enumerate(parts):
                values = np.array(part, np.float32).reshape(len(part), 1)
                chapter.add("data", f"{at}/batch" if many else "batch", values, step)
        chapter.say(random=False, **said)
    recording.save()
    return read(str(folder)).scenario("data")


def held(
    folder: Path,
    one: Batches,
    others: Batches,
    ended: bool | tuple[bool, bool] = True,
    made: str = "_BatchDataset",
) -> Shared:
    ends = ended if isinstance(ended, tuple) else (ended, ended)
    device = scenario(folder / "one", one, {"ended": ends[0]}, False)
    datasets = [{"what": made, "place": list(LINE)}]
    replicas = scenario(folder / "many", others, {"ended": ends[1], "datasets": datasets}, True)
    with Values() as values:
        return shared(device, replicas, values)


def on_device(rows: Sequence[int], size: int = BATCH) -> list[list[list[int]]]:
    return [[list(rows[at : at + size])] for at in range(0, len(rows), size)]


def on_replicas(parts: Sequence[Sequence[int]], size: int = BATCH) -> list[list[list[int]]]:
    """What replicas get that read each a part by itself."""
    each = size // len(parts)
    longest = max(map(len, parts))
    return [[list(part[at : at + each]) for part in parts] for at in range(0, longest, each)]


def of_files(generator: random.Random, count: int) -> list[list[int]]:
    """All rows, in so many parts of any length."""
    parts: list[list[int]] = [[] for _ in range(count)]
    for row in range(ROWS):
        parts[generator.randrange(count)].append(row)
    return parts


def shares() -> Iterator[tuple[int, list[list[int]]]]:
    for seed in range(20):
        generator = random.Random(seed)
        yield seed, of_files(generator, generator.choice((2, 4)))


@pytest.mark.parametrize(("seed", "parts"), [*shares()])
def test_every_row_once_is_equal_and_any_other_number_is_not(
    seed: int, parts: list[list[int]], tmp_path: Path
) -> None:
    """However the rows are dealt; one that is lost or comes again is seen, with the line of a dataset."""
    one = on_device(range(ROWS))
    sound = held(tmp_path / "sound", one, on_replicas(parts))
    again = held(tmp_path / "again", one, on_replicas([[*parts[0], seed], *parts[1:]]))
    lost = held(tmp_path / "lost", one, on_replicas([[row for row in part if row != seed] for part in parts]))

    assert "" == sound.problem and "each row" in sound.agreed
    assert f"1 of {ROWS} come more often than on one device" == again.problem and LINE == again.place
    assert f"1 of {ROWS} rows reach no replica" == lost.problem and LINE == lost.place


def test_batches_are_equal_in_whatever_order_their_rows_are(tmp_path: Path) -> None:
    """Nothing is left then; of batches of other rows it is said that they are."""
    one = on_device(range(ROWS))
    alike = held(tmp_path / "alike", one, [[rows[:3], rows[3:][::-1]] for (rows,) in one])
    apart = held(tmp_path / "apart", one, on_replicas([range(20), range(20, ROWS)]))

    assert ("", "5 batches are shared out to the replicas, each row once", ()) == alike[:3]
    assert "" == apart.problem and apart.left[0].startswith("which rows come together in a batch")


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([[rows, rows] for (rows,) in on_device(range(ROWS), 4)], "all of the 2 replicas get the same rows"),
        (on_replicas([range(0, 20, 2), range(21, ROWS, 2)]), "the dataset is divided twice"),
        ([[rows[:2], rows[2:]] for (rows,) in on_device(range(ROWS), 4)], "the batch is divided more than once"),
        ([], "one device gets 5 batches, and replicas none"),
        (on_replicas([range(20), range(100, 120)]), "20 come that one device does not get"),
    ],
)
@pytest.mark.parametrize("ended", [True, False])
def test_a_pipeline_that_is_dealt_wrongly(others: Batches, words: str, ended: bool, tmp_path: Path) -> None:
    """Of one that goes on, what the first batches show is told, and no more."""
    found = held(tmp_path, on_device(range(ROWS)), others, ended)
    known = ended or not any(word in words for word in ("twice", "does not get"))

    assert (words in found.problem) == known, found
    assert known or (not found.agreed and "it goes on" in found.left[0])


def test_rows_that_never_come_again_are_lost(tmp_path: Path) -> None:
    """Where one device has had each row often enough for every replica to come to its own."""
    endless = [row % 10 for row in range(ROWS)]
    found = held(tmp_path, on_device(endless), on_replicas([[0, 2, 4, 6, 8] * 4, [1, 3, 5, 7] * 5]), False)

    assert "1 of 10 rows reach no replica" in found.problem


@pytest.mark.parametrize(
    ("ended", "one", "others", "problem"),
    [
        ((True, False), range(ROWS), (range(30), [*range(20, ROWS), 0]), "11 of 40 come more often than on one device"),
        ((True, False), range(ROWS), (range(12), range(20, 32)), ""),
        ((False, True), range(ROWS), (range(12), range(20, ROWS)), "8 of 40 rows reach no replica"),
        ((False, True), range(ROWS), (range(20), range(20, ROWS + 20)), ""),
    ],
)
def test_one_that_ends_where_the_other_goes_on(
    ended: tuple[bool, bool], one: Sequence[int], others: Sequence[Sequence[int]], problem: str, tmp_path: Path
) -> None:
    """Rows beyond those of a whole epoch are too many, and an epoch that lacks some of the first ones loses them."""
    found = held(tmp_path, on_device(one), on_replicas(others), ended)

    assert problem == found.problem
    assert problem or "it goes on" in found.left[0], found


@pytest.mark.parametrize(
    ("made", "problem"), [("distribute_datasets_from_function", True), ("_BatchDataset", False)]
)
def test_larger_batches(made: str, problem: bool, tmp_path: Path) -> None:
    """Of one dataset the program says how large its batches are; that of each process has to know its share."""
    found = held(tmp_path, on_device(range(ROWS)), on_replicas([range(20), range(20, ROWS)], 16), made=made)

    assert problem == bool(found.problem)
    assert problem or found.left[0].startswith("the size of batches")


@pytest.mark.parametrize("drops", ["replicas", "one device"])
def test_a_last_batch_that_is_dropped(drops: str, tmp_path: Path) -> None:
    """What is dropped because it fills no batch is told, and is not lost."""
    one, other = on_device(range(36)), on_replicas([range(0, 36, 2), range(1, 36, 2)][::-1])
    one = one[:-1] if drops == "one device" else one
    other = on_replicas([range(18), range(18, 36)])[: 4 if drops == "replicas" else 5]
    found = held(tmp_path, one, other)

    assert "" == found.problem and f"4 rows ({drops} drop" in found.left[0].replace("drops", "drop")


def test_values_that_are_rounded_otherwise_are_the_same(tmp_path: Path) -> None:
    """Of a batch whose order is kept."""
    one = [[[0.1 * row for row in rows]] for (rows,) in on_device(range(16))]
    other = [[[value * (1 + 1e-6) for value in rows[:4]], rows[4:]] for (rows,) in one]

    assert "2 batches" in held(tmp_path, one, other).agreed  # type: ignore[arg-type]
