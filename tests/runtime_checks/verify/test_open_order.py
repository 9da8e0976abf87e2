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
