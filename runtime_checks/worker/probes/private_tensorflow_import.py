"""TF308: whether a private module or name can be imported from the installed TensorFlow."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding

_HAZARD = "No module named|cannot import name"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the import raised."""
    return raises(finding, run, _HAZARD, "the import worked, with this TensorFlow")
