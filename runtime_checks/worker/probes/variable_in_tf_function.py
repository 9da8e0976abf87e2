"""TF105: whether traced code makes the variable of this line in more than one trace."""

from __future__ import annotations

from ..creation import made_through
from ..criteria import conclude, names_of
from ..errors import one_line
from ..phases import Phase
from ..recreation import never_came
from ..run import CONFIRMED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where TensorFlow refuses the creation in a later trace; refuted where a trace went by without that."""
    refused = [event for event in run.events("refused") if made_through(finding, event)]
    if refused:
        made = [event for event in run.events("variable") if made_through(finding, event)]
        return Judgement(CONFIRMED, refused[0].phase, _refusal(refused[0].phase), [*refused, *made])
    nowhere = never_came(finding, run)
    if nowhere is not None:
        return nowhere
    traced = run.traced_lines(finding)
    decisive = [phase for phase in traced if phase.ok] or traced
    if decisive:
        return conclude(finding, run, decisive, f"traced in {names_of(decisive)} without a second creation")
    decisive = [phase for phase in run.calls(traced=True) if phase.mode is None]
    return conclude(finding, run, decisive, f"it ran eagerly only, in {names_of(run.ran(finding))}")


def _refusal(phase: Phase) -> str:
    if phase.error is None:
        said = "TensorFlow refuses the creation in the second trace"
        return f"{said}, in the {phase}, and the program swallows the error"
    return one_line(phase.detail)
