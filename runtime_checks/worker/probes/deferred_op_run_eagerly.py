"""TF422: whether an operation that is stored ran where it was made."""

from __future__ import annotations

from ..at_line import settle
from ..run import CONFIRMED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line ran eagerly, and what it makes with it."""
    for phase in run.eager_lines(finding)[:1]:
        return Judgement(CONFIRMED, phase, "the line ran eagerly, and the operation that it stores ran at once")
    return settle(finding, run, "the line ran in a graph alone, which keeps the operation")
