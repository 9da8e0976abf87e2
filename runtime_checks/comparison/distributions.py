"""Whether initial values that were drawn from different generators come from the same distribution.

Two tests need no assumption of the distribution: that of Kolmogorov and Smirnov for two samples, and whether too many
values of one side lie beyond all values of the other, which tells bounded distributions from wider ones. Where there
are 200 values or more, mean and variance are compared as well (as normal quantities, with the variance of the variance
from the fourth moment). All ask for a probability below 1e-8, divided by the number of variables, so that no false
alarm is to be expected.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["ALPHA", "FEWEST", "difference"]

ALPHA = 1e-8
FEWEST = 50
"""Values of a side below which nothing can be told."""

_ENOUGH = 200


def difference(tf1: Any, tf2: Any, alpha: float = ALPHA) -> str | None:
    """Say in what two samples differ; empty if nothing was found, None if they are too small to tell.

    Args:
        tf1: numbers, drawn again and again from the initializer of a variable.
        tf2: likewise.
        alpha: the probability of a false alarm.
    """
    first, second = np.sort(tf1.reshape(-1).astype(np.float64)), np.sort(tf2.reshape(-1).astype(np.float64))
    if not first.size or not second.size:
        return None
    if not (np.all(np.isfinite(first)) and np.all(np.isfinite(second))):
        return "initial values are not finite"
    constants = [value[0] == value[-1] for value in (first, second)]
    if all(constants) or (any(constants) and min(first.size, second.size) > 1):
        return "" if all(constants) and first[0] == second[0] else f"{_words(first)} against {_words(second)}"
    if min(first.size, second.size) < FEWEST:
        return None
    probability = min(_kolmogorov(first, second), _beyond(first, second), _beyond(-second[::-1], -first[::-1]))
    probability = min(probability, _beyond(second, first), _beyond(-first[::-1], -second[::-1]))
    if min(first.size, second.size) >= _ENOUGH:
        probability = min(probability, _moments(first, second))
    return f"{_words(first)} against {_words(second)}" if probability < alpha else ""


def _kolmogorov(first: Any, second: Any) -> float:
    """The probability of so large a distance between the empirical distributions (asymptotic)."""
    everything = np.concatenate([first, second])
    below = np.searchsorted(first, everything, side="right") / first.size
    other = np.searchsorted(second, everything, side="right") / second.size
    root = math.sqrt(first.size * second.size / (first.size + second.size))
    scaled = (root + 0.12 + 0.11 / root) * float(np.max(np.abs(below - other)))
    if scaled < 0.3:
        return 1.0
    terms = (2.0 * (-1.0) ** (k - 1) * math.exp(-2.0 * (k * scaled) ** 2) for k in range(1, 101))
    return min(1.0, max(0.0, sum(terms)))


def _beyond(first: Any, second: Any) -> float:
    """The probability that so many of the largest values of both are all of the second sample."""
    count = second.size - int(np.searchsorted(second, first[-1], side="right"))
    return math.exp(count * math.log(second.size / (first.size + second.size)))


def _moments(first: Any, second: Any) -> float:
    """The probability of so different means or variances."""
    variances = [float(np.var(sample)) for sample in (first, second)]
    noise = sum(variance / sample.size for variance, sample in zip(variances, (first, second), strict=True))
    mean = abs(float(np.mean(first)) - float(np.mean(second))) / math.sqrt(noise)
    spread = sum(
        (float(np.mean((sample - np.mean(sample)) ** 4)) / variance**2 - 1.0) / sample.size
        for variance, sample in zip(variances, (first, second), strict=True)
    )
    ratio = abs(math.log(variances[0] / variances[1])) / math.sqrt(max(spread, 1e-300))
    return math.erfc(max(mean, ratio) / math.sqrt(2.0))


def _words(sample: Any) -> str:
    if sample[0] == sample[-1]:
        return f"always {sample[0]:.4g}"
    deviation = float(np.std(sample))
    return f"mean {np.mean(sample):.4g}, deviation {deviation:.4g}, {sample[0]:.4g} to {sample[-1]:.4g}"
