"""TF210: whether a Python number that was read in a trace is another one later."""

from __future__ import annotations

from typing import Any, Iterator

from ..errors import one_line
from ..leaks import kept_by
from ..phases import Phase
from ..run import CONFIRMED, FAILED, Judgement, Run, StaticFinding
from ..tracing import names_of, outside_of_traces

_NUMBERS = (int, float, bool)


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the number changed after a trace had read it; refuted if it was read outside of traces only."""
    traced = run.traced_lines(finding)
    if not traced:
        return outside_of_traces(finding, run)
    name = finding.subject or ""
    seen = run.snapshots[finding.id]
    if not seen:
        return Judgement(FAILED, traced[-1], f"what `{name}` holds was not found")
    first = seen[0]
    for later in seen[1:]:
        for was, now in _changed(first.value, later.value):
            when = "at the end" if later.phase is None else f"after the {later.phase}"
            detail = f"`{name}` was {was} after the {first.phase}, which traced it, and is {now} {when}"
            return Judgement(CONFIRMED, first.phase, one_line(detail))
    detail = f"`{name}` was read in {names_of(traced)}, and did not change after that, which shows nothing"
    return Judgement(FAILED, traced[-1], one_line(detail))


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> list[tuple[int, Any]] | None:
    """The numbers that the name holds, each with what holds it, from the first phase on that traced the line."""
    name = finding.subject or ""
    if not run.traced_lines(finding) or "[" in name:
        return None
    found = [kept for kept in kept_by(name, finding, run) if isinstance(kept.value, _NUMBERS)]
    return [(id(kept.owner), kept.value) for kept in found] or None


def _changed(first: list[tuple[int, Any]], later: list[tuple[int, Any]]) -> Iterator[tuple[Any, Any]]:
    """What an object held before and now; others were made since."""
    held: dict[int, list[Any]] = {}
    for owner, value in first:
        held.setdefault(owner, []).append(value)
    for owner, value in later:
        if value not in held.get(owner, [value]):
            yield held[owner][0], value
