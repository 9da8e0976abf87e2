"""TF308: whether a private module or name is gone from the installed TensorFlow already."""

from __future__ import annotations

from ..at_line import raises
from ..run import REFUTED, STATIC_ONLY, Judgement, Run, StaticFinding

_HAZARD = "No module named|cannot import name"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the import raised; that it works today refutes nothing of what the next release may do."""
    judgement = raises(finding, run, _HAZARD, "the import worked, with this TensorFlow")
    return judgement._replace(verdict=STATIC_ONLY) if judgement.verdict == REFUTED else judgement
