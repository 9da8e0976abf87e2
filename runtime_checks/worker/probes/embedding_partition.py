"""TF621: which rows the identifiers of this line find, in shards that are dealt out in turn and in others."""

from __future__ import annotations

from ..functions import compare_calls
from ..functions import judge_calls as judge
from ..phases import Phase
from ..run import Judgement, Run, StaticFinding

__all__ = ["judge", "snapshot"]


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    import tensorflow as tf

    now, before = (getattr(module, finding.called, None) for module in (tf.nn, tf.compat.v1.nn))
    return None if now is None or before is None else compare_calls(finding, run, phase, now, before)
