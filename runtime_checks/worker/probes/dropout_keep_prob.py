"""TF601: how much of its input the dropout of this line keeps."""

from __future__ import annotations

from typing import Any

from ..at_line import raises
from ..functions import compare_calls, judge_calls
from ..phases import Phase
from ..run import CONFIRMED, Judgement, Run, StaticFinding

_REFUSAL = "keep_prob|`rate`|rate must be|[Rr]ate.*scalar"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By the error of the line, or what is kept with the number that it gave; nothing is drawn."""
    refused = raises(finding, run, _REFUSAL, "")
    return refused if refused.verdict == CONFIRMED else judge_calls(finding, run)


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""

    def kept(x: Any, rate: Any = None, *args: Any, **kwargs: Any) -> float:
        return 1.0 - float(rate)

    def kept_in_tf1(x: Any, rate: Any = None, *args: Any, **kwargs: Any) -> float:
        return float(rate)

    return compare_calls(finding, run, phase, kept, kept_in_tf1, _shares_apart, _has_number)


def _has_number(event: Any) -> bool:
    """Whether the rate is a number here, and not only in a graph."""
    args, kwargs = event.detail["args"], event.detail["kwargs"]
    given = kwargs.get("rate", args[1] if len(args) > 1 else None)
    return given is not None and not hasattr(given, "most_specific_compatible_type")


def _shares_apart(now: float, before: float) -> str:
    return f"hold {now:.4g} of the numbers where TF1 kept {before:.4g}" if abs(now - before) > 1e-6 else ""
