"""TF611: what the weighted loss of this line is if it is divided by the size of the batch, as Keras does."""

from __future__ import annotations

from typing import Any

from ..functions import compare_calls
from ..functions import judge_calls as judge
from ..phases import Phase
from ..run import Judgement, Run, StaticFinding

__all__ = ["judge", "snapshot"]


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    import tensorflow as tf

    losses = tf.compat.v1.losses
    loss = getattr(losses, finding.called, None)
    if loss is None:
        return None

    def now(*args: Any, **kwargs: Any) -> Any:
        return loss(*args, **dict(kwargs, reduction=losses.Reduction.SUM_OVER_BATCH_SIZE))

    return compare_calls(finding, run, phase, now, loss)
