"""The search for a cause, on programs that are nothing but a list of bugs and of what each of them makes differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.reporters import FORMATS, render
from migrate_lint.runtime_checks.comparison.results import (
    Cause,
    Change,
    Deviation,
    Planted,
    Rung,
    SelfTest,
    SideSummary,
    Status,
    Trial,
)
from migrate_lint.runtime_checks.comparison.trying.proposals import Proposal
from migrate_lint.runtime_checks.comparison.trying.search import Attempt, Effort, amounts, closer, find, marked

RUNGS = {"fingerprint": "3f", "step": "6", "steps": "7"}
Differences = Mapping[tuple[str, int], float]
"""By rung and step: by how many times its tolerance a value differs."""


@dataclass
class Program:
    """A TF2 side with bugs; each attempt takes some away, and what the others make differ is what remains.

    Attributes:
        bugs: by name, what differs because of it.
        hidden: bugs that show only when others are gone.
        harmful: changes after which something else differs.
        unreached: changes that the program never comes to.
        broken: changes with which it cannot be run.
        runs: how many changes each run had.
        kept: attempts of which the recordings are there, by number; and how many there were at most.
    """

    bugs: Mapping[str, Differences]
    hidden: Mapping[str, str] = field(default_factory=dict)
    harmful: Mapping[str, Differences] = field(default_factory=dict)
    unreached: Sequence[str] = ()
    broken: Sequence[str] = ()
    runs: list[int] = field(default_factory=list)
    kept: set[int] = field(default_factory=set)
    most: int = 0

    def run(self, sets: Sequence[Sequence[Proposal]], rung: str | None) -> list[Attempt]:
        return [self.attempt([one.change.text for one in found], rung) for found in sets]

    def attempt(self, gone: Sequence[str], rung: str | None) -> Attempt:
        self.runs.append(len(gone))
        if set(gone) & set(self.broken):
            return Attempt(None, None, why="the side ended early")
        number = len(self.runs)
        self.kept.add(number)
        self.most = max(self.most, len(self.kept))
        left = [name for name in self.bugs if name not in gone]
        told = [self.bugs[name] for name in left if self.hidden.get(name) not in left]
        told += [self.harmful[name] for name in gone if name in self.harmful]
        applied = frozenset(at for at, name in enumerate(gone) if name not in self.unreached)
        return Attempt(report(told, rung), None, applied, discard=lambda: self.kept.discard(number))

    def find(self, *names: str, budget: int = 30) -> Trial:
        proposals = [proposal(name, 1.0 - 0.01 * at) for at, name in enumerate(names)]
        return find(self.attempt([], None), lambda attempt: proposals, self.run, Effort(budget, 1e9))


def proposal(name: str, weight: float = 0.5) -> Proposal:
    mutation = {"what": "argument", "callee": name, "places": [["new.py", 1]], "argument": name, "value": 1}
    return Proposal(name, weight, mutation, Change(name, name, ("new.py", 1)))


def report(differences: Sequence[Differences], until: str | None = None) -> Report:
    names = list(RUNGS)[: list(RUNGS).index(until) + 1] if until else list(RUNGS)
    rungs = []
    for name in names:
        checks = [
            deviation(f"{number}", step, excess)
            for number, found in enumerate(differences)
            for (rung, step), excess in sorted(found.items())
            if rung == name
        ]
        status = Status.FAIL if checks else Status.PASS
        rungs.append(Rung(RUNGS[name], name, name, status, "", checks=(*checks, deviation("agrees", 0, 0.5))))
    sides = (SideSummary("tf1", {}, (), (), None), SideSummary("tf2", {}, (), (), None))
    return Report("pair", "noise", sides, tuple(rungs), (), {}, (), None, ())


def deviation(name: str, step: int, excess: float, problem: str = "") -> Deviation:
    nan = math.nan
    return Deviation(
        "steps", "output", name, name, step, 0, "float32", (), excess <= 1.0, True, nan, nan, (), nan, nan, nan, nan,
        excess, None, nan, None, None, problem,
    )  # fmt: skip


def texts(trial: Trial) -> list[str]:
    return [change.text for change in trial.changes]


def test_the_one_change_that_makes_everything_agree_is_found() -> None:
    """In a wave of three, and with one more run in which everything is compared."""
    trial = Program({"epsilon": {("step", 0): 100.0}}).find("rate", "epsilon", "momentum", "loss")

    assert ("found", ["epsilon"], 4) == (trial.outcome, texts(trial), trial.runs)
    assert ["no change", "rung 6 agrees", "no change"] == [one.effect for one in trial.tried]


def test_two_bugs_that_show_at_once_are_both_found() -> None:
    """Each makes other values differ, so that taking one away is seen."""
    bugs = {"epsilon": {("step", 0): 100.0}, "momentum": {("step", 0): 1e4, ("steps", 1): 10.0}}

    assert ["epsilon", "momentum"] == sorted(texts(Program(bugs).find("rate", "epsilon", "loss", "momentum")))


def test_a_bug_behind_another_is_found() -> None:
    """On a later rung, which fails all the same as soon as the first one is gone."""
    bugs = {"epsilon": {("fingerprint", 0): 1e5}, "rate": {("steps", 2): 5.0}}
    trial = Program(bugs, hidden={"rate": "epsilon"}).find("loss", "rate", "epsilon")

    assert ("found", ["epsilon", "rate"]) == (trial.outcome, texts(trial))


def test_what_is_not_needed_is_left_out() -> None:
    """A change that makes the difference smaller by itself, and that nothing needs once the bug is gone."""
    program = Program({"epsilon": {("step", 0): 1e6, ("step", 1): 1e6}})
    attempt = program.attempt

    def smaller(gone: Sequence[str], rung: str | None) -> Attempt:
        found = attempt(gone, rung)
        if "scale" in gone and "epsilon" not in gone:
            return replace(found, report=report([{("step", 0): 1.5, ("step", 1): 1e6}], rung))
        return found

    program.attempt = smaller  # type: ignore[method-assign]
    trial = program.find("scale", "one", "two", "three", "epsilon")

    assert ("found", ["epsilon"]) == (trial.outcome, texts(trial))


def test_the_change_that_helps_most_is_kept() -> None:
    """Both make it smaller; one of them leaves a hundredth of what the other one leaves."""
    bugs = {"epsilon": {("step", 0): 1e8}, "rate": {("step", 0): 10.0}}
    trial = Program(bugs).find("rate", "epsilon")

    assert "epsilon" == texts(trial)[0]


def test_what_helps_a_little_is_kept_when_nothing_soon_surpasses_it() -> None:
    """What else is to be tried follows from what then differs."""
    program = Program({"first": {("step", 0): 10.0}, "second": {("step", 0): 1e5}})

    def propose(attempt: Attempt) -> list[Proposal]:
        assert attempt.report is not None
        both = len(attempt.report.rung("step").failures) == 2
        names = ["first", *(f"useless {number}" for number in range(40))] if both else ["second"]
        return [proposal(name, 1.0 - 0.01 * at) for at, name in enumerate(names)]

    trial = find(program.attempt([], None), propose, program.run, Effort(30, 1e9))

    assert ("found", ["first", "second"]) == (trial.outcome, texts(trial))
    assert trial.runs <= 20


def test_changes_that_make_something_else_differ_are_not_kept() -> None:
    """Earlier than before, however much agrees later."""
    program = Program({"rate": {("steps", 1): 1e5}}, harmful={"loss": {("steps", 0): 2.0}, "rate": {("steps", 2): 2.0}})
    trial = program.find("loss", "rate")

    assert ("closer", ["rate"]) == (trial.outcome, texts(trial))
    assert "rung 7 still fails" in trial.left
    assert "worse" == trial.tried[0].effect


def test_what_cannot_be_run_or_is_not_reached_is_said() -> None:
    """And ends nothing."""
    program = Program({"rate": {("step", 0): 9.0}}, unreached=["loss"], broken=["padding"])
    trial = program.find("loss", "padding", "other")

    assert "not found" == trial.outcome
    assert ["nothing: the program does not come there", "it could not be run: the side ended early", "no change"] == [
        one.effect for one in trial.tried
    ]


@pytest.mark.parametrize("budget", [1, 2, 5])
def test_no_more_runs_are_made_than_are_allowed(budget: int) -> None:
    """It says that this is why it ended."""
    program = Program({"rate": {("step", 0): 9.0}})
    trial = program.find(*(f"change {number}" for number in range(40)), budget=budget)

    assert (budget, budget) == (trial.runs, len(program.runs) - 1)
    assert f"{budget} runs are used up" == trial.left


def test_the_time_ends_a_search() -> None:
    """Between two waves."""
    program = Program({"rate": {("step", 0): 9.0}})
    ticks = iter(range(0, 1000, 40))
    effort = Effort(30, 100.0, clock=lambda: float(next(ticks)))
    trial = find(program.attempt([], None), lambda attempt: [proposal("a"), proposal("b")], program.run, effort)

    assert "not found" == trial.outcome
    assert effort.used < 30


@pytest.mark.parametrize("changes", [1, 3, 8, 20, 40])
def test_an_attempt_is_removed_when_it_is_judged(changes: int) -> None:
    """All but the best so far and that which it is compared with, however many there are."""
    bugs = {"last": {("fingerprint", 0): 1e5}, "change 0": {("steps", 0): 1e4}}
    program = Program(bugs)
    trial = program.find(*(f"change {number}" for number in range(changes)), "last", budget=60)

    assert "found" == trial.outcome
    assert program.most <= 6 + 2
    assert len(program.kept) <= 1


def test_no_more_is_begun_than_there_is_time_for() -> None:
    """By what the runs before took; one is begun in any case, as long as there is time at all."""
    now = [0.0]
    effort = Effort(30, 100.0, clock=lambda: now[0])
    waves = [effort.wave(6)]
    for used, spent in ((3, 30.0), (6, 60.0), (9, 90.0), (9, 99.0), (9, 101.0), (30, 10.0)):
        effort.used, now[0] = used, spent
        waves.append(effort.wave(6))

    assert [6, 6, 4, 1, 1, 0, 0] == waves


def test_a_change_with_which_the_program_ends_early_is_said_to() -> None:
    """Not that the program did not come there, though it never told of it."""
    program = Program({"rate": {("steps", 1): 1e5}})
    attempt = program.attempt

    def ending(gone: Sequence[str], rung: str | None) -> Attempt:
        found = attempt(gone, rung)
        if "loss" not in gone or found.report is None:
            return found
        sides = tuple(replace(side, cause="out of memory") for side in found.report.sides)
        return replace(found, report=replace(found.report, sides=sides), applied=frozenset())

    program.attempt = ending  # type: ignore[method-assign]
    trial = program.find("loss", "rate")

    assert "the program ended early: out of memory" == trial.tried[0].effect
    assert ["rate"] == texts(trial)


def test_an_equal_pair_needs_no_cause_and_no_run() -> None:
    """A pair that cannot be compared is not tried."""
    program = Program({})
    trial = program.find("rate")
    broken = find(Attempt(None, None), lambda attempt: [proposal("rate")], program.run, Effort(30, 1e9))

    assert ("none needed", 0) == (trial.outcome, trial.runs)
    assert ("not tried", 0) == (broken.outcome, broken.runs)
    assert [0] == program.runs


def test_the_first_difference_counts_most() -> None:
    """What differs later may grow, and what differs by as much is no change."""
    assert closer({1: 5.0}, {0: 5.0}) > 0
    assert closer({0: 2.0, 1: 50.0}, {0: 5.0, 1: 5.0}) > 0
    assert closer({0: 5.2}, {0: 5.0}) == 0
    assert closer({0: 9.0}, {0: 5.0, 1: 5.0}) < 0
    assert closer(None, {0: 5.0}) < 0 < closer({0: 5.0}, None)


def test_a_value_that_cannot_be_compared_counts_more_than_any_number() -> None:
    """NaN among them."""
    amount = {
        name: amounts(Attempt(replace(report([]), rungs=(rung,)), None), "step")
        for name, check in (
            ("far", deviation("x", 0, 1e30)),
            ("lost", deviation("x", 0, math.nan, "only on TF1")),
            ("infinite", deviation("x", 0, math.inf)),
        )
        for rung in [Rung("6", "step", "step", Status.FAIL, "", checks=(replace(check, passed=False),))]
    }

    assert amount["lost"] == amount["infinite"] == {0: 14.0}
    assert {0: 13.0} == amount["far"]


def test_causes_are_marked() -> None:
    """What was found is, and what everything agrees without is refuted; where nothing is found, nothing is."""
    causes = tuple(Cause(kind, 0.5, ()) for kind in ("epsilon", "rate", "inputs"))
    trial = Program({"epsilon": {("step", 0): 100.0}}).find("epsilon", "rate")
    lost = Program({"inputs": {("step", 0): 100.0}}).find("epsilon", "rate")

    def tried(trial: Trial) -> list[str]:
        return [cause.tried for cause in marked(replace(report([]), causes=causes), trial).causes]

    assert ["found", "refuted", "refuted"] == tried(trial)
    assert ["", "", ""] == tried(lost)



TRIALS = {
    "found": Trial("found", (Change("forward", "`Norm(epsilon=1)`: give epsilon=2", ("new.py", 3), 2),), 7),
    "closer": Trial("closer", (Change("loss", "`tf.reduce_sum`: use tf.reduce_mean", None),), 30, left="no runs left"),
    "none": Trial("none needed"),
}
WORDS = {
    "found": ["The cause, found by trying", "give epsilon=2 at new.py:3 and 1 more line alike", "rungs agree (7 runs)"],
    "closer": ["A part of the cause, found by trying", "use tf.reduce_mean", "no runs left (30 runs)"],
    "none": ["none needed"],
}


@pytest.mark.parametrize("name", TRIALS)
@pytest.mark.parametrize("form", ["text", "html"])
def test_what_was_found_is_shown(name: str, form: str) -> None:
    """In text and on the page, in the same words."""
    shown = render(form, replace(report([]), trial=TRIALS[name]))

    assert [] == [words for words in WORDS[name] if words not in shown]


def test_planted_bugs_are_shown() -> None:
    """Each with the rung that caught it, or with how many steps it would be caught."""
    change = [Change("loss", f"bug {number}", ("new.py", number)) for number in range(3)]
    planted = (Planted(change[0], "3f", 0, 3), Planted(change[1], "7", 5, 8), Planted(change[2], "", 0, 20))
    shown = render("text", replace(report([]), self_test=SelfTest(planted, 3, 9, 1.0, ("bug 9: 30 runs are used up",))))

    assert [
        "Planted bugs: 1 of 3 caught with 3 steps (9 runs)",
        "  caught on rung 3f: bug 0 at new.py:0",
        "  --steps 8 would catch it on rung 7, step 5: bug 1 at new.py:1",
        "  not caught with 20 steps: bug 2 at new.py:2",
        "  not planted: bug 9: 30 runs are used up",
    ] == shown[shown.index("Planted") :].splitlines()[:5]


def test_what_was_found_can_be_read_back() -> None:
    """From JSON, in every format."""
    planted = SelfTest((Planted(Change("loss", "bug", None), "6", 1, 3),), 3)
    whole = replace(report([]), trial=TRIALS["found"], self_test=planted)
    read = Report.from_json(whole.to_json())

    assert (whole.trial, whole.self_test) == (read.trial, read.self_test)
    assert all(render(form, read) == render(form, whole) for form in FORMATS)
