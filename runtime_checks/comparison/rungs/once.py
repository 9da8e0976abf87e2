"""Rung 1: what later calls of the TF2 model create."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Scenario
from ..climb import Climb, Settled, why_missing
from ..results import Status
from ..wording import place as shown

NUMBER = "1"
TITLE = "variables are created once"
COMPARED = "later calls of the TF2 model make no variables: training and inference, eager and in `tf.function`"
SCENARIOS = {scenarios.ONCE: (), scenarios.STRUCTURE: ()}


def judge(climb: Climb) -> Settled:
    """Fails where a later call creates a variable."""
    scenario = climb.tf2.scenario(scenarios.ONCE)
    if scenario.outcome != "ok":
        return Settled(Status.NOT_RUN, why_missing([("TF2", scenario)]))
    created = [one for one in scenario.said.get("created") or () if isinstance(one, Mapping)]
    calls = _calls(scenario)
    if not created and calls and len(calls) == len(scenario.said.get("calls") or ()):
        return Settled(Status.NOT_RUN, f"no call ended well: {calls[0]}", notes=calls)
    if not created and calls:
        many = "a call" if len(calls) == 1 else f"{len(calls)} calls"
        detail = f"{many} raised, first {calls[0]}; the others create no variables"
        return Settled(Status.NOT_RUN, detail, notes=calls[1:])
    if not created:
        return Settled(Status.PASS, "later calls create no variables")
    words = [_created(one) for one in created]
    count = "a variable" if len(words) == 1 else f"{len(words)} variables"
    return Settled(Status.FAIL, f"later calls create {count}: {words[0]}", notes=(*words[1:], *calls))


def _created(one: Mapping[str, Any]) -> str:
    place = one.get("place")
    where = f" at {shown((str(place[0]), int(place[1])))}" if place else ""
    return f"{one.get('name', 'a variable')} {list(one.get('shape') or ())}{where} in {one.get('call', 'a later call')}"


def _calls(scenario: Scenario) -> tuple[str, ...]:
    """The calls that did not end well."""
    calls = [call for call in scenario.said.get("calls") or () if isinstance(call, Mapping)]
    return tuple(f"{call.get('name')}: {call.get('ended')}" for call in calls if call.get("ended") != "ok")
