"""TF402: whether a placeholder is made where nothing can feed it."""

from __future__ import annotations

from ..at_line import by_errors, settle
from ..lines import EAGER, TRACE
from ..lookup import missing
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By the name; then by the context in which the placeholder functions were called."""
    gone = missing(finding)
    if gone is not None:
        return gone
    events = run.events_at(finding, "placeholder")
    raised = by_errors(events, "[Ee]ager", "the placeholder")
    if raised is not None:
        return raised
    for event in events:
        if event.context in (EAGER, TRACE):
            where = "in eager execution" if event.context == EAGER else "while a tf.function was traced"
            then = "it is its default" if event.detail["function"].endswith("default") else "nothing can feed it"
            return Judgement(CONFIRMED, event.phase, f"the placeholder was made {where}: {then}")
    if events:
        return Judgement(
            REFUTED, events[0].phase, "the placeholder was made in a tf.Graph, where a session can feed it"
        )
    return settle(finding, run, "the line ran and made no placeholder")
