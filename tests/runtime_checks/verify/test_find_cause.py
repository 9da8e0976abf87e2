"""The cause of the planted bugs, found by trying: the line of the TF2 program, and what to write there.

The attempts of a search run in the shared child of a target, with nothing recorded that a bug does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.results import Results, Trial
from migrate_lint.runtime_checks.comparison.trying.plants import caught, plants
from migrate_lint.runtime_checks.comparison.trying.proposals import Proposal, proposals
from migrate_lint.runtime_checks.comparison.trying.search import Attempt, Effort, find
from migrate_lint.runtime_checks.planning import alone, plan
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children
from .planted.bugs import BUGS, SOUND, TWO, Planted, options
from .planted.record_sides import HERE, record

MARKED = {
    "rmsprop": "rmsprop",
    "rate": "rate",
    "momentum": "rate",
    "reduction": "rate",
    "from_logits": "rate",
    "staircase": "staircase",
    "factor of l2": "l2",
    "padding": "padding",
    "resize": "resize",
    "clip norm": "clipped",
    "loss scaled": "plain",
    "accumulator + rows": "rows",
    "forget bias": "memory",
    "rate + from_logits": "rate",
    "factor of l2 + rate": "l2",
}
"""The pairs of `kinds`, each with a name for the TF1 side that some of them share; their targets alternate."""
RUNGS = {"padding": "fingerprint", "resize": "fingerprint", "forget bias": "random"}
"""The rung that sees what does not show in training alone."""
CAUGHT = {
    "argument epsilon", "argument activation", "argument rate", "argument kernel_regularizer",
    "argument momentum", "argument from_logits", "statistics ", "schedule ", "gradients ", "transposed "
}  # fmt: skip
"""What is planted into the sound pair of `kinds`, among others."""
pytestmark = [pytest.mark.tensorflow, pytest.mark.longest]

NEW = (HERE / "new.py").read_text("utf-8").splitlines()
KINDS = (HERE / "kinds.py").read_text("utf-8").splitlines()
PLANTED = {
    "keras2: batch norm epsilon": ("norm(", "epsilon=0.001"),
    "keras3: update ops not run": ("norm(", "leave the moving statistics as they are"),
    "keras3: variance of n and not n - 1": ("norm(", "divided by n - 1"),
    "keras3: regularization dropped": ("gradients = tape.gradient", "add tf.add_n(model.losses)"),
    "keras2: schedule off by one": ("rate = Late(rate)", "one step earlier"),
    "keras3: momentum under a decaying rate": ("keras.optimizers.SGD(", "apply the rate to what momentum"),
    "keras3: missing variable": ("make.Dense(CLASSES", "use_bias=True"),
    "keras2: renamed variable": ("", "renames="),
    "keras3: transposed kernel": ("", "left/kernel` is used transposed"),
    "keras2: swapped weights": ("", "take each other's place"),
    "keras2: no training flag": ("logits = model(images)", "training=True"),
    "keras3: flag not passed on": ("x = layer(x, training=training)", "pass the model's on"),
}
"""By target and planted bug: what stands on the line that is found, and a part of what is said of it."""


class Searcher:
    """Finds the cause of a pair's difference, as the command does, in a child that is there already."""

    def __init__(
        self, children: Children, folder: Path, target: str, name: str, planted: Planted, last: str = ""
    ) -> None:
        self._children = children
        self._folder = folder
        self._target = target
        self._name = name
        self._planted = planted
        self._begun = 0
        self._until = last or LAST[planted.rung]
        self._all = not planted.rung
        self._old = folder / f"tf1 {planted.old}"
        if not self._old.exists():
            self._children.call("keras2", record, self._job("tf1", self._old, OLD))

    def trial(self) -> tuple[Results, Trial]:
        """The comparison without a change, and what trying comes to."""
        base = self.run([[]], None)[0]
        old = read(self._old)

        def propose(attempt: Attempt) -> Sequence[Proposal]:
            assert attempt.report is not None
            assert attempt.recorded is not None
            return proposals(attempt.report, old, attempt.recorded)

        assert base.report is not None
        return base.report, find(base, propose, self.run, Effort(30, 1e9))

    def run(self, sets: Sequence[Sequence[Proposal]], rung: str | None) -> list[Attempt]:
        """An attempt for each set of changes."""
        return [self._attempt([one.mutation for one in found], rung) for found in sets]

    def _attempt(self, mutations: Sequence[Any], rung: str | None) -> Attempt:
        folder = self._folder / f"{self._target} {self._name} {self._begun}"
        self._begun += 1
        last = rung or self._until
        scenarios = ALL if self._all else alone(last, steps=3, seed=42).scenarios
        self._children.call(self._target, record, self._job("tf2", folder, scenarios) | {"mutations": mutations})
        recorded = read(folder)
        fields = {one["argument"]: one["value"] for one in mutations if one["what"] == "pair"}
        report = compare(read(self._old), recorded, until=rung or self._until, name=self._name, **fields)
        return Attempt(report, recorded, frozenset(recorded.content["applied"]))

    def _job(self, side: str, folder: Path, scenarios: Sequence[str]) -> dict[str, Any]:
        planted = self._planted
        name = self._name if side == "tf2" and planted.kind else ""
        program = {"style": planted.style, "params": options(name, planted)} if planted.style else {"kind": self._name}
        return program | {
            "name": self._name,
            "side": side,
            "seed": 42,
            "steps": 1 if self._until == "step" and side == "tf2" else 3,
            "scenarios": list(scenarios),
            "folder": str(folder),
            "tf1": str(self._old),
        }


