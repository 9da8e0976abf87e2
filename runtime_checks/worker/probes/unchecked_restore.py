"""TF504: whether a restore whose status is dropped left variables as they were."""

from __future__ import annotations

import re

from ..at_line import settle
from ..criteria import conclude
from ..errors import one_line
from ..phases import STEPS, Phase
from ..recorder import Event
from ..run import CONFIRMED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By asking the status that the restore returned, after the calls, since a restore may wait for variables."""
    events = run.events_at(finding, "restore")
    if not events:
        return settle(finding, run, "the line ran and restored no checkpoint of tf.train.Checkpoint")
    unmatched = _asked(finding, run)
    for event in events:
        if unmatched[event]:
            return Judgement(CONFIRMED, event.phase, unmatched[event])
    path = events[-1].detail["path"]
    return conclude(finding, run, run.calls()[:1], f"every variable got its value from `{path}`")


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> dict[Event, str]:
    """What does not match yet, by restore.

    They are asked until `fit`, for which the run itself gives the model an optimizer that no checkpoint holds.
    """
    known = _asked(finding, run)
    waits = phase is not None and phase.kind not in (*STEPS, "save")
    return {event: _unmatched(event) for event in run.events_at(finding, "restore") if waits or event not in known}


def _asked(finding: StaticFinding, run: Run) -> dict[Event, str]:
    """The last answer of each."""
    return {event: said for snapshot in run.snapshots[finding.id] for event, said in snapshot.value.items()}


def _unmatched(event: Event) -> str:
    if not event.detail["path"]:
        return "the path was None, so nothing was restored"
    try:
        event.detail["status"].assert_existing_objects_matched()
    except AssertionError as error:
        left = re.search('full_name: "([^"]*)"', str(error))
        said = f"`{left[1]}` got no value from it" if left else error
        return one_line("`{}` does not match: {}".format(event.detail["path"], said))
    return ""
