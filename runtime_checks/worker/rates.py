"""The learning rates of the optimizers of Keras that a line makes."""

from __future__ import annotations

from typing import Any

from .at_line import settle
from .recorder import Event
from .run import FAILED, REFUTED, Judgement, Run, StaticFinding

__all__ = ["keras_optimizers", "living", "none_seen", "rate_now", "same", "steps_of"]


def keras_optimizers(finding: StaticFinding, run: Run) -> list[Event]:
    """The constructions of optimizers of Keras at a finding's statement."""
    import tensorflow as tf

    old = tf.compat.v1.train.Optimizer
    made = [event for event in run.events_at(finding, "stateful") if event.detail["what"] == "optimizer"]
    return [event for event in made if not issubclass(event.detail["type"], old)]


def living(finding: StaticFinding, run: Run) -> list[tuple[Event, Any]]:
    """Those that are there and have a learning rate, which one whose constructor raised has not."""
    made = [(event, event.subject()) for event in keras_optimizers(finding, run)]
    return [(event, one) for event, one in made if one is not None and _has_rate(one)]


def _has_rate(optimizer: Any) -> bool:
    """Those of ``tf.keras.optimizers.legacy`` keep it elsewhere."""
    return "_learning_rate" in vars(optimizer) or "learning_rate" in vars(optimizer).get("_hyper", {})


def none_seen(finding: StaticFinding, run: Run) -> Judgement:
    """The verdict where the line made no optimizer that is still there."""
    settled = settle(finding, run, "the line ran, and made no optimizer of Keras")
    if settled.verdict == REFUTED and keras_optimizers(finding, run):
        return Judgement(FAILED, settled.phase, "the optimizer was gone before its learning rate could be read")
    return settled


def rate_now(optimizer: Any) -> float:
    """What its next step is multiplied by; a function that the program gave is called."""
    rate = optimizer.learning_rate
    if hasattr(rate, "get_config") and callable(rate):
        rate = rate(optimizer.iterations)
    return float(rate() if callable(rate) else rate)


def steps_of(optimizer: Any) -> int:
    """How many steps it took."""
    return int(optimizer.iterations)


def same(one: float, other: float) -> bool:
    """Whether two rates are equal in float32."""
    return abs(one - other) <= 1e-6 * max(abs(one), abs(other))
