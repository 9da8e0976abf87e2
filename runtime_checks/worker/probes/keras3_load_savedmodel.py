"""TF306: whether Keras loads from a file of that name."""

from __future__ import annotations

from ..at_line import raises
from ..run import Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line raised what Keras 3 says of such a name."""
    return raises(finding, run, "File format not supported|only supports loading", "the line ran, and loaded")
