"""TF109: whether the Keras 3 layer, or the module that holds one, knows of the variables of this line."""

from __future__ import annotations

from typing import Any, Sequence

from ..criteria import unreached
from ..run import Judgement, Run, StaticFinding
from ..state import judge_state, lost, own_variables
from ..tracking import Made, identities, tracked


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where neither the layer that makes a variable nor the model has it; refuted where one of them has."""
    nowhere = unreached(finding, run)
    if nowhere is not None:
        return nowhere
    variables = own_variables(finding, run)
    known = tracked(run.keeper) or set()
    missing = [made for made in variables if not identities(made.variable) & known]
    for made in missing:
        holder = _holder(finding, made)
        if holder is not None and not identities(made.variable) & (tracked(holder) or set()):
            same = [one for one in missing if _holder(finding, one) is holder]
            phase = None if made.event is None else made.event.phase
            return lost(phase, same, f"`{type(holder).__name__}`, which has {len(holder.variables)}", "")
    return judge_state(finding, run, variables)


def _holder(finding: StaticFinding, made: Made) -> Any:
    """The layer in whose method the finding's statement made the variable; None where that is no layer."""
    owners: Sequence[Any] = () if made.event is None else made.event.detail["owners"]
    for owner in owners:
        here = any(finding.holds(frame.path, frame.line) for frame in owner.frames)
        if not here and owner.subject() is not None:
            return owner.subject()
    return None
