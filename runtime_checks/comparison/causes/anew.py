"""Evidence of an optimizer that a training step makes anew: what it keeps from step to step begins from nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...worker.recording.format import scenarios
from ..settings import place_in
from ..wording import figure
from ..wording import place as shown
from .evidence import Clue, Seen, Twin, near

__all__ = ["KIND", "clues"]

KIND = "optimizer made anew"
_STEPS = scenarios.STEPS
_FEWEST = 6
"""Elements of a slot that three coefficients do not fit by chance."""
_LEFT = 1e-3
"""What a fit may leave, relative to how far the elements are from their mean."""


def clues(seen: Seen, step: int, first: bool) -> Iterator[Clue]:
    """Says so where the optimizer of TF2 is another object than in the step before, and holds nothing of that step.

    Args:
        seen: the report with its recordings.
        step: the first one in which training differs.
        first: whether it differs there by the rate, the update or what the optimizer keeps, and by nothing before that.
    """
    for row in seen.tf2.content.get("optimizers") or ():
        begun = int(row.get("anew") or 0)
        at = max(step, begun)
        why = (_of_rate(seen, at) or _of_slots(seen, at)) if begun else ""
        if why:
            made = place_in(row, "made")
            where = "" if made is None else f" at {shown(made)}"
            text = f"TF2 makes its {row.get('class')} anew in each step{where}: {why}. Make it once, before the steps."
            yield Clue(KIND, 0.97 if first and step >= begun else 0.5, text, made, _made_by_tf1(seen))
            return


def _made_by_tf1(seen: Seen) -> Any:
    rows = [row for row in seen.tf1.content.get("optimizers") or () if isinstance(row, Mapping)]
    return place_in(rows[0], "made") if len(rows) == 1 else None


def _of_rate(seen: Seen, step: int) -> str:
    """Says so where a rate of TF2 is again that of the first step, and TF1's is not."""
    for check in seen.failed(_STEPS, "learning_rate", step=step):
        one, old = (seen.scalar("tf1", _STEPS, "learning_rate", check.tf1_name, at) for at in (0, step))
        two, new = (seen.scalar("tf2", _STEPS, "learning_rate", check.tf2_name, at) for at in (0, step))
        if one is None or old is None or two is None or new is None:
            continue
        if near(two, new, 1e-6) and not near(one, old, 1e-6):
            return f"the learning rate of step {step} is again that of step 0, {figure(new)}"
    return ""


def _of_slots(seen: Seen, step: int) -> str:
    """Says so where a slot of TF2 is made of the gradient of a step alone, and one of TF1 for that weight is not."""
    for name, weight in _slots(seen, "tf2", step):
        twin = next((one for one in seen.twins if one.new == weight), None)
        if twin is not None and _alone(seen, "tf2", name, twin, step):
            olds = [old for old, owner in _slots(seen, "tf1", step) if owner == twin.old]
            if olds and not all(_alone(seen, "tf1", old, twin, step) for old in olds):
                return f"after step {step} {name} holds nothing but the gradient of that step"
    return ""


def _slots(seen: Seen, side: str, step: int) -> Iterator[tuple[str, str]]:
    """The names of the slots after a step, each with the weight that it is of."""
    for name in seen.names(side, _STEPS, "slot", step):
        record = seen.record(side, _STEPS, "slot", name, step)
        if record is not None and record.more.get("variable"):
            yield name, str(record.more["variable"])


def _alone(seen: Seen, side: str, name: str, twin: Twin, step: int) -> bool:
    """Whether a slot is a sum of multiples of a gradient and its square, and of a number, with what is not zero."""
    slot = seen.value(side, _STEPS, "slot", name, step)
    gradient = seen.value(side, _STEPS, "gradient", twin.new if side == "tf2" else twin.old, step)
    if slot is None or gradient is None or slot.shape != gradient.shape:
        return False
    values, given = np.ravel(slot), np.ravel(gradient)
    spread = float(np.linalg.norm(values - np.mean(values)))
    if values.size < _FEWEST or not spread or not np.isfinite([values, given]).all():
        return False
    scale = float(np.max(np.abs(given))) or 1.0
    columns = np.stack([given / scale, np.square(given / scale), np.ones_like(given)], 1)
    found, *_ = np.linalg.lstsq(columns, values, rcond=None)
    return float(np.linalg.norm(values - columns @ found)) < _LEFT * spread
