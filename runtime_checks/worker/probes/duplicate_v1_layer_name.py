"""TF112: whether this TF1 layer has no variables of its own, but those of another layer of the same call."""

from __future__ import annotations

import os

from ..criteria import conclude, names_of
from ..errors import one_line, text_of
from ..recorder import Event
from ..run import CONFIRMED, Judgement, Run, StaticFinding

_COLLISION = "Trying to share variable"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a variable that was got twice in one pass through the shim, the second time here.

    Refuted if every variable that this line got was got by nothing else in the same pass.
    """
    first: dict[tuple[object, object], Event] = {}
    shared: list[tuple[Event, Event]] = []
    for event in run.events("get"):
        if event.detail["pass"] is None or not event.frames:
            continue
        earlier = first.setdefault((event.detail["pass"], event.detail["identity"]), event)
        if earlier is not event and finding.holds(*event.frames[0][:2]):
            shared.append((earlier, event))
    if shared:
        return _confirmed(finding, shared)
    for phase in run.errors_at(finding):
        if phase.error is not None and _COLLISION in text_of(phase.error):
            return Judgement(CONFIRMED, phase, one_line(phase.detail))
    decisive = [phase for phase in run.ran(finding) if phase.kind == "call"]
    finished = [phase for phase in decisive if phase.ok]
    detail = f"each variable of this line is its own in {names_of(finished)}"
    return conclude(finding, run, finished or decisive, detail)


def _confirmed(finding: StaticFinding, shared: list[tuple[Event, Event]]) -> Judgement:
    earlier, event = shared[0]
    same_pass = [pair for pair in shared if pair[1].detail["pass"] == event.detail["pass"]]
    others = len({pair[1].detail["identity"] for pair in same_pass}) - 1
    shown = "`{name}` (shape {shape}, {dtype})".format(**event.detail)
    if others:
        shown += f" and {others} more"
    path, line = earlier.frames[0][:2]
    if finding.holds(path, line):
        whose = "got more than once by this very statement, in one pass"
    else:
        place = f"line {line}" if path == finding.path else f"{os.path.basename(path)}:{line}"
        whose = f"shared with {place}, which got it before in the same pass"
    return Judgement(CONFIRMED, event.phase, f"{shown}: {whose}")
