"""TF420: whether a summary of TF1 raises where eager execution is on."""

from __future__ import annotations

from ..at_line import raises
from ..run import REFUTED, STATIC_ONLY, Judgement, Run, StaticFinding

_HAZARD = "not compatible with eager|No step set|unexpected keyword argument '(collections|family|tensor|values)'"
_RAISING = ("FileWriter", "get", "merge", "merge_all")


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised; of a summary that ran, nobody looks whether anything was written."""
    found = raises(finding, run, _HAZARD, "the line ran, where a graph takes the summary")
    if found.verdict == REFUTED and finding.called not in _RAISING:
        return Judgement(STATIC_ONLY, None, "the line raised nothing, and whether it wrote anything was not looked at")
    return found
