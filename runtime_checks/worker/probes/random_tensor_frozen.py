"""TF627: whether what this line has drawn is the same in two calls that read it."""

from __future__ import annotations

import linecache
import re
from typing import Any

from ..at_line import settle
from ..both_ways import arrays, difference
from ..criteria import names_of
from ..leaks import kept_by
from ..phases import Phase
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By the numbers at the end of the calls."""
    settled = settle(finding, run, "")
    if settled.verdict != REFUTED:
        return settled
    seen = [one for one in run.snapshots[finding.id] if one.phase is not None and _reads(finding, one.phase)]
    if len(seen) < 2:
        return Judgement(FAILED, settled.phase, "fewer than two calls read it, so they cannot be compared")
    first, *later = seen
    for one in later:
        if difference(one.value, first.value, "where the earlier call had"):
            detail = f"it holds other numbers in {names_of([one.phase])}"  # type: ignore[list-item]
            return Judgement(REFUTED, one.phase, detail)
    shape = list(first.value[0].shape)
    count = f"{len(seen)} calls and steps read the same numbers (shape {shape})"
    return Judgement(CONFIRMED, later[-1].phase, count)


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Any:
    """The numbers, at the end of a call that came to its end."""
    if phase is None or not phase.ok or phase.kind not in ("call", "fit") or not finding.subject:
        return None
    for kept in kept_by(finding.subject, finding, run):
        if hasattr(kept.value, "numpy"):
            return [one.ravel()[:1000] for one in arrays(kept.value)]
    return None


def _reads(finding: StaticFinding, phase: Phase) -> bool:
    """Whether a line of the file that names it, and is not the finding's own, ran in a phase."""
    name = re.compile(rf"\b{re.escape((finding.subject or '').rpartition('.')[2])}\b")
    lines = {line for path, line, _ in phase.ran if path == finding.path and not finding.holds(path, line)}
    return any(name.search(linecache.getline(finding.path, line)) for line in lines)
