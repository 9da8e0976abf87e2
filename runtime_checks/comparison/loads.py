"""What the TF2 side loads from checkpoints by itself, and does not get."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..worker.recording.format.reading import Scenario

__all__ = ["unloaded"]

_SHOWN = 3


def unloaded(structure: Scenario) -> list[str]:
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
