"""TF401: whether a session has no graph to run, because the program executes eagerly."""

from __future__ import annotations

from ..at_line import by_errors, settle
from ..lines import EAGER
from ..lookup import missing
from ..recorder import Event
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding

_EMPTY = r"graph is empty|eager execution|element of this graph|interpreted as a Tensor"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By the name; then by what the sessions that are run or made in the finding's statement did."""
    gone = missing(finding)
    if gone is not None:
        return gone
    for event in run.events_at(finding, "default session"):
        if not event.detail["found"]:
            return Judgement(CONFIRMED, event.phase, "there is no default session: `get_default_session` gave None")
    made = run.events_at(finding, "session")
    runs = run.events_at(finding, "session run") or _runs_of(made, run)
    raised = by_errors(runs, _EMPTY, "the session")
    went = [event for event in runs if not event.detail["error"]]
    if raised is not None and (raised.verdict == CONFIRMED or not went):
        return raised
    if went:
        times = "once" if len(went) == 1 else f"{len(went)} times"
        return Judgement(REFUTED, went[0].phase, f"the session had a graph to run: it ran {times} without an error")
    return _never_run(made) or settle(finding, run, "the line ran, and no session of TensorFlow was run by it")


def _runs_of(made: list[Event], run: Run) -> list[Event]:
    # A weak reference is the same object as long as somebody holds it, and so compares after its session is gone.
    return [e for e in run.events("session run") if any(e.subject is one.subject for one in made)]


def _never_run(made: list[Event]) -> Judgement | None:
    for event in made:
        session = event.subject()
        count = event.detail["operations"] if session is None else len(session.graph.get_operations())
        if event.context == EAGER and event.detail["default"] and not count:
            detail = "the graph of the session is empty: eager operations are in no graph"
            return Judgement(CONFIRMED, event.phase, detail)
        return Judgement(REFUTED, event.phase, f"the session's graph has {count} operations; it was never run")
    return None
