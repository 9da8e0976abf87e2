"""No shape of code costs more than 2.6 times as much when there is twice as much of it, up to 4,000."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .growth import BOUND, predicted
from .shapes import SHAPES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="each measurement is made in a copy of a warm process"),
]


@pytest.fixture(scope="module")
def counts() -> dict[str, list[int]]:
    """What each shape costs, in executed lines, at a small size, twice that and four times that."""
    made = subprocess.run(
        [sys.executable, "-m", "tests.hardening.growth"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert 0 == made.returncode, made.stderr
    found: dict[str, list[int]] = json.loads(made.stdout)
    return found


@pytest.mark.parametrize("name", sorted(name for name, shape in SHAPES.items() if shape.is_counted))
def test_cost_grows_no_faster_than_the_code(name: str, counts: dict[str, list[int]]) -> None:
    """By the parabola through three sizes."""
    assert all(counts[name]), "linting it failed"
    assert BOUND >= predicted(name, counts[name])


def test_a_square_is_noticed_at_small_sizes() -> None:
    """A loop of five lines within each part, over all parts, beside 1,000 lines that each part costs."""
    costs = [7_000 + 1_000 * n + 5 * n * n for n in (40, 80, 160)]

    assert 3.8 < predicted("layers", costs)


def test_a_line_is_none() -> None:
    """Twice as much costs twice as much."""
    assert pytest.approx(2.0, abs=0.01) == predicted("layers", [7_000 + 1_000 * n for n in (40, 80, 160)])
