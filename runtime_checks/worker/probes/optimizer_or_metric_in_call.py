"""TF108: whether the optimizer or metric of this line is made again in later steps or calls."""

from __future__ import annotations

from typing import Sequence

from ..creation import made_through
from ..errors import one_line
from ..lines import EAGER
from ..recorder import Event
from ..recreation import not_recreated, recreated
from ..run import CONFIRMED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a construction in a later call or step, or by TensorFlow, which refuses its variables in a trace."""
    made = [event for event in run.events("stateful") if made_through(finding, event)]
    refused = [event for event in run.events("refused") if made_through(finding, event)]
    what = made[0].detail["what"] if made else "optimizer or metric"
    judgement = (
        recreated(run, made, f"the {what}")
        or _refused(refused)
        or _made_at_each_step(made)
        or not_recreated(finding, run, what)
    )
    variables = [event for event in run.events("variable") if made and made_through(finding, event)]
    return judgement._replace(explains=[*variables, *refused])


def _refused(refused: Sequence[Event]) -> Judgement | None:
    if not refused:
        return None
    phase = refused[0].phase
    said = phase.detail if phase.error is not None else "TensorFlow refuses its variables in the second trace"
    return Judgement(CONFIRMED, phase, one_line(said))


def _made_at_each_step(made: Sequence[Event]) -> Judgement | None:
    """Several constructions by one and the same way through the program, in one eager phase: a loop."""
    for first in made:
        same = [e for e in made if (e.phase, e.context, e.frames) == (first.phase, EAGER, first.frames)]
        if len(same) > 1:
            kind, name = first.detail["what"], first.detail["class"]
            return Judgement(CONFIRMED, first.phase, f"the {kind} `{name}` was made {len(same)} times in {first.phase}")
    return None
