"""TF304: whether layers of a class come back from a model file."""

from __future__ import annotations

import inspect

from ..criteria import failed_in
from ..phases import Phase
from ..recorder import Event
from ..round_trip import at_the_end, judge_layers
from ..run import UNREACHED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By writing the configuration of each instance and making a layer of it, with the class given to the loader."""
    if _made(finding, run):
        return at_the_end(finding, run)
    for phase in run.phases:
        if phase.kind in ("import", "build") and not phase.ok:
            return failed_in(phase)
    return Judgement(UNREACHED, None, "the run made no layer of this class")


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict on the instances, at the end of the run."""
    made = _made(finding, run) if phase is None else []
    return judge_layers(made, run, lambda layer: {type(layer).__name__: type(layer)}) if made else None


def _made(finding: StaticFinding, run: Run) -> list[Event]:
    return [event for event in run.events("layer") if _is_of_class(finding, run, event)]


def _is_of_class(finding: StaticFinding, run: Run, event: Event) -> bool:
    """Whether a layer was made by the constructor that stands in the finding's class statement."""
    constructor = inspect.unwrap(event.detail["type"].__init__)
    code = getattr(constructor, "__code__", None)
    if code is None:
        return False
    path = run.code.path(code.co_filename)
    return path is not None and finding.holds(path, code.co_firstlineno, finding.body)
