"""TF213: whether asking a tensor for its truth or its items raises where it is traced."""

from __future__ import annotations

from ..run import Judgement, Run, StaticFinding
from ..tracing import raises_while_tracing


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised in a trace; refuted where it was traced and did not."""
    return raises_while_tracing(finding, run)
