"""A model that is trained in inference mode, the commonest bug of a loop of one's own, is named as that."""

from __future__ import annotations

import re
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

PAIRS = Path(__file__).parent / "inference_mode.py"
UNTOLD = ("dropout", "norm", "both", "subclass", "method")
NOT_PASSED_ON = ("no_argument", "no_argument_norm")


Verified = Callable[[str, str], Report]


@pytest.fixture(scope="module")
def verified(children: Children) -> Iterator[Verified]:
    """The first training step of a pair, on a target."""

    def get(name: str, target: str) -> Report:
        need(target)
        return run(Request(f"{PAIRS}:{name}", target=Target(target), until="step", steps=1))

    with in_children(children):
        yield get


def failed(report: Report) -> list[str]:
    return [rung.name for rung in report.rungs if rung.status is Status.FAIL]


@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", UNTOLD)
def test_a_step_without_the_flag_is_named(name: str, target: str, verified: Verified) -> None:
    """Whatever would show it: numbers that are not drawn, statistics that do not move."""
    report = verified(name, target)
    cause = report.causes[0]

    assert ["step"] == failed(report)
    assert "training mode" == cause.kind
    assert cause.evidence[0].startswith("The first training step of TF2 ")
    assert re.search(r"as without training=True, where it is called at \S+\.py:\d+\.$", cause.evidence[0])


@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", NOT_PASSED_ON)
def test_a_model_that_makes_no_use_of_the_flag_is_named(name: str, target: str, verified: Verified) -> None:
    """Its training pass is its inference."""
    report = verified(name, target)

    assert ["random", "step"] == failed(report)
    assert "training mode" == report.causes[0].kind
    assert "In training TF2 computes everything that differs as in inference" in report.causes[0].evidence[0]


@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize(
    ("name", "side", "flag"), [("old", "TF1", "is_training=True"), ("new", "TF2", "training=True")]
)
def test_inference_by_the_batch_is_named(name: str, side: str, flag: str, target: str, verified: Verified) -> None:
    """One side normalizes by its batch where it infers, and the other one by its moving averages."""
    report = verified(f"by_batch_{name}", target)
    cause = report.causes[0]

    assert "training mode" == cause.kind
    assert cause.evidence[0].endswith(
        f"{side} reads no such average: it normalizes by its batch there, as with {flag}."
    )
    assert any("moving_mean" in text for text in cause.evidence)
    assert None not in (cause.tf1_place, cause.tf2_place)


@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", ["sound", "nothing_to_tell"])
def test_nothing_is_said_of_what_is_told_or_has_no_use_for_it(name: str, target: str, verified: Verified) -> None:
    """A model without such layers is the same in both modes."""
    report = verified(name, target)

    assert ([], ()) == (failed(report), report.causes)
