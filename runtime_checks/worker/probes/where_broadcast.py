"""TF619: what TF1 chose with the condition of this line, and what is chosen now."""

from __future__ import annotations

from ..functions import compare_calls
from ..functions import judge_calls as judge
from ..phases import Phase
from ..run import Judgement, Run, StaticFinding

__all__ = ["judge", "snapshot"]


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    import tensorflow as tf

    return compare_calls(finding, run, phase, tf.where, tf.compat.v1.where)
