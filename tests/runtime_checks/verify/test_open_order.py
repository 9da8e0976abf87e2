"""Averages that TF1 moves several times a step, in an order that chance decides, fail no right port."""

from __future__ import annotations

from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, run

from ...interpreters import Children
from .test_guides import need
from .workers import in_children

PAIRS = Path(__file__).parent / "open_order.py"

pytestmark = pytest.mark.tensorflow


def verified(name: str, target: str, children: Children) -> Report:
    need(target)
    with in_children(children):
        return run(Request(f"{PAIRS}:{name}", target=Target(target), until="steps", steps=3))


@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_either_order_is_right(target: str, children: Children) -> None:
    """TF1 has one of them, or reads both times what was there before: what that is not is told."""
    reports = [verified(name, target, children) for name in ("forwards", "backwards")]

    assert [0, 0] == [report.status for report in reports], [report.rungs for report in reports]
    told = [text for report in reports for text in report.not_compared if "its graph leaves open" in text]
    assert told and all("norm/moving_mean" in text for text in told)


def test_another_momentum_is_no_other_order(children: Children) -> None:
    report = verified("other_momentum", "keras3", children)

    assert Status.FAIL is report.rung("step").status
    assert "moving statistics" == report.causes[0].kind


@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_what_is_computed_before_a_step_moves_nothing(target: str, children: Children) -> None:
    """A loss that is read in a run of its own moves averages in place: they are put back."""
    reports = [verified(name, target, children) for name in ("moved_once", "moved_less")]

    assert [[], ["6", "7"]] == [
        [rung.number for rung in report.rungs if rung.status is Status.FAIL and rung.number in ("6", "7")]
        for report in reports
    ], str(reports[0])
    assert "0.5 times as much" in str(reports[1])


def test_weights_that_a_step_changes_in_no_order_are_named(children: Children) -> None:
    """One run trains and clips them, and the other side has one order of its own."""
    cause = verified("never_clipped", "keras3", children).causes[0]
    told = [text for text in cause.evidence if "several times, in an order that its graph leaves open" in text]

    assert ("update rule", 1) == (cause.kind, len(told)), cause
    assert told[0].startswith("A step of TF1 changes norm/")


@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_a_function_that_takes_a_weight_changes_nothing(target: str, children: Children) -> None:
    """Two calls of one have no order, and need none."""
    assert "in an order that its graph leaves open" not in str(verified("functions", target, children))
