"""TF415: whether a tensor or the default graph is asked for what only a graph has, in eager execution."""

from __future__ import annotations

from ..at_line import raises
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding

_HAZARD = "undefined when eager|has no attribute|refers to a(n Operation| Tensor)|not implement `op`"
_EMPTY = ("as_graph_def", "get_operations", "reset_default_graph")


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised, or ran eagerly and so looked into a graph that nothing is put into."""
    found = raises(finding, run, _HAZARD, "the line ran, and there was a graph to ask")
    if found.verdict == REFUTED and finding.called in _EMPTY:
        for phase in run.eager_lines(finding)[:1]:
            return Judgement(CONFIRMED, phase, "the line ran eagerly, where the default graph is empty")
    return found
