"""The table of rungs: what each module of the folder says of itself, and what is recorded for it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from migrate_lint.runtime_checks.comparison.rungs import RUNGS, Definition, reached
from migrate_lint.runtime_checks.planning import plan, rest
from migrate_lint.runtime_checks.worker.recording.format import scenarios

KNOWN = {getattr(scenarios, name) for name in scenarios.__all__}


@pytest.mark.parametrize("rung", [pytest.param(rung, id=rung.name) for rung in RUNGS])
def test_a_rung_says_what_it_is_and_what_it_needs(rung: Definition) -> None:
    """In words that fit into a line of a report and a row of the documentation, and in known scenarios."""
    needed = rung.module().SCENARIOS

    assert re.fullmatch(r"\d+[a-z]?", rung.number)
    assert all(re.fullmatch(r"[^\n|]+[^\n|.]", text) for text in (rung.title, rung.compared))
    assert {*needed, *(run for runs in needed.values() for run in runs)} <= KNOWN
    assert callable(rung.module().judge)


def test_no_rung_takes_the_place_of_another() -> None:
    """Numbers and names are unique; ``--until`` takes either."""
    words = [word for rung in RUNGS for word in (rung.number, rung.name)]

    assert len(words) == len(set(words))
    assert [(rung, rung) for rung in RUNGS] == [(reached(rung.name)[-1], reached(rung.number)[-1]) for rung in RUNGS]


def test_the_order_is_that_of_the_numbers() -> None:
    """A letter comes after the number alone, and before the next number."""
    assert ["0", "1", "2", "3", "3f", "4"] == [rung.number for rung in reached("random")]
    assert RUNGS == reached(None)


def test_the_noise_is_recorded_where_it_is_measured() -> None:
    """Beside the scenario whose noise it is; a policy that needs none runs only what tells noise from the rest."""
    measured = plan("fingerprint", noise=True, steps=3, seed=42)
    other = plan("fingerprint", noise=False, steps=3, seed=42)

    assert {scenarios.FINGERPRINT_AGAIN} == {*measured.scenarios} - {*other.scenarios}
    assert scenarios.FINGERPRINT_NUDGED in other.scenarios


@pytest.mark.parametrize("noise", [True, False])
def test_a_brief_run_and_the_rest_are_the_whole(noise: bool) -> None:
    """What only explains a difference comes second, with the passes of which it tells the operations."""
    brief, whole = (plan(None, noise=noise, steps=3, seed=42, brief=brief) for brief in (True, False))
    second = rest(brief, whole)

    assert {*whole.scenarios} == {*brief.scenarios, *second.scenarios}
    assert {scenarios.STEPS, *scenarios.WITH_OPERATIONS} <= {*brief.scenarios} & {*second.scenarios}
    assert noise == (scenarios.STEPS_NUDGED in brief.scenarios)
    assert scenarios.STEPS_AGAIN not in brief.scenarios
    assert (False, True) == (brief.operations, second.operations)


def test_one_step_is_run_for_the_rung_of_one_step() -> None:
    """However many are asked for."""
    assert [1, 5] == [plan(until, noise=False, steps=5, seed=42).steps for until in ("step", "steps")]


def test_who_asks_for_help_needs_no_numpy() -> None:
    """The list of rungs is read off their sources."""
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "from migrate_lint.linter.cli.main import main\n"
        "raise SystemExit(main(['verify', '--help']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stderr
    assert ", ".join(rung.name for rung in RUNGS) in " ".join(done.stdout.split())
