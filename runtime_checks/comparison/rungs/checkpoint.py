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


def judge(climb: Climb) -> Settled:
    """Fails where a side does not get what the checkpoint holds, or outputs differ with it."""
    settled = _restored(climb)
    silent = _unloaded(climb.tf2.scenario(scenarios.STRUCTURE))
    if not silent:
        return settled
    words = [*silent, *([settled.detail] if settled.status is Status.FAIL else [])]
    return settled._replace(status=Status.FAIL, detail="; ".join(words))


def _restored(climb: Climb) -> Settled:
    both = climb.both(scenarios.CHECKPOINT)
    why = why_missing(both) or climb.other_inputs(scenarios.CHECKPOINT)
    if why:
        return Settled(Status.NOT_RUN, why)
    checks, notes, wrong = climb.forward(scenarios.CHECKPOINT), [], []
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
        if unused:
            notes.append(f"{side} did not use {some(unused)}")
    settled = climb.settle(
        checks, (*notes, *climb.notes(checks)), climb.of_outputs(scenarios.CHECKPOINT, checks) or climb.blind
    )
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
    said = structure.said.get("loads")
    calls = said if isinstance(said, list) else []
    return [_sentence(call) for call in calls if isinstance(call, Mapping) and call.get("silent")]


def _sentence(call: Mapping[str, Any]) -> str:
    place = call.get("place")
    where = f" at {os.path.basename(str(place[0]))}:{place[1]}" if place else ""
    begin = f"{call.get('call')}{where}"
    if call.get("problem"):
        return f"{begin} did not load everything: {call['problem']}"
    names = [str(name) for name in call.get("not_loaded") or ()]
    total = len(names) + len(call.get("loaded") or ())
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"{begin} left {len(names)} of {total} variables as they were, without a word: {shown}"
