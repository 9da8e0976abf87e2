"""TF206: whether the debugger is entered while TensorFlow traces, and not at the calls that follow."""

from __future__ import annotations

from ..run import Judgement, Run, StaticFinding
from ..tracing import runs_while_tracing


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed if the line ran while tracing; refuted if it ran outside of traces only."""
    return runs_while_tracing(finding, run, "the debugger was entered", "")
