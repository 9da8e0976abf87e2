"""TF101: whether calls of a model that has been called before make the variable of this line again."""

from __future__ import annotations

from ..recreation import variables_recreated
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a creation in a follow-up call; refuted if the function ran in all of them without one."""
    return variables_recreated(finding, run)
