"""TF631: the cosine of this line in Keras, and in TF1."""

from __future__ import annotations

from typing import Any

from ..functions import bound, compare_calls
from ..functions import judge_calls as judge
from ..phases import Phase
from ..run import Judgement, Run, StaticFinding

__all__ = ["judge", "snapshot"]


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    import tensorflow as tf

    similarity, distance = tf.keras.losses.cosine_similarity, tf.compat.v1.losses.cosine_distance

    def of_distance(*args: Any, **kwargs: Any) -> Any:
        given = bound(distance, args, kwargs)
        axis = given.get("axis", given.get("dim", -1))
        return tf.reduce_mean(similarity(given["labels"], given["predictions"], axis=axis))

    def of_tf1(*args: Any, **kwargs: Any) -> Any:
        return -similarity(*args, **kwargs)

    if finding.called == "cosine_distance":
        return compare_calls(finding, run, phase, of_distance, distance)
    if finding.called == "cosine_similarity":
        return compare_calls(finding, run, phase, similarity, of_tf1)
    return None
