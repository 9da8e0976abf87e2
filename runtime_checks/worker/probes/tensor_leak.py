"""TF209: whether what this line stores in is left with a symbolic tensor when the traces are over."""

from __future__ import annotations

from ..criteria import conclude
from ..errors import one_line
from ..leaks import kept_by, symbolic_in
from ..phases import Phase
from ..run import CONFIRMED, FAILED, Judgement, Run, StaticFinding
from ..tracing import names_of, outside_of_traces


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by the tensor that is found; refuted if none of what has the name of the line's target holds one."""
    seen = run.snapshots[finding.id]
    return Judgement(*seen[-1].value) if seen else outside_of_traces(finding, run)


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """What was found after a phase that traced the line; looking goes through many objects."""
    traced = [phase for phase in run.traced_lines(finding) if phase.kind != "save"]
    return _look(finding, run, traced) if phase in traced else None


def _look(finding: StaticFinding, run: Run, traced: list[Phase]) -> Judgement:
    name = finding.subject or ""
    found = kept_by(name, finding, run)
    for kept in found:
        for tensor in symbolic_in(kept.value):
            whose = "" if kept.owner is None else f" of the `{type(kept.owner).__name__}`"
            shown = f"`{name.rpartition('.')[2]}`{whose} still holds `{tensor}` of a finished trace"
            return Judgement(CONFIRMED, traced[-1], one_line(f"{shown}, after the {traced[-1]}"))
    if not found:
        return Judgement(FAILED, traced[-1], "what the line stores in was not found after the run")
    return conclude(finding, run, traced, f"traced in {names_of(traced)}, and no symbolic tensor was left behind")
