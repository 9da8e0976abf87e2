"""TF628: whether the list that this line sums is longer after each call."""

from __future__ import annotations

from ..at_line import settle
from ..leaks import kept_by
from ..phases import Phase
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By its length at the end of the phases in which the line ran."""
    settled = settle(finding, run, "")
    if settled.verdict != REFUTED:
        return settled
    seen = [one for one in run.snapshots[finding.id] if one.phase in run.ran(finding)]
    if len(seen) < 2:
        return Judgement(FAILED, settled.phase, "the line ran in fewer than two calls that came to their end")
    lengths = [one.value for one in seen]
    shown = ", ".join(map(str, lengths[:5]))
    if any(one < other for one, other in zip(lengths, lengths[1:])):
        return Judgement(CONFIRMED, seen[1].phase, f"`{finding.subject}` grows from call to call: {shown}")
    return Judgement(REFUTED, seen[-1].phase, f"`{finding.subject}` does not grow from call to call: {shown}")


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> int | None:
    """How long the list is."""
    if phase is None or not phase.ok or phase.kind not in ("call", "fit") or not finding.subject:
        return None
    for kept in kept_by(finding.subject, finding, run):
        if isinstance(kept.value, list):
            return len(kept.value)
    return None
