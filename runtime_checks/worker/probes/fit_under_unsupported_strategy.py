"""TF318: whether `fit` raises under the strategy, which takes several workers to show."""

from __future__ import annotations

from ..run import Judgement, Run, StaticFinding
from ..under_strategy import raised_in_fit

_HAZARD = "create_per_worker_dataset|PerReplica.*unsupported type"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by the error; refuted where the line ran under several workers or parameter servers without one."""
    strategy = run.job["strategy"]
    shows = strategy is not None and strategy["kind"] in ("multiworker", "ps") and strategy["replicas"] > 1
    return raised_in_fit(
        finding, run, _HAZARD, "" if shows else "no run had several workers: --strategy multiworker:2 and ps:2+1 do"
    )
