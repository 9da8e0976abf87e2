"""TF217: whether a `tf.function` that calls itself is traced without end."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the call ended at the limit of the recursion."""
    return raises(finding, run, "recursion depth", "the line ran, and the recursion came to its end")
