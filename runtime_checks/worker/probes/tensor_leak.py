"""TF209: whether what this line stores in is left with a symbolic tensor when the traces are over."""

from __future__ import annotations

import weakref
from typing import Any

from ..criteria import conclude
from ..errors import one_line
from ..leaks import keepers, kept_by, symbolic_in
from ..run import CONFIRMED, FAILED, Finding, Judgement, Phase, Run
from ..tracing import names_of, outside_of_traces

__all__ = ["judge"]

_looked: Any = weakref.WeakKeyDictionary()
"""Of a finding the last phase that traced it, and what was seen after that: looking goes through many objects."""


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by the tensor that is found; refuted if none of what has the name of the line's target holds one."""
    traced = [phase for phase in run.traced_lines(finding) if phase.kind != "save"]
    if not traced:
        return outside_of_traces(finding, run)
    if _looked.get(finding, (None,))[0] is not traced[-1]:
        _looked[finding] = (traced[-1], _look(finding, run, traced))
    judgement: Judgement = _looked[finding][1]
    return judgement


def _look(finding: Finding, run: Run, traced: list[Phase]) -> Judgement:
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
