"""TF209: whether what this line stores in is left with a symbolic tensor when the traces are over."""

from __future__ import annotations

from ..criteria import conclude, names_of, one_line
from ..leaks import keepers, kept_by, symbolic_in
from ..run import CONFIRMED, FAILED, Finding, Judgement, Run
from ..tracing import outside_of_traces

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by the tensor that is found; refuted if none of what has the name of the line's target holds one."""
    traced = run.traced_lines(finding)
    if not traced:
        return outside_of_traces(finding, run)
    found = False
    for keeper in keepers(finding.text):
        for kept in kept_by(keeper, finding, run):
            found = True
            for tensor in symbolic_in(kept.value):
                whose = "" if kept.owner is None else f" of the `{type(kept.owner).__name__}`"
                detail = (
                    f"`{keeper.name}`{whose} still holds `{tensor}` of a finished trace, after the {traced[-1].name}"
                )
                return Judgement(CONFIRMED, traced[-1].name, one_line(detail))
    if not found:
        return Judgement(FAILED, traced[-1].name, "what the line stores in was not found after the run")
    return conclude(finding, run, traced, f"traced in {names_of(traced)}, and no symbolic tensor was left behind")
