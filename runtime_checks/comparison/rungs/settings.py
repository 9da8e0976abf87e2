"""Rung 7s: the settings of both sides, also those that nothing that was run depends on."""

from __future__ import annotations

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled
from ..results import Status
from ..settings import settings

NUMBER = "7s"
TITLE = "the same settings"
COMPARED = (
    "settings, also while they are inactive: the optimizer's, clipping of gradients, moving averages of weights, "
    "dropout rates, batch normalization"
)
SCENARIOS = {scenarios.STRUCTURE: (), scenarios.STEPS: ()}


def judge(climb: Climb) -> Settled:
    """Fails where a setting differs, whether or not that shows in what was run."""
    names = climb.judge.names
    found = list(settings(climb.tf1, climb.tf2, names.to_tf2, names.ignore))
    known = [one for one in found if one.equal is not None]
    wrong = [one.text for one in known if not one.equal]
    if wrong:
        many = f"{len(wrong)} of {len(known)} settings differ" if len(known) > 1 else "the setting differs"
        return Settled(Status.FAIL, f"{many}: {wrong[0]}", notes=tuple(wrong[1:]))
    if known:
        many = "1 setting is the same" if len(known) == 1 else f"{len(known)} settings are the same"
        return Settled(Status.PASS, many)
    return Settled(Status.NOT_RUN, "no setting is known of both sides")
