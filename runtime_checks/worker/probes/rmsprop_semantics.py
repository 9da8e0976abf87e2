"""TF603: whether RMSprop of Keras takes other first steps with the gradients of this model."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..phases import Phase
from ..run import Judgement, Run, StaticFinding
from ..updates import Rules, number, updates_of
from ..updates import judge_updates as judge

__all__ = ["judge", "snapshot"]

_OF_TF1, _OF_KERAS = 1e-10, 1e-7


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    return updates_of(finding, run, _rules) if phase is None else None


def _rules(optimizer: Any) -> Rules:
    epsilon = number(optimizer, "_epsilon")
    of_keras = _OF_KERAS if epsilon == _OF_TF1 else epsilon
    return Rules(
        lambda g: _steps(optimizer, g, 1.0, epsilon),
        lambda g: _steps(optimizer, g, 0.0, of_keras),
        "tf.keras.optimizers.RMSprop",
    )


def _steps(optimizer: Any, gradient: Any, begin: float, epsilon: float) -> Iterator[Any]:
    rate, rho = number(optimizer, "_learning_rate"), number(optimizer, "_decay")
    momentum, centered = number(optimizer, "_momentum"), bool(getattr(optimizer, "_centered", False))
    squares, mean, move = 0.0 * gradient + begin, 0.0 * gradient, 0.0 * gradient
    while True:
        squares = rho * squares + (1 - rho) * gradient**2
        mean = rho * mean + (1 - rho) * gradient
        move = momentum * move + rate * gradient / np.sqrt(squares - centered * mean**2 + epsilon)
        yield move
