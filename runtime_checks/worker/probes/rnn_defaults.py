"""TF620: what the recurrent layer of this line gives with the gates of TF1 and its own weights."""

from __future__ import annotations

from typing import Any

from ..at_line import settle
from ..both_ways import arrays, difference
from ..phases import Phase
from ..recorder import Event
from ..replay import keeping, replay_of
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

_KINDS = frozenset({"GRU", "GRUCell", "LSTM", "LSTMCell"})

_BEFORE_ACTIVATION = 2


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By calling another layer of the same weights when the run is over."""
    settled = settle(finding, run, "the line made no LSTM or GRU of Keras")
    seen = run.snapshots[finding.id]
    if settled.verdict != REFUTED:
        return settled
    if "rnn_cell" in (finding.subject or ""):
        return Judgement(FAILED, settled.phase, "a cell of `tf.nn.rnn_cell` shares no weights with a Keras layer")
    if seen:
        return Judgement(*seen[-1].value)
    if _made(finding, run):
        return Judgement(FAILED, settled.phase, "no call of the layer that was made here was seen")
    return settled


def _made(finding: StaticFinding, run: Run) -> list[Event]:
    """Those of the finding's own lines; a long statement may make several."""
    made = [event for event in run.events_at(finding, "layer") if _of_keras(event.detail["type"]) is not None]
    return [event for event in made if finding.line <= event.frames[0].line <= finding.end_line]


def _of_keras(cls: type[Any]) -> Any:
    mro = [one for one in cls.__mro__ if one.__name__ in _KINDS]
    return next((one for one in mro if one.__module__.startswith(("keras.", "tf_keras."))), None)


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    if phase is not None or "rnn_cell" in (finding.subject or ""):
        return None
    made = _made(finding, run)
    layers = [event.subject() for event in made if event.subject() is not None]
    calls = [event for event in run.events("applied") if any(event.subject() is layer for layer in layers)]
    if not calls:
        return None
    own = min(made, key=lambda event: len(event.detail["given"][1]))  # a wrapper makes copies, which are given all
    return _verdict(min(calls, key=lambda event: bool(event.detail["symbolic"])), own)


def _verdict(event: Event, made: Event) -> Judgement:
    call = replay_of(event)
    layer = call.layer
    if getattr(layer, "stateful", False):
        return Judgement(FAILED, event.phase, "the layer keeps its state from call to call")
    inputs = dict(call.kwargs, training=False)
    with keeping(layer.variables):
        now = arrays(layer(*call.args, **inputs))
        before = arrays(_as_in_tf1(layer, made, call.args, inputs))
    apart = difference(now, before, "where TF1's gates give")
    if apart:
        weights = "the same weights" + (" (a GRU's two biases added)" if hasattr(layer, "reset_after") else "")
        return Judgement(CONFIRMED, event.phase, f"on {call.on}, with {weights} the outputs {apart}")
    return Judgement(REFUTED, event.phase, f"on {call.on}, TF1's gates give the same numbers")


def _as_in_tf1(layer: Any, made: Event, args: Any, kwargs: Any) -> Any:
    """What a layer with TF1's defaults makes of the inputs; the two biases of a GRU that has them are added."""
    positional, given = made.detail["given"]
    config: dict[str, Any] = {
        key: value for key, value in layer.get_config().items() if isinstance(value, (bool, int, float))
    }
    config.update(activation=layer.activation, recurrent_activation=layer.recurrent_activation)
    config["dtype"] = layer.dtype_policy
    activation = given.get("recurrent_activation", None if positional > _BEFORE_ACTIVATION else "hard_sigmoid")
    if activation == "hard_sigmoid":
        config["recurrent_activation"] = _hard_sigmoid
    if "reset_after" in config and "reset_after" not in given:
        config["reset_after"] = False
    old = _of_keras(type(layer))(**config)
    old(*args, **kwargs)
    values = []
    for variable, own in zip(old.weights, layer.get_weights()):
        values.append(own if tuple(variable.shape) == own.shape else own.sum(axis=0))
    old.set_weights(values)
    return old(*args, **kwargs)


def _hard_sigmoid(x: Any) -> Any:
    import tensorflow as tf

    return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)
