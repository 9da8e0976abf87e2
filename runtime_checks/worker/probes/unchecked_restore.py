"""TF504: whether a restore whose status is dropped left variables as they were."""

from __future__ import annotations

import re

from ..at_line import settle
from ..criteria import conclude
from ..errors import one_line
from ..recorder import Event
from ..run import CONFIRMED, Finding, Judgement, Run

__all__ = ["judge"]

_UNMATCHED = "unmatched"


def judge(finding: Finding, run: Run) -> Judgement:
    """By asking the status that the restore returned, after the calls, since a restore may wait for variables."""
    events = run.events_at(finding, "restore")
    if not events:
        return settle(finding, run, "the line ran and restored no checkpoint of tf.train.Checkpoint")
    for event in events:
        if _may_ask(event, run):
            event.detail[_UNMATCHED] = _unmatched(event)
    for event in events:
        if event.detail[_UNMATCHED]:
            return Judgement(CONFIRMED, event.phase, event.detail[_UNMATCHED])
    path = events[-1].detail["path"]
    return conclude(finding, run, [run.phase("first call")], f"every variable got its value from `{path}`")


def _may_ask(event: Event, run: Run) -> bool:
    """Until `fit`, for which the run itself gives the model an optimizer that no checkpoint holds."""
    fit = run.phase("fit")
    waits = fit.outcome == "not run" and fit.detail == "the run ended before it"
    return waits or _UNMATCHED not in event.detail


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
