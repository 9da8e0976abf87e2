"""TF101: whether calls of a model that has been called before make the variable of this line again."""

from __future__ import annotations

from ..criteria import created_again
from ..run import Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a creation in a follow-up call; refuted if the function ran in all of them without one."""
    return created_again(finding, run)
