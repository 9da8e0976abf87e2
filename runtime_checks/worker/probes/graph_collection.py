"""TF403: whether a collection of a graph is used where no graph is built."""

from __future__ import annotations

from ..at_line import settle
from ..lines import GRAPH
from ..lookup import missing
from ..recorder import Event
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding

_KEYS = {
    "trainable_variables": ("trainable_variables",),
    "global_variables": ("variables",),
    "all_variables": ("variables",),
    "local_variables": ("local_variables",),
    "model_variables": ("model_variables",),
    "moving_average_variables": ("moving_average_variables",),
    "get_losses": ("losses",),
    "get_regularization_losses": ("regularization_losses",),
    "get_regularization_loss": ("regularization_losses",),
    "get_total_loss": ("losses", "regularization_losses"),
}
"""The collections that a function without a key reads."""


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By the name; then by what was in the collection, and in which context it was read or written."""
    gone = missing(finding)
    if gone is not None:
        return gone
    function = finding.called
    if function == "get_variable":
        return _of_variable(finding, run)
    keys = _KEYS.get(function)
    events = [e for e in run.events_at(finding, "collection") if keys is None or e.detail["name"] in keys]
    if keys is None:
        events = [e for e in events if e.detail["write"] == function.startswith("add_")]
    outside = [e for e in events if e.context != GRAPH]
    if not events:
        return settle(finding, run, "the line ran and used no collection")
    if not outside:
        return Judgement(
            REFUTED, events[0].phase, "a tf.Graph was being built, which has collections: " + _held(events)
        )
    if any(e.detail["write"] for e in outside):
        return _of_writes(outside, run)
    return _of_reads(outside)


def _of_variable(finding: StaticFinding, run: Run) -> Judgement:
    """``collections=`` of a variable."""
    for event in run.events_at(finding, "variable"):
        name = event.detail["name"]
        if event.context == GRAPH:
            return Judgement(REFUTED, event.phase, f"`{name}` was made in a tf.Graph, which has collections")
        detail = f"`{name}` was made outside of a tf.Graph and is in no collection"
        return Judgement(CONFIRMED, event.phase, detail, ())  # whether calls make it again is another question
    return settle(finding, run, "the line ran and made no variable")


def _of_reads(events: list[Event]) -> Judgement:
    empty = [e for e in events if not e.detail["size"]]
    if empty:
        name = empty[0].detail["name"]
        return Judgement(CONFIRMED, empty[0].phase, f"the collection `{name}` was empty: no tf.Graph was being built")
    return _grown(events) or Judgement(REFUTED, events[-1].phase, _held(events))


def _of_writes(events: list[Event], run: Run) -> Judgement:
    name = events[0].detail["name"]
    if name in _standard_keys():
        detail = (
            f"the value went into the collection `{name}` while no tf.Graph was being built: nothing reads it there"
        )
        return Judgement(CONFIRMED, events[0].phase, detail)
    return _grown(events) or Judgement(REFUTED, events[-1].phase, _held(events))


def _grown(events: list[Event]) -> Judgement | None:
    """Confirmed where a collection of the default graph holds more in a later phase than in the first."""
    first = events[0]
    for event in events[1:]:
        more = event.detail["name"] == first.detail["name"] and event.detail["size"] > first.detail["size"]
        if more and event.phase is not first.phase:
            detail = "the collection `{}` grows with the calls: {} in the {}, {} in the {}".format(
                first.detail["name"], first.detail["size"], first.phase, event.detail["size"], event.phase
            )
            return Judgement(CONFIRMED, event.phase, detail)
    return None


def _held(events: list[Event]) -> str:
    held = dict.fromkeys("`{}` held {}".format(e.detail["name"], e.detail["size"]) for e in events)
    return ", ".join(list(held)[:3])


def _standard_keys() -> set[str]:
    import tensorflow as tf

    return {value for value in vars(tf.compat.v1.GraphKeys).values() if isinstance(value, str)}
