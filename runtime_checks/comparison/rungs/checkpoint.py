"""Rung 5: a TF1 checkpoint, and what the TF2 side loads from checkpoints by itself and does not get."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Scenario
from ..climb import Climb, Settled, why_missing
from ..results import Status
from ..wording import some

NUMBER = "5"
TITLE = "TF1 checkpoint"
COMPARED = "outputs with the values of a TF1 checkpoint; names matched, missing and unused"
SCENARIOS = {scenarios.CHECKPOINT: ()}

_SHOWN = 3
_WORDS = {"expected": "unused, as is to be expected of slots and counters"}


def judge(climb: Climb) -> Settled:
    """Fails where a side does not get what the checkpoint holds, or outputs differ with it."""
    structure = climb.tf2.scenario(scenarios.STRUCTURE)
    settled = _restored(climb)
    settled = settled._replace(names={**settled.names, **_told(structure)})
    silent = _unloaded(structure)
    if not silent:
        return settled
    words = [*silent, *([settled.detail] if settled.status is Status.FAIL else [])]
    return settled._replace(status=Status.FAIL, detail="; ".join(words))


def _told(structure: Scenario) -> dict[str, tuple[str, ...]]:
    """The variables that each call to load a checkpoint loaded, and those that it left as they were."""
    found: dict[str, tuple[str, ...]] = {}
    for call in _calls(structure):
        for what, names in (("loaded", call.get("loaded")), ("left", call.get("not_loaded"))):
            if names:
                found[f"{_call(call)} {what}"] = tuple(map(str, names))
    return found


def _restored(climb: Climb) -> Settled:
    both = climb.both(scenarios.CHECKPOINT)
    why = why_missing(both) or climb.other_inputs(scenarios.CHECKPOINT)
    if why:
        return Settled(Status.NOT_RUN, why)
    checks, notes, wrong = climb.forward(scenarios.CHECKPOINT), [], []
    told: dict[str, tuple[str, ...]] = {}
    for side, scenario in both:
        said = scenario.said
        matched, missing = _names(said.get("matched")), _names(said.get("missing"))
        mismatched, unused = _names(said.get("mismatched")), _names(said.get("unused"))
        notes.append(f"{side}: {len(matched)} matched, {len(missing)} missing, {len(unused)} unused")
        if not matched:
            wrong.append(f"{side} took nothing from the checkpoint")
        if missing:
            wrong.append(f"{side} found no value for {some(missing)}")
        if mismatched:
            wrong.append(f"{side} could not use {some(mismatched)}")
        for what in ("matched", "missing", "mismatched", "unused", "expected"):
            if names := _names(said.get(what)):
                told[f"{side} {_WORDS.get(what, what)}"] = tuple(names)
    settled = climb.settle(
        checks, (*notes, *climb.notes(checks)), climb.of_outputs(scenarios.CHECKPOINT, checks) or climb.blind
    )
    settled = settled._replace(names=told)
    if wrong and settled.status is not Status.VACUOUS:
        differ = [settled.detail] if settled.status is Status.FAIL else []
        return settled._replace(status=Status.FAIL, detail="; ".join([*wrong, *differ]))
    return settled


def _names(value: Any) -> list[str]:
    found = value if isinstance(value, list) else []
    return [str(one.get("name", one)) if isinstance(one, Mapping) else str(one) for one in found]


def _unloaded(structure: Scenario) -> list[str]:
    """A sentence for each call that left variables as they were and said nothing of it.

    Args:
        structure: of the TF2 side, where the calls are watched.
    """
    return [_sentence(call) for call in _calls(structure) if call.get("silent")]


def _calls(structure: Scenario) -> list[Mapping[str, Any]]:
    said = structure.said.get("loads")
    return [call for call in (said if isinstance(said, list) else []) if isinstance(call, Mapping)]


def _call(call: Mapping[str, Any]) -> str:
    place = call.get("place")
    return f"{call.get('call')}" + (f" at {os.path.basename(str(place[0]))}:{place[1]}" if place else "")


def _sentence(call: Mapping[str, Any]) -> str:
    begin = _call(call)
    if call.get("problem"):
        return f"{begin} did not load everything: {call['problem']}"
    names = [str(name) for name in call.get("not_loaded") or ()]
    total = len(names) + len(call.get("loaded") or ())
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"{begin} left {len(names)} of {total} variables as they were, without a word: {shown}"
