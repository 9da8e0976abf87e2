"""TF301: whether the Lambda layers of a line come back from a model file."""

from __future__ import annotations

from ..at_line import settle
from ..recorder import Event
from ..round_trip import judge_layers
from ..run import FAILED, REFUTED, Finding, Judgement, Run

__all__ = ["judge"]


def judge(finding: Finding, run: Run) -> Judgement:
    """By writing each layer's configuration and making a layer of it, as saving and loading a ``.keras`` file do."""
    made = _made(finding, run)
    if made:
        return judge_layers(made, run, lambda layer: {})
    settled = settle(finding, run, "")
    if settled.verdict == REFUTED:
        return Judgement(FAILED, settled.phase, "the line ran, but no Lambda layer was seen to be made there")
    return settled


def _made(finding: Finding, run: Run) -> list[Event]:
    """Those of the finding's own lines; a long statement may make several."""
    events = [e for e in run.events_at(finding, "layer") if _is_lambda(e.detail["type"])]
    own = [e for e in events if finding.line <= e.frames[0].line <= finding.end_line]
    return own or events


def _is_lambda(cls: type) -> bool:
    return any(base.__name__ == "Lambda" and base.__module__.startswith(("keras", "tf_keras")) for base in cls.__mro__)
