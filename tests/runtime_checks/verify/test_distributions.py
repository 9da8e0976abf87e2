"""Initial values of two generators: the same distribution, or another one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.distributions import difference

SIZE = 4096


def normal(seed: int, scale: float = 0.1, size: int = SIZE) -> Any:
    return np.random.default_rng(seed).normal(0, scale, size).astype(np.float32)


def uniform(seed: int, limit: float) -> Any:
    return np.random.default_rng(seed).uniform(-limit, limit, SIZE).astype(np.float32)


def truncated(seed: int, scale: float = 0.1) -> Any:
    """Normal values within two deviations, scaled to the wanted one, as variance scaling draws them."""
    values = np.random.default_rng(seed).normal(0, 1, 4 * SIZE)
    return (values[np.abs(values) < 2][:SIZE] * scale / 0.87962566).astype(np.float32)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (normal(1), normal(2, 0.12)),
        (normal(1), normal(2) + 0.02),
        (uniform(1, 0.1 * 3**0.5), truncated(2)),
        (truncated(1), normal(2)),
        (uniform(1, 0.1), uniform(2, 0.12)),
        (np.zeros(5), np.ones(5)),
        (np.zeros(5), normal(1, size=5)),
    ],
    ids=["wider", "shifted", "uniform", "not truncated", "wider bounds", "constants", "constant and random"],
)
def test_another_distribution_is_seen(one: Any, other: Any) -> None:
    """From either side, with what both look like."""
    assert "against" in str(difference(one, other))
    assert "against" in str(difference(other, one))


@pytest.mark.parametrize(
    "draw", [normal, truncated, lambda seed: uniform(seed, 1.0)], ids=["normal", "truncated", "uniform"]
)
def test_the_same_distribution_gives_no_alarm(draw: Any) -> None:
    """A hundred pairs, and far from the threshold: not even at a thousandth."""
    alarms = [difference(draw(2 * pair), draw(2 * pair + 1), 1e-5) for pair in range(100)]

    assert [""] * 100 == alarms


def test_equal_constants_are_the_same() -> None:
    """Biases and scales, of any size."""
    assert "" == difference(np.zeros(3), np.zeros(7))


def test_a_handful_of_values_tells_nothing() -> None:
    """None is not the same as no difference."""
    assert difference(normal(1, size=10), normal(2, 5.0, size=10)) is None
    assert difference(np.zeros(0), np.zeros(3)) is None
