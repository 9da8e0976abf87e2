"""TF108: whether the optimizer or metric of this line is made again in later steps or calls."""

from __future__ import annotations

from typing import Sequence

from ..errors import one_line
from ..lines import EAGER
from ..making import explain, made_again, not_made_again
from ..recorder import Event
from ..run import CONFIRMED, Finding, Judgement, Run
from ..tracking import made_through

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a construction in a later call or step, or by TensorFlow, which refuses its variables in a trace."""
    made = [event for event in run.events if event.kind == "stateful" and made_through(finding, event)]
    refused = [event for event in run.events if event.kind == "refused" and made_through(finding, event)]
    _explain_variables(finding, run, made)
    explain(refused)
    what = made[0].detail["what"] if made else "optimizer or metric"
    return (
        made_again(run, made, f"the {what}")
        or _refused(run, refused)
        or _made_at_each_step(made)
        or not_made_again(finding, run, what)
    )


def _refused(run: Run, refused: Sequence[Event]) -> Judgement | None:
    if not refused:
        return None
    phase = run.phase(refused[0].phase)
    said = phase.detail if phase.error is not None else "TensorFlow refuses its variables in the second trace"
    return Judgement(CONFIRMED, phase.name, one_line(said))


def _explain_variables(finding: Finding, run: Run, made: Sequence[Event]) -> None:
    if made:
        explain([event for event in run.events if event.kind == "variable" and made_through(finding, event)])


def _made_at_each_step(made: Sequence[Event]) -> Judgement | None:
    """Several constructions by one and the same way through the program, in one eager phase: a loop."""
    for first in made:
        same = [e for e in made if (e.phase, e.context, e.frames) == (first.phase, EAGER, first.frames)]
        if len(same) > 1:
            explain(same)
            kind, name = first.detail["what"], first.detail["class"]
            return Judgement(CONFIRMED, first.phase, f"the {kind} `{name}` was made {len(same)} times in {first.phase}")
    return None
