"""TF608: whether a frozen batch normalization, called for training, would compute anything else as in TF1."""

from __future__ import annotations

from ..at_line import settle
from ..both_ways import arrays, difference
from ..phases import Phase
from ..recorder import Event
from ..replay import keeping, replay_of
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By calling the layer again when the run is over, frozen and not."""
    settled = settle(finding, run, "the line ran, and no batch normalization was frozen and called")
    seen = run.snapshots[finding.id]
    return Judgement(*seen[-1].value) if settled.verdict == REFUTED and seen else settled


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run: on the layer of the line, else on all that are frozen."""
    if phase is not None:
        return None
    frozen = [event for event in run.events("applied") if _is_frozen(event)]
    made = [e.subject() for e in run.events_at(finding, "layer")]
    here = [e for e in frozen if finding.holds_first(e.frames) or any(e.subject() is one for one in made)]
    if not (here or frozen):
        return None
    calls = here or frozen
    trained = [event for event in calls if _trains(event)]
    if not trained:
        return Judgement(FAILED, calls[0].phase, "no call trained the layer, and for inference TF1 did the same")
    return _verdict(min(trained, key=lambda event: bool(event.detail["symbolic"])))


def _is_frozen(event: Event) -> bool:
    names = [cls.__name__ for cls in type(event.subject()).__mro__]
    return "BatchNormalization" in names and not event.detail["trainable"]


def _trains(event: Event) -> bool:
    told = event.detail["kwargs"].get("training")
    return bool(event.phase.mode if told is None else told)


def _verdict(event: Event) -> Judgement:
    call = replay_of(event)
    layer, inputs = call.layer, dict(call.kwargs, training=True)
    trainable = layer.trainable
    with keeping(layer.variables):
        try:
            layer.trainable = False
            now = arrays(layer(*call.args, **inputs))
            layer.trainable = True
            before = arrays(layer(*call.args, **inputs))
        finally:
            layer.trainable = trainable
    apart = difference(now, before, "where TF1 gave")
    if apart:
        return Judgement(CONFIRMED, event.phase, f"on {call.on}, the outputs of `{layer.name}` {apart}")
    return Judgement(REFUTED, event.phase, f"on {call.on}, `{layer.name}` gives the same numbers")
