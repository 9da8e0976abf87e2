"""TF102: whether follow-up calls make the layer of this line again, with variables of its own."""

from __future__ import annotations

from ..creation import is_new_owner
from ..recorder import Event
from ..recreation import recreates
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a variable of a layer or module that was made here in the same follow-up call."""

    def belongs(event: Event) -> bool:
        return is_new_owner(finding, event) or _in_constructor(finding, event)

    return recreates(finding, run, belongs, "variable of a layer made here")


def _in_constructor(finding: StaticFinding, event: Event) -> bool:
    """Whether the statement was running a user's constructor, also that of a module which never calls tf.Module's."""
    return any(
        inner.function == "__init__" and finding.holds(outer.path, outer.line)
        for inner, outer in zip(event.frames, event.frames[1:])
    )
