"""TF319: whether `fit` raises for the batch that the replicas do not divide."""

from __future__ import annotations

from ..run import Judgement, Run, StaticFinding
from ..under_strategy import raised_in_fit


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by the error; refuted where the line ran with the program's own replicas without one."""
    strategy = run.job["strategy"]
    other = "" if strategy is None else "it ran with the replicas of {}".format(strategy["text"])
    return raised_in_fit(finding, run, "AddN.*same size and shape", other)
