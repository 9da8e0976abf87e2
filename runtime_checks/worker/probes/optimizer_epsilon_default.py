"""TF602: whether the epsilon of Keras makes other steps of the gradients of this model."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..phases import Phase
from ..run import Judgement, Run, StaticFinding
from ..updates import Rules, number, updates_of
from ..updates import judge_updates as judge

__all__ = ["judge", "snapshot"]

_OF_KERAS = 1e-7


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    return updates_of(finding, run, _rules) if phase is None else None


def _rules(optimizer: Any) -> Rules:
    adam = hasattr(optimizer, "_beta1")
    rule = _adam if adam else _adadelta
    epsilon = number(optimizer, "_epsilon")
    name = "tf.keras.optimizers." + ("Adam" if adam else "Adadelta")
    return Rules(lambda g: rule(optimizer, g, epsilon), lambda g: rule(optimizer, g, _OF_KERAS), name)


def _adam(optimizer: Any, gradient: Any, epsilon: float) -> Iterator[Any]:
    rate, beta1, beta2 = number(optimizer, "_lr"), number(optimizer, "_beta1"), number(optimizer, "_beta2")
    mean, square, step = 0.0 * gradient, 0.0 * gradient, 0
    while True:
        step += 1
        mean = beta1 * mean + (1 - beta1) * gradient
        square = beta2 * square + (1 - beta2) * gradient**2
        yield rate * np.sqrt(1 - beta2**step) / (1 - beta1**step) * mean / (np.sqrt(square) + epsilon)


def _adadelta(optimizer: Any, gradient: Any, epsilon: float) -> Iterator[Any]:
    rate, rho = number(optimizer, "_lr"), number(optimizer, "_rho")
    squares, moves = 0.0 * gradient, 0.0 * gradient
    while True:
        squares = rho * squares + (1 - rho) * gradient**2
        move = np.sqrt(moves + epsilon) / np.sqrt(squares + epsilon) * gradient
        moves = rho * moves + (1 - rho) * move**2
        yield rate * move
