"""TF610: whether the call of this line, with ``training=True``, computes or keeps anything else."""

from __future__ import annotations

from typing import Any

from ..at_line import settle
from ..both_ways import arrays, difference
from ..errors import one_line, text_of
from ..phases import Phase
from ..recorder import Event
from ..replay import Replay, applied_at, keeping, replay_of
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

_DRAWS = 8
"""Dropout of a few numbers may well leave them all."""


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By calling the model again when the run is over: as the line does, and for training."""
    settled = settle(finding, run, "the line called no layer or model")
    seen = run.snapshots[finding.id]
    if settled.verdict == REFUTED and applied_at(finding, run):
        return Judgement(*seen[-1].value) if seen else settled._replace(verdict=FAILED, detail="the run has not ended")
    return settled


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    calls = applied_at(finding, run) if phase is None else []
    return _verdict(calls[0]) if calls else None


def _verdict(event: Event) -> Judgement:
    call = replay_of(event)
    told = call.kwargs.get("training")
    if told is not None:
        return Judgement(REFUTED, event.phase, f"the call is given `training={told}`")
    try:
        with keeping(call.layer.variables):
            plain, kept = _call(call, {})
            inferred, _ = _call(call, {"training": False})
            trains = bool(difference(plain, inferred, "") or kept)
            found = "" if trains else _of_training(call, plain)
    except Exception as error:
        said = one_line(f"called once more it raised {type(error).__name__}: {text_of(error)}")
        return Judgement(FAILED, event.phase, said)
    if trains:
        return Judgement(REFUTED, event.phase, f"on {call.on} the call trains, without being told to")
    if found:
        return Judgement(CONFIRMED, event.phase, f"on {call.on}, {found}")
    said = f"on {call.on}, `training=True` gives the same numbers and changes no variable"
    return Judgement(REFUTED, event.phase, said)


def _of_training(call: Replay, plain: Any) -> str:
    for _ in range(_DRAWS):
        trained, kept = _call(call, {"training": True})
        apart = difference(plain, trained, "where `training=True` gives")
        if kept:
            apart += ("; " if apart else "") + f"with `training=True` {kept}"
        if apart:
            return ("the outputs " if apart.startswith(("differ", "shape")) else "") + apart
    return ""


def _call(call: Replay, extra: Any) -> tuple[Any, str]:
    """The outputs, and in words which variable the call has changed."""
    variables = [one for one in call.layer.weights if not one.trainable]
    with keeping(call.layer.variables):
        before = [one.numpy() for one in variables]
        outputs = arrays(call.layer(*call.args, **dict(call.kwargs, **extra)))
        for variable, value in zip(variables, before):
            if difference([variable.numpy()], [value], ""):
                return outputs, "`{}` is updated".format(getattr(variable, "path", variable.name))
    return outputs, ""
