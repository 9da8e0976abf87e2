"""Where TF1 draws numbers that nothing depends on, those that count are the same on both sides all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, run
from migrate_lint.runtime_checks.worker.recording.format.draws import counterparts

from ...interpreters import Children
from .test_guides import need
from .workers import in_children

PAIRS = Path(__file__).parent / "idle_draws.py"
Verified = Callable[[str, str], Report]


@pytest.fixture(scope="module")
def verified(children: Children) -> Iterator[Verified]:
    """The whole ladder of a pair, on a target."""

    def get(name: str, target: str) -> Report:
        need(target)
        return run(Request(f"{PAIRS}:{name}", target=Target(target), steps=2))

    with in_children(children):
        yield get


def failed(report: Report) -> list[str]:
    return [rung.name for rung in report.rungs if rung.status is Status.FAIL]


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", ["inference", "training", "early", "drawn_too", "pipeline"])
def test_what_one_side_draws_in_vain_shifts_no_other_number(name: str, target: str, verified: Verified) -> None:
    """In a filled model, with copied values, in training steps and in the inference after them."""
    report = verified(name, target)

    assert [] == failed(report), [(rung.name, rung.detail) for rung in report.rungs]
    assert {"fingerprint", "random", "step", "steps"} <= {
        rung.name for rung in report.rungs if rung.status is Status.PASS
    }


@pytest.mark.tensorflow
def test_what_a_dataset_draws_is_no_draw_of_the_network(children: Children) -> None:
    """Nor is anything told of it, and what is fed in its place is fed in float64 as well."""
    need("keras3")
    with in_children(children):
        report = run(Request(f"{PAIRS}:pipeline", target=Target("keras3"), steps=1, oracle=True))

    assert Status.PASS is report.rung("float64").status, report.rung("float64").detail
    assert not any("random numbers" in one for one in report.not_compared)


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
@pytest.mark.parametrize("name", ["louder", "kept_less"])
def test_noise_that_counts_is_not_passed_over(name: str, target: str, verified: Verified) -> None:
    """A noise of another scale, and a dropout of TF1 that does drop in inference and is missing on TF2."""
    assert "fingerprint" in failed(verified(name, target))


def draws(*told: str) -> list[Any]:
    """Draws by kind and size; those in capitals count, and others are idle."""
    return [
        {
            "op": one[0].lower(), "seed": at, "shape": [None, int(one[1:])] if one[1:] != "0" else [],
            "purpose": "step", "idle": one.islower(),
        }
        for at, one in enumerate(told)
    ]


@pytest.mark.parametrize(
    ("tf1", "tf2", "found"),
    [
        pytest.param(("U8", "N3"), ("U8", "N3"), [0, 1], id="alike"),
        pytest.param(("u8", "N3", "u8"), ("N3",), [1], id="what is idle is not drawn"),
        pytest.param(("u8", "U8"), ("U8",), [1], id="what is idle comes last"),
        pytest.param(("u8", "U8"), ("U8", "U8"), [0, 1], id="what is idle is drawn"),
        pytest.param(("U8", "N3"), ("N3", "U8"), [1, 0], id="another order"),
        pytest.param(("N3",), ("U8", "N3", "U9"), [1, 0, 3], id="more on TF2"),
        pytest.param((), ("U8", "N3"), [0, 1], id="nothing known of TF1"),
        pytest.param(("U0", "U8"), ("U8", "U0"), [1, 0], id="a single number in another place"),
    ],
)
def test_counterparts(tf1: tuple[str, ...], tf2: tuple[str, ...], found: list[int]) -> None:
    """By kind and shape, in order, no position twice."""
    assert found == counterparts(draws(*tf1), draws(*tf2))
