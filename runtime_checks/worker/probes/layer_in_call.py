"""TF102: whether follow-up calls make the layer of this line again, with variables of its own."""

from __future__ import annotations

from ..recorder import Event
from ..remaking import is_new_owner, makes_again
from ..run import Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a variable of a layer or module that was made here in the same follow-up call."""

    def belongs(event: Event) -> bool:
        return is_new_owner(finding, event) or _in_constructor(finding, event)

    return makes_again(finding, run, belongs, "variable of a layer made here")


def _in_constructor(finding: Finding, event: Event) -> bool:
    """Whether the statement was running a user's constructor, also that of a module which never calls tf.Module's."""
    return any(
        inner.function == "__init__" and finding.holds(outer.path, outer.line)
        for inner, outer in zip(event.frames, event.frames[1:])
    )
