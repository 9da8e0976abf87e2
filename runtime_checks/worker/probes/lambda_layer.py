"""TF301: whether the Lambda layers of a line come back from a model file."""

from __future__ import annotations

from ..at_line import settle
from ..phases import Phase
from ..recorder import Event
from ..round_trip import at_the_end, is_left_out, judge_layers
from ..run import FAILED, REFUTED, Judgement, Run, StaticFinding
from ..signature import is_layer


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By writing each layer's configuration and making a layer of it, as saving and loading a ``.keras`` file do."""
    if _made(finding, run):
        return at_the_end(finding, run)
    settled = settle(finding, run, "")
    if settled.verdict == REFUTED:
        return Judgement(FAILED, settled.phase, "the line ran, but no Lambda layer was seen to be made there")
    return settled


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict on the layers, at the end of the run."""
    made = _made(finding, run) if phase is None else []
    layers = [layer for layer in (event.subject() for event in made) if layer is not None]
    if layers and is_layer(run.built) and all(is_left_out(layer, run.built) for layer in layers):
        kept = "a file of the model has nothing of it: the layer around it makes it anew"
        return Judgement(REFUTED, run.phases[-1], kept)
    return judge_layers(made, run, lambda layer: {}) if made else None


def _made(finding: StaticFinding, run: Run) -> list[Event]:
    """Those of the finding's own lines; a long statement may make several."""
    events = [e for e in run.events_at(finding, "layer") if _is_lambda(e.detail["type"])]
    own = [e for e in events if finding.line <= e.frames[0].line <= finding.end_line]
    return own or events


def _is_lambda(cls: type) -> bool:
    return any(base.__name__ == "Lambda" and base.__module__.startswith(("keras", "tf_keras")) for base in cls.__mro__)
