"""TF114: whether calls add a weight or sublayer here to a layer that has its state, or Keras refuses to let them."""

from __future__ import annotations

from ..criteria import is_made_at
from ..recorder import Event
from ..remaking import is_new_owner, makes_again
from ..run import Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """Confirmed by a weight added here in a later call, by one of a layer made here in it, or by Keras 3's refusal."""

    def belongs(event: Event) -> bool:
        owners = event.detail["owners"]
        innermost = bool(event.frames) and finding.holds(*event.frames[0][:2])
        added = innermost and not (owners and is_made_at(finding, owners[0]))
        return added or is_new_owner(finding, event)

    return makes_again(finding, run, belongs, "state")
