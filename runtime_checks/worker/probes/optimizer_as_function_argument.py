"""TF215: whether a second optimizer makes the trace raise."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where applying gradients made variables in a later trace."""
    return raises(finding, run, "singleton tf.Variable", "the line ran, and every optimizer had its variables")
