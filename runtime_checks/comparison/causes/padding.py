"""Evidence from the rows of a batch: those that are padded differ, and the full ones agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Record
from ...worker.recording.format.rows import Place
from ..results import Deviation
from ..settings import place_in
from ..wording import place as shown
from .evidence import ROUNDING, Clue, Seen

__all__ = ["clues"]

def clues(seen: Seen) -> Iterator[Clue]:
    """What the rows of the outputs say of masks, from equal weights and without randomness.

    Nothing where all rows agree or all differ: rows of one kind alone tell nothing.
    """
    for scenario in (scenarios.FINGERPRINT, scenarios.CONSTANT):
        for check in seen.failed(scenario, "output", step=0):
            differ = _rows(seen, check)
            if differ is None or differ.all() or not differ.any():
                continue
            given = _given(seen, scenario)
            lengths = {int(record.shape[1]) for record in given if len(record.shape) > 1}
            for record in given:
                padded = _padded(seen.value("tf2", scenario, "input", record.name), lengths)
                if padded is not None and np.array_equal(padded, differ):
                    yield _clue(seen, check, record.name, int(differ.sum()), differ.size)
                    return


def _rows(seen: Seen, check: Deviation) -> Any:
    """Which rows of an output differ by more than rounding; None where it has no rows."""
    old = seen.value("tf1", check.scenario, check.kind, check.tf1_name)
    new = seen.value("tf2", check.scenario, check.kind, check.tf2_name)
    if old is None or new is None or old.shape != new.shape or old.ndim == 0 or old.size == 0:
        return None
    errors = np.abs(new - old).reshape(len(old), -1).max(axis=1)
    return ~(errors <= ROUNDING * np.abs(old).max(initial=0.0))


def _padded(value: Any, lengths: set[int]) -> Any:
    """Which rows are shorter than the longest: a length says so, or steps that hold nothing but zeros."""
    if value is None or value.ndim == 0:
        return None
    if value.ndim == 1:
        longest = next((length for length in lengths if np.all((value >= 0) & (value <= length))), None)
        return None if longest is None else value < longest
    steps = value.reshape(*value.shape[:2], -1)
    return np.any(np.all(steps == 0.0, axis=2), axis=1)


def _given(seen: Seen, scenario: str) -> list[Record]:
    """The inputs of the batch."""
    found = (seen.record("tf2", scenario, "input", name) for name in seen.names("tf2", scenario, "input"))
    return [record for record in found if record is not None]


def _clue(seen: Seen, check: Deviation, name: str, padded: int, size: int) -> Clue:
    text = f"{padded} of {size} rows differ, those that {name} says are padded, and the full ones agree: "
    behind = _behind_the_end(seen, check)
    if behind:
        return Clue("padding", 0.98, text + behind)
    text += "one side leaves padding out, as a mask or sequence_length does, and the other does not."
    embedding = _embedding(seen, check.scenario)
    if embedding is not None:
        text += f" An embedding takes it at {shown(embedding)}, where mask_zero=True would make a mask."
    return Clue("padding", 0.98, text, embedding)


def _behind_the_end(seen: Seen, check: Deviation) -> str:
    """What only differs in steps that are padding where a side repeats its last step there; else an empty text."""
    old = seen.value("tf1", check.scenario, check.kind, check.tf1_name)
    new = seen.value("tf2", check.scenario, check.kind, check.tf2_name)
    if old is None or new is None or old.ndim < 3:
        return ""
    least = ROUNDING * np.abs(old).max(initial=0.0)
    first, second = (side.reshape(*side.shape[:2], -1) for side in (old, new))
    agree = (np.abs(first - second) <= least).all(axis=2)
    repeated = {"TF1": True, "TF2": True}
    for row in range(len(agree)):
        steps = int(np.argmin(agree[row])) if not agree[row].all() else agree.shape[1]
        if steps == 0 or agree[row, steps:].any():
            return ""
        for side, values in (("TF1", first[row]), ("TF2", second[row])):
            repeated[side] = repeated[side] and bool((np.abs(values[steps:] - values[steps - 1]) <= least).all())
    if repeated["TF1"] == repeated["TF2"]:
        return ""
    side, other = ("TF2", "TF1") if repeated["TF2"] else ("TF1", "TF2")
    return (
        f"only steps behind their ends. {side} repeats there what the last step gave, as a masked layer of Keras does, "
        f"and {other} does not, as `dynamic_rnn` gives zeros: it matters where something reads these steps."
    )


def _embedding(seen: Seen, scenario: str) -> Place | None:
    """Where the first layer is made that looks up vectors for whole numbers of the batch."""
    shapes = {one.shape for one in _given(seen, scenario) if "int" in one.dtype and len(one.shape) > 1}
    for name in seen.names("tf2", scenario, "tap"):
        tap = seen.record("tf2", scenario, "tap", name)
        if tap is not None and tap.shape[:-1] in shapes and len(tap.more.get("owned") or ()) == 1:
            return place_in(tap.more, "made") or tap.place
    return None
