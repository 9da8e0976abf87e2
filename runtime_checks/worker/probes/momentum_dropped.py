"""TF626: how far SGD without momentum lags behind, with the gradients of this model."""

from __future__ import annotations

from typing import Any, Iterator

from ..phases import Phase
from ..run import Judgement, Run, StaticFinding
from ..updates import Rules, number, updates_of
from ..updates import judge_updates as judge

__all__ = ["judge", "snapshot"]


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    return updates_of(finding, run, _rules) if phase is None else None


def _rules(optimizer: Any) -> Rules:
    momentum = number(optimizer, "_momentum")
    return Rules(
        lambda g: _steps(optimizer, g, momentum), lambda g: _steps(optimizer, g, 0.0), "tf.keras.optimizers.SGD"
    )


def _steps(optimizer: Any, gradient: Any, momentum: float) -> Iterator[Any]:
    rate, nesterov = number(optimizer, "_learning_rate"), bool(getattr(optimizer, "_use_nesterov", False))
    gathered = 0.0 * gradient
    while True:
        gathered = momentum * gathered + gradient
        yield rate * (gradient + momentum * gathered if nesterov else gathered)
