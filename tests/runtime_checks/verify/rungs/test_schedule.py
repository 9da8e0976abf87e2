"""Learning rates at steps that are not run: where recorders look, and what is compared of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.values import schedules

from .test_settings import judged, recorded

__all__ = ["recorded"]

Rate = Callable[[int], float]


def pieces(*boundaries: int) -> Rate:
    return lambda step: 0.1 * 0.5 ** sum(step >= boundary for boundary in boundaries)


def falling(until: int, end: float = 0.0) -> Rate:
    return lambda step: end + (0.1 - end) * (1.0 - min(step, until) / until)


OTHER = {
    "a boundary": (pieces(1000), pieces(), 1000),
    "one that is one step off": (pieces(70_001), pieces(70_000), 70_000),
    "the second of two": (pieces(20, 500), pieces(20, 501), 500),
    "the end": (falling(5000), falling(5000, 0.01), 1),
    "when it ends": (lambda step: max(0.0, 0.1 - step * 1e-5), lambda step: max(0.002, 0.1 - step * 1e-5), 9801),
    "from the beginning": (lambda step: 0.1, lambda step: 0.2, 0),
}
SAME = {
    "constant": (pieces(), pieces()),
    "pieces": (pieces(7, 77, 777), pieces(7, 77, 777)),
    "falling": (falling(5000), falling(5000)),
    "rounded": (falling(5000), lambda step: falling(5000)(step) * (1 + 1e-6)),
    "beyond what is finite": (lambda step: 1e200 * 10.0 ** min(step, 300), lambda step: 1e200 * 10.0 ** min(step, 300)),
}


@pytest.mark.parametrize("name", OTHER)
def test_the_first_step_that_differs_is_found(recorded: tuple[Path, Path], name: str) -> None:
    """Also where a jump lies between the steps that are looked at."""
    one, two, step = OTHER[name]
    sides = [{"rates": [schedules.sampled("learning_rate", rate)]} for rate in (one, two)]
    report = judged(recorded, *sides)
    found = report.rung("schedule").failures[0].step

    assert Status.FAIL is report.rung("schedule").status
    assert step <= found <= max(step, step * 1.03)
    assert f"at step {found}" in report.causes[0].evidence[0]


@pytest.mark.parametrize("name", SAME)
def test_the_same_rates_pass(recorded: tuple[Path, Path], name: str) -> None:
    """Up to rounding."""
    sides = [{"rates": [schedules.sampled("learning_rate", rate)]} for rate in SAME[name]]

    assert Status.PASS is judged(recorded, *sides).rung("schedule").status


def test_a_rate_between_two_equal_ones_is_known(recorded: tuple[Path, Path]) -> None:
    """A side that has looked nowhere near a jump of the other one is compared there."""
    sides = [schedules.constant("learning_rate", 0.1), schedules.sampled("learning_rate", pieces(4321))]
    report = judged(recorded, {"rates": [sides[0]]}, {"rates": [sides[1]]})

    assert 4321 == report.rung("schedule").failures[0].step


def test_what_is_unknown_is_told(recorded: tuple[Path, Path]) -> None:
    """And compared no further."""
    known, other = schedules.constant("learning_rate", 0.1), schedules.unknown("learning_rate", "nobody knows")
    report = judged(recorded, {"rates": [known]}, {"rates": [other]})

    assert (Status.NOT_RUN, 0) == (report.rung("schedule").status, report.status)
    assert any("TF2: nobody knows" in one for one in report.not_compared)


def test_looking_ahead_is_cheap() -> None:
    """Whatever a schedule does, a few hundred steps are looked at."""
    shapes: list[Rate] = [pieces(), falling(5000), lambda step: 0.1 / (1 + step), pieces(*range(50, 10**6, 50))]

    assert all(len(schedules.sampled("rate", shape)["steps"]) < 1000 for shape in shapes)
