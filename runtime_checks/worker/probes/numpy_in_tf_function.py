"""TF203: whether the call of a numeric library raises where TensorFlow traces it."""

from __future__ import annotations

from ..run import Judgement, Run, StaticFinding
from ..tracing import raises_while_tracing

__all__ = ["judge"]


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by an error at the line while tracing; refuted if it was traced without one, or ran eagerly only."""
    return raises_while_tracing(finding, run)
