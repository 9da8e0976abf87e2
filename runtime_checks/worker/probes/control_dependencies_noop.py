"""TF413: whether control dependencies, or a group, are made where operations run at once."""

from __future__ import annotations

from ..at_line import settle
from ..run import CONFIRMED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line ran eagerly."""
    for phase in run.eager_lines(finding)[:1]:
        return Judgement(CONFIRMED, phase, "the line ran eagerly, where operations run in the order of the code")
    return settle(finding, run, "the line ran in graphs alone, where it orders operations")
