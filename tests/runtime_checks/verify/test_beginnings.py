"""Weights that one initializer of Keras gives the same numbers are no weights of one distribution."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, run

from ...interpreters import Children
from .test_guides import need
from .workers import in_children

pytestmark = pytest.mark.tensorflow

PAIRS = Path(__file__).parent / "beginnings.py"


def verified(name: str, target: str, children: Children) -> Report:
    need(target)
    with in_children(children):
        return run(Request(f"{PAIRS}:{name}", target=Target(target), until="step", steps=1))


@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_weights_that_begin_alike_on_one_side_are_named(target: str, children: Children) -> None:
    """By the layers that share the initializer, of which TF1's draws for each."""
    report = verified("shared", target, children)
    cause = report.causes[0]

    assert ["random"] == [rung.name for rung in report.rungs if rung.status is Status.FAIL]
    assert "randomness" == cause.kind
    told = re.sub(r"sequential\w*/", "", cause.evidence[0])
    assert "On TF2 two/kernel begin with the numbers of one/kernel, and not on TF1" in told
    assert not any("no noise was measured" in note for rung in report.rungs for note in rung.notes)


@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", ["apart", "seeded", "copied"])
def test_nothing_is_said_of_others(name: str, target: str, children: Children) -> None:
    """One initializer each, one seed for both sides' weights, and a network that is a copy."""
    report = verified(name, target, children)

    assert [] == [rung.name for rung in report.rungs if rung.status is Status.FAIL], report


@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_what_the_call_draws_that_builds_a_model_is_not_of_inference(target: str, children: Children) -> None:
    """The draws of the pass that is compared have the numbers of TF1's."""
    need(target)
    with in_children(children):
        report = run(Request(f"{PAIRS}:drawn", target=Target(target), until="random"))

    assert [] == [rung.name for rung in report.rungs if rung.status is Status.FAIL], report
    assert Status.PASS is report.rung("random").status
