"""TF105: whether traced code makes the variable of this line in more than one trace."""

from __future__ import annotations

from ..criteria import conclude, names_of, one_line
from ..lines import TRACE
from ..making import explain, never_came
from ..run import CONFIRMED, Finding, Judgement, Run
from ..tracking import made_through

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed where TensorFlow refuses the second creation, or does not and there are two; refuted by a trace."""
    refused = [event for event in run.events if event.kind == "refused" and made_through(finding, event)]
    if refused:
        explain(refused)
        return Judgement(CONFIRMED, refused[0].phase, _refusal(run, refused[0].phase))
    again = _made_in_traces(finding, run)
    if again is not None:
        return again
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


def _made_in_traces(finding: Finding, run: Run) -> Judgement | None:
    """Creations that ``tf.init_scope`` takes out of the graph, where nothing refuses them."""
    made = [event for event in run.events if event.kind == "variable" and made_through(finding, event)]
    phases = [
        phase
        for phase in run.phases
        if TRACE in run.contexts(finding, phase) and any(event.phase == phase.name for event in made)
    ]
    if len(phases) < 2 or not any(phase.follow_up for phase in phases):
        return None
    explain(made)
    name, shape, dtype = (made[0].detail[key] for key in ("name", "shape", "dtype"))
    seen = f"each trace makes another `{name}` (shape {shape}, {dtype}), in {names_of(phases)}"
    return Judgement(CONFIRMED, phases[1].name, seen)