LAST = {
    "": "steps",
    "2": "fingerprint",
    "3": "fingerprint",
    "3f": "fingerprint",
    "4": "random",
    "6": "step",
    "7": "steps",
}
"""The rung whose scenarios the TF2 side is recorded for, by the one that sees the bug; of a sound pair all are."""
ALL = tuple(one for one in plan("steps", noise=False, steps=3, seed=42).scenarios if one not in ("once", "checkpoint"))
OLD = (*ALL, "fingerprint-nudged", "steps-nudged")
"""What a TF1 side is recorded for."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the recordings; TF1 sides are shared."""
    return tmp_path_factory.mktemp("trying")


def lines(trial: Trial, text: Sequence[str]) -> list[str]:
    """The source lines that a trial names."""
    return [text[change.place[1] - 1].strip() if change.place else "" for change in trial.changes]


@pytest.mark.parametrize("case", PLANTED)
def test_the_planted_bug_is_found(children: Children, folder: Path, case: str) -> None:
    """Its line and what to write there, in no more than thirty runs; with that change everything agrees."""
    target, _, name = case.partition(": ")
    report, trial = Searcher(children, folder, target, name, BUGS[name]).trial()
    line, words = PLANTED[case]

    assert 1 == report.status
    assert ("found", 1) == (trial.outcome, len(trial.changes)), trial
    assert words in trial.changes[0].text
    assert line in lines(trial, NEW)[0]
    assert trial.runs <= 30


TOGETHER = {
    **{name: two for name, two in TWO.items() if "doubled" in name or "summed" in name},
    "regularization dropped + loss summed": Planted("regularization + loss", "6", 0, "loop"),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_both_of_two_planted_bugs_are_found(children: Children, folder: Path, name: str) -> None:
    """Each with a line of its own."""
    target = ("keras2", "keras3")[list(TOGETHER).index(name) % 2]
    _, trial = Searcher(children, folder, target, name, TOGETHER[name]).trial()

    assert "found" == trial.outcome, trial
    assert sorted(TOGETHER[name].kind.split(" + ")) == sorted(change.kind for change in trial.changes)
    assert trial.runs <= 30


@pytest.mark.parametrize("name", MARKED)
def test_the_bug_of_each_kind_is_found(children: Children, folder: Path, name: str) -> None:
    """At the lines that say so, all of them and no other."""
    target = ("keras2", "keras3")[list(MARKED).index(name) % 2]
    planted = Planted("kind", "7", 0, "", f"kind {MARKED[name]}")
    _, trial = Searcher(children, folder, target, name, planted, RUNGS.get(name, "")).trial()

    assert "found" == trial.outcome, trial
    assert name.count("+") + 1 == len(trial.changes)
    assert all(line.endswith("# bug") for line in lines(trial, KINDS)), trial.changes
    assert trial.runs <= 30


@pytest.mark.parametrize("name", ["a loop", "fit"])
def test_a_sound_pair_needs_no_cause(children: Children, folder: Path, name: str) -> None:
    """Not even a run."""
    target = {"a loop": "keras2", "fit": "keras3"}[name]
    report, trial = Searcher(children, folder, target, name, SOUND[name]).trial()

    assert (0, "none needed", 0) == (report.status, trial.outcome, trial.runs)


def test_what_no_change_explains_is_said(children: Children, folder: Path) -> None:
    """A layer of one's own that computes something else, and calls nothing that can be changed: nothing is claimed."""
    planted = Planted("kind", "7", 0, "", "kind plain")
    _, trial = Searcher(children, folder, "keras3", "nothing known", planted, "fingerprint").trial()

    assert ("not found", ()) == (trial.outcome, trial.changes)
    assert not trial.tried
    assert "none of the changes that are known here helps any further" == trial.left


def test_planted_bugs_are_caught(children: Children, folder: Path) -> None:
    """Bugs of each kind that a sound pair has a place for, planted one at a time: the comparison sees all but one.

    Eighteen numbers are too few to tell two distributions apart.
    """
    searcher = Searcher(children, folder, "keras3", "sound", Planted("", "", 0, "", "kind sound"))
    (base,) = searcher.run([[]], None)
    assert base.report is not None
    assert base.recorded is not None
    assert base.report.equal, base.report
    found, without = plants(base.report, base.recorded)
    attempts = searcher.run([[one] for one in found], None)
    said = [caught(one, attempt, 3) for one, attempt in zip(found, attempts, strict=True)]
    missed = [one.change.text for one, what in zip(found, said, strict=True) if what is None or not what.rung]

    assert "the forget bias of an LSTM" in without
    assert CAUGHT <= {one.mutation["what"] + " " + one.mutation["argument"] for one in found}
    assert ["`Dense(kernel_initializer='glorot_uniform')`: kernel_initializer='he_normal'"] == missed
