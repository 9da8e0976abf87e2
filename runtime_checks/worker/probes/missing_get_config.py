"""TF304: whether layers of a class come back from a model file."""

from __future__ import annotations

import inspect

from ..recorder import Event
from ..round_trip import judge_layers
from ..run import FAILED, UNREACHED, Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """By writing the configuration of each instance and making a layer of it, with the class given to the loader."""
    made = [e for e in run.events if e.kind == "layer" and _is_of_class(finding, run, e)]
    if made:
        return judge_layers(made, run, lambda layer: {type(layer).__name__: type(layer)})
    for phase in run.phases:
        if phase.kind in ("import", "build") and not phase.ok:
            return Judgement(FAILED, phase.name, f"{phase.name}: {phase.detail}")
    return Judgement(UNREACHED, "", "the run made no layer of this class")


def _is_of_class(finding: Finding, run: Run, event: Event) -> bool:
    """Whether a layer was made by the constructor that stands in the finding's class statement."""
    constructor = inspect.unwrap(event.detail["type"].__init__)
    code = getattr(constructor, "__code__", None)
    if code is None:
        return False
    path = run.code.path(code.co_filename)
    return path is not None and finding.holds(path, code.co_firstlineno, finding.body)
