"""TF503: whether a saver of TF1 fails for want of a graph, or because names clash."""

from __future__ import annotations

from ..at_line import by_errors, settle
from ..lines import GRAPH
from ..lookup import missing
from ..run import FAILED, REFUTED, Judgement, Run, StaticFinding

_HAZARD = r"[Ee]ager|No variables to save|same (shared_)?name|not found in checkpoint|session"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By the name; then by how making the saver, and saving and restoring with it, went."""
    gone = missing(finding)
    if gone is not None:
        return gone
    made = run.events_at(finding, "saver")
    savers = [event.subject for event in made if event.subject is not None]
    uses = [e for e in run.events("saver") if e not in made and any(e.subject is one for one in savers)]
    raised = by_errors(made + uses, _HAZARD, "the saver")
    if raised is not None:
        return raised
    if not made:
        return settle(finding, run, "the line ran and made no saver")
    if all(event.context == GRAPH for event in made):
        return Judgement(REFUTED, made[0].phase, "the saver was made in a tf.Graph, which knows its variables")
    done = [event for event in made + uses if event.detail["action"] != "made"]
    if not done:
        return Judgement(FAILED, made[0].phase, "the saver was made, but saved and restored nothing in this run")
    actions = " and ".join(dict.fromkeys(event.detail["action"] for event in done))
    return Judgement(REFUTED, done[0].phase, f"the saver found its variables by their names: {actions} worked")
