"""Initial values are those before a pass changed them: a model may move its averages in inference, or when built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

PAIRS = Path(__file__).parent / "moving_at_first.py"
EITHER = pytest.mark.parametrize("target", ["keras2", "keras3"])
Verified = Callable[[str, str], Report]


@pytest.fixture(scope="module")
def verified(children: Children) -> Iterator[Verified]:
    """A pair up to its initial values, on a target."""

    def get(name: str, target: str) -> Report:
        need(target)
        return run(Request(f"{PAIRS}:{name}", target=Target(target), until="random", steps=1))

    with in_children(children):
        yield get


@EITHER
@pytest.mark.parametrize("name", ["in_inference", "as_it_is_built"])
def test_averages_that_have_moved_already_are_no_other_initial_values(
    name: str, target: str, verified: Verified
) -> None:
    """Whether inference moved them, or the call that builds the model; that one is told of."""
    report = verified(name, target)

    assert [] == [(rung.name, rung.detail) for rung in report.rungs if rung.status is Status.FAIL]
    told = "2 variables that are not trained, such as moving averages, got back what they had" in str(report)
    assert (name == "as_it_is_built") is told


@EITHER
@pytest.mark.parametrize("name", ["restored_in_build", "restored_behind"])
def test_averages_that_were_restored_are_initial_values(name: str, target: str, verified: Verified) -> None:
    """As the layer is built, or behind the call that built it."""
    report = verified(name, target)

    assert [] == [(rung.name, rung.detail) for rung in report.rungs if rung.status is Status.FAIL]


@EITHER
def test_averages_that_begin_elsewhere_are_told(target: str, verified: Verified) -> None:
    """That they are not those of TF1 is seen, though inference moves them, too."""
    report = verified("begun_elsewhere", target)

    assert ["random"] == [rung.name for rung in report.rungs if rung.status is Status.FAIL]
