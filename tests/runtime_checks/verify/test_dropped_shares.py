"""A share that the sides do not drop alike is read off the numbers that they drew, however the dropout is written."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.causes import dropout
from migrate_lint.runtime_checks.comparison.causes.evidence import Clue, Seen
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import SideSummary
from migrate_lint.runtime_checks.verifying import Request, run
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording
from migrate_lint.runtime_checks.worker.recording.values.sketch import Sheet, sketch

from ...interpreters import Children
from .test_guides import need
from .workers import in_children

PAIRS = Path(__file__).parent / "dropped_shares.py"
KIND = "dropout rate"
RATES = (0.1, 0.3, 0.5, 0.7)
WAYS = ("greater equal", "less", "floor", "select what is dropped", "a bound that is computed", "for whole channels")


def recorded(folder: Path, side: str, *drops: tuple[str, float], size: tuple[int, ...] = (12, 5)) -> Any:
    """A side whose pass drops so often, each in its way and at its rate, as its operations would be recorded."""
    recording = Recording(str(folder / side), side)
    with recording.scenario(scenarios.ALIGNED) as chapter:
        sheet, values = Sheet(), {}

        def row(op: str, value: Any, *inputs: list[Any]) -> list[Any]:
            number = len(values)
            values[number] = np.asarray(value)
            sheet.row(number, op, ("/p/model.py", number), values[number].shape, sketch(values[number]), inputs, {})
            return ["row", number]

        x = row("input", np.random.default_rng(1).normal(size=size).astype(np.float32))
        for at, (way, rate) in enumerate(drops):
            shape = (size[0], *(1 for _ in size[1:-1]), size[-1]) if way == "for whole channels" else size
            numbers = np.random.default_rng(7 + at).random(shape, np.float32)
            draw, kept = row("RandomUniform", numbers), numbers >= np.float32(rate)
            if way == "floor":
                added = row("AddV2", numbers + np.float32(1 - rate), draw, ["constant", [1 - rate]])
                mask = row("Floor", np.floor(values[added[1]]), added)
            elif way == "less":
                kept = numbers < np.float32(1 - rate)
                mask = row("Less", kept, draw, ["constant", [1 - rate]])
            elif way == "select what is dropped":
                mask = row("Less", ~kept, draw, ["constant", [rate]])
            elif way == "a bound that is computed":
                mask = row("GreaterEqual", kept, draw, row("Sub", np.float32(rate), ["constant", [1.0]]))
            else:
                mask = row("GreaterEqual", kept, draw, ["constant", [rate]])
            op = "SelectV2" if way == "select what is dropped" else "Mul"
            x = row(op, np.where(kept, values[x[1]], 0) / np.float32(1 - rate), x, mask)
        sheet.result("output", "output", x[1])
        sheet.record(chapter)
    return read(folder / side)


def clues(old: Any, new: Any) -> list[Clue]:
    sides = tuple(SideSummary(side, {}, (), (), None) for side in ("tf1", "tf2"))
    report = Report("pair", "noise", (sides[0], sides[1]), (), (), (), {}, None, ())
    return list(dropout.clues(Seen(report, old, new), 0.9))


@pytest.mark.parametrize(("one", "other"), [*itertools.pairwise(WAYS), (WAYS[-1], WAYS[0])])
def test_every_rate_is_told_from_every_other(one: str, other: str, tmp_path: Path) -> None:
    """And from none that is the same, in whatever two ways the sides drop, also where not all numbers are kept."""
    size = (12, 37, 5)
    olds, news = (
        {rate: recorded(tmp_path / str(rate), side, (way, rate), size=size) for rate in RATES}
        for side, way in (("tf1", one), ("tf2", other))
    )
    for old, new in itertools.product(RATES, repeat=2):
        found = clues(olds[old], news[new])

        assert len(found) == (old != new), (old, new, found)
        if found:
            assert f"rate is {old:g} at" in found[0].text and f"and {new:g} at" in found[0].text
            assert (abs(old + new - 1.0) < 1e-9) == ("a probability to keep is used as a rate" in found[0].text)


@pytest.mark.parametrize("lacking", [0, 1, 2])
@pytest.mark.parametrize("side", ["tf1", "tf2"])
def test_one_of_several_that_a_side_lacks(side: str, lacking: int, tmp_path: Path) -> None:
    """Told apart by its rate where shapes are the same."""
    drops = [("floor", 0.1), ("less", 0.4), ("greater equal", 0.6)]
    fewer = [drop for at, drop in enumerate(drops) if at != lacking]
    given = {"tf1": drops, "tf2": drops, side: fewer}
    (clue,) = clues(*(recorded(tmp_path, name, *given[name]) for name in ("tf1", "tf2")))
    told, other = ("TF2", "TF1") if side == "tf1" else ("TF1", "TF2")

    assert f"the rate {drops[lacking][1]:g} at" in clue.text
    assert f"on {told}, and {other} drops nothing there" in clue.text


def test_what_is_drawn_and_not_seen_is_not_missed(tmp_path: Path) -> None:
    """In a loop of TF1, whose operations no session gives: there may be a dropout that the other side has, too."""
    sides = [recorded(tmp_path, "tf1"), recorded(tmp_path, "tf2", ("less", 0.4))]

    assert 1 == len(clues(*sides))
    sides[0].scenario(scenarios.ALIGNED).said["random_ops"] = [{"op": "RandomUniform", "purpose": "step"}]
    assert [] == clues(*sides)


def test_a_coin_that_makes_no_zeros_is_no_dropout(tmp_path: Path) -> None:
    """As one that chooses between two inputs; nor is noise that is added."""
    sides = []
    for side, bound in (("tf1", 0.3), ("tf2", 0.6)):
        recording = Recording(str(tmp_path / side), side)
        with recording.scenario(scenarios.ALIGNED) as chapter:
            sheet, numbers = Sheet(), np.random.default_rng(0).random((6, 6), np.float32)
            mask = numbers < bound
            rows = [("RandomUniform", numbers, []), ("Less", mask, [["row", 0], ["constant", [bound]]])]
            rows += [("SelectV2", np.where(mask, 1.5, 2.5), [["row", 1]]), ("AddV2", numbers + 1, [["row", 0]])]
            for number, (op, value, inputs) in enumerate(rows):
                sheet.row(number, op, None, (6, 6), sketch(value), inputs, {})
            sheet.result("output", "output", 3)
            sheet.record(chapter)
        sides.append(read(tmp_path / side))

    assert [] == clues(*sides)


Verified = Callable[..., Report]


@pytest.fixture(scope="module")
def verified(children: Children) -> Iterator[Verified]:
    """A pair on a target, up to a rung."""

    def get(name: str, target: str, until: str = "random") -> Report:
        need(target)
        return run(Request(f"{PAIRS}:{name}", target=Target(target), until=until, steps=1))

    with in_children(children):
        yield get


MEMBERS = {
    ("inverted", "keras3"): ("the rate is 0.2 at", "and 0.8 at", "a probability to keep is used as a rate"),
    ("other", "keras2"): ("the rate is 0.5 at", "and 0.4 at"),
    ("computed", "keras3"): ("the rate is 0.1 at", "and 0.9 at", "a probability to keep is used as a rate"),
    ("floored", "keras2"): ("the rate is 0.3 at", "and 0.7 at"),
    ("second", "keras3"): ("the rate is 0.5 at", "and 0.3 at"),
    ("branch", "keras3"): ("the rate is 0.2 at", "and 0.8 at", "a probability to keep is used as a rate"),
    ("forgotten", "keras2"): ("the rate 0.3 at", "on TF1, and TF2 drops nothing there"),
    ("forgotten_one", "keras3"): ("the rate 0.3 at", "TF1 drops 2 times; TF2 drops once"),
}


@pytest.mark.tensorflow
@pytest.mark.parametrize(("name", "target"), MEMBERS)
def test_another_share_is_named_with_both_lines(name: str, target: str, verified: Verified) -> None:
    """The lines are those of the programs that drop."""
    cause = verified(name, target).causes[0]
    places = [place for place in (cause.tf1_place, cause.tf2_place) if place is not None]

    assert KIND == cause.kind
    assert all(words in cause.evidence[0] for words in MEMBERS[name, target]), cause.evidence
    assert (1 if "forgotten" in name else 2) == len(places)
    assert all("# dropped by TF" in linecache.getline(*place) for place in places), places


@pytest.mark.tensorflow
def test_a_loop_that_drops_another_share_is_not_equal(verified: Verified) -> None:
    """What it draws may come in another order, and nothing is shown; the dropout beside it tells the rates."""
    sound, report = verified("in_a_loop", "keras3"), verified("inverted_in_a_loop", "keras3")

    assert (0, ()) == (sound.status, sound.causes)
    assert (3, [KIND]) == (report.status, [cause.kind for cause in report.causes])
    assert all(words in report.causes[0].evidence[0] for words in ("rate is 0.2 at", "and 0.8 at", "to keep is used"))


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_one_call_that_drops_nothing_is_no_other_loss(target: str, verified: Verified) -> None:
    """A layer that drops in one call and not in another: the passes part at TF1's dropout."""
    sound, report = verified("both_calls", target, "step"), verified("one_call", target, "step")
    cause = report.causes[0]

    assert 0 == sound.status
    assert KIND == cause.kind
    assert any(
        "with the rate 0.3 at" in text and "where the passes part, and TF2 goes" in text for text in cause.evidence
    )
    assert "# dropped by TF1" in linecache.getline(*cause.tf1_place or ("", 0))
    assert all(other.weight < 0.5 for other in report.causes[1:])


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "target", "kind"),
    [("sound", "keras3", None), ("other_epsilon", "keras2", "update rule"), ("other_loss", "keras3", "loss")],
)
def test_other_bugs_of_models_that_drop_are_no_matter_of_it(
    name: str, target: str, kind: str | None, verified: Verified
) -> None:
    """Equal shares are never among the causes, and what cannot be seen is not missed."""
    kinds = [cause.kind for cause in verified(name, target, "step").causes]

    assert kind == (kinds[0] if kinds else None)
    assert KIND not in kinds
