"""TF618: what `tf.image.resize` makes of the pictures of this line."""

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

    old = getattr(tf.compat.v1.image, finding.called, None)
    if old is None:
        return None

    def now(*args: Any, **kwargs: Any) -> Any:
        given = bound(old, args, kwargs)
        return tf.image.resize(given["images"], given["size"], _method(finding.called, given.get("method", 0)))

    return compare_calls(finding, run, phase, now, old)


def _method(called: str, number: Any) -> Any:
    """As TF2 names it; only TF1 numbers them."""
    named = called.rpartition("_")[2]
    return named if named != "images" else ("bilinear", "nearest", "bicubic", "area")[int(number)]
