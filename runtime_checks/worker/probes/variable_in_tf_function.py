"""TF105: whether traced code makes the variable of this line in more than one trace."""

from __future__ import annotations

from ..criteria import conclude, names_of
from ..errors import one_line
from ..making import explain, never_came
from ..run import CONFIRMED, Finding, Judgement, Run
from ..tracking import made_through

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed where TensorFlow refuses the creation in a later trace; refuted where a trace went by without that."""
    refused = [event for event in run.events if event.kind == "refused" and made_through(finding, event)]
    if refused:
        explain(refused)
        explain([event for event in run.events if event.kind == "variable" and made_through(finding, event)])
        return Judgement(CONFIRMED, refused[0].phase, _refusal(run, refused[0].phase))
    nowhere = never_came(finding, run)
    if nowhere is not None:
        return nowhere
    traced = run.traced_lines(finding)
    decisive = [phase for phase in traced if phase.ok] or traced
    if decisive:
        return conclude(finding, run, decisive, f"traced in {names_of(decisive)} without a second creation")
    decisive = [phase for phase in run.of_kind("traced") if phase.mode is None]
    return conclude(finding, run, decisive, f"it ran eagerly only, in {names_of(run.ran(finding))}")


def _refusal(run: Run, name: str) -> str:
    phase = run.phase(name)
    if phase.error is None:
        return f"TensorFlow refuses the creation in the second trace, in the {name}, and the program swallows the error"
    return one_line(phase.detail)
