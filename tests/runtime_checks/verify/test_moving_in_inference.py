"""A program may move its averages in inference: what TF2 begins with is read before that, where TF1 does so, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, run

from ...interpreters import Children
from .test_guides import need
from .workers import in_children

pytestmark = pytest.mark.tensorflow

PAIRS = Path(__file__).parent / "moving_in_inference.py"


@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize(("name", "failed"), [("both", []), ("alone", ["4"]), ("elsewhere", ["4"])])
def test_averages_that_inference_moves(name: str, failed: list[str], target: str, children: Children) -> None:
    """On both sides they are no other initial values; on TF2 alone, and where they begin elsewhere, they are."""
    need(target)
    with in_children(children):
        report = run(Request(f"{PAIRS}:{name}", target=Target(target), until="random", steps=1))

    by_values = [rung.number for rung in report.rungs if rung.status is Status.FAIL and rung.number != "2"]
    assert failed == by_values
    assert "put back before initial values were read" in str(report)
    moves = [cause.evidence[0] for cause in report.causes if cause.kind == "training mode"]
    told = "Inference of TF2 changes moving/mean, as with training=True, and that of TF1 does not."
    assert moves == ([told] if name == "alone" else [])
