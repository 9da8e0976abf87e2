"""Evidence of rows that come several times in a gradient of slices, as where a batch looks up one number twice.

TF1 and Keras 2 add up the slices of a row before they square it, ``(a + b) ** 2``; the optimizers of Keras 3 square the
slices and add up those, ``a ** 2 + b ** 2``. Executed with TensorFlow 2.21 and Keras 3.15 this is so for Adam, AdamW,
Nadam, Adamax, RMSprop, Adagrad, Adadelta and Ftrl; SGD with momentum and Lion square nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...worker.recording.format import scenarios
from .evidence import Clue, Seen, Twin

__all__ = ["KIND", "clues"]

KIND = "repeated rows"
_STEPS = scenarios.STEPS
_UPDATED = ("update", "variable")
_LEFT = 1e-3
"""What a fit may leave, relative to how far the elements are from their mean."""
_TELLS = 10.0
"""So much more another fit leaves that is none."""
_AGREE = 1e-4
"""How far the changes of a row may be apart that agree, relative to the largest."""
_ADVICE = (
    "Give the optimizer tf.convert_to_tensor(gradient), which adds them up, in apply_gradients or in an `apply` of its "
    "own, behind a clip by the global norm, which takes each slice for itself; tf_keras does so by itself"
)


def clues(seen: Seen, step: int) -> Iterator[Clue]:
    """Says so where the first step in which updates differ is one whose batch repeats rows, and that is what differs.

    Args:
        seen: the report with its recordings.
        step: the first one in which training differs, by its updates.
    """
    failed = {check.tf1_name for check in seen.failed(_STEPS, *_UPDATED, step=step)}
    twins = [twin for twin in seen.twins if twin.old in failed]
    known = {twin.old: seen.value("tf2", _STEPS, "squares", twin.new, step) for twin in twins}
    for twin in twins:
        squares, gradients = known[twin.old], seen.both(twin, _STEPS, "gradient", step)
        if squares is None or gradients is None or squares.shape != gradients[1].shape:
            continue
        used, repeated = _rows(squares, gradients[1])
        why = _of_slots(seen, twin, step, squares) or _of_rows(seen, twin, step, used, repeated)
        if why:
            what = "rows" if squares.ndim == len(twin.shape) else "recorded elements"
            counts = (
                f"{np.count_nonzero(used)} {what} of {twin.old}, {np.count_nonzero(repeated)} of them more than once"
            )
            text = f"The batch of step {step} looks up {counts}, and {why}. {_ADVICE}."
            yield Clue(KIND, 0.6 if any(one is None for one in known.values()) else 0.97, text)
            return


def _rows(squares: Any, gradient: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which rows a gradient has, and which of these come more than once; of the elements that are kept, if not all."""
    shape = (len(squares), -1)
    summed = np.square(gradient)
    apart = np.abs(squares - summed) > 1e-5 * np.maximum(squares, summed)
    used: np.ndarray = np.any(squares.reshape(shape) > 0, axis=1)
    repeated: np.ndarray = np.any(apart.reshape(shape), axis=1)
    return used, repeated


def _of_slots(seen: Seen, twin: Twin, step: int, squares: Any) -> str:
    """Says so where a slot of TF2 is made of the sum of squares, and TF1's of the square of the sum."""
    for name, slot, old in _slots(seen, twin, step):
        gradients = seen.both(twin, _STEPS, "gradient", step)
        if gradients is None:
            continue
        chosen = squares > 0
        sums = [np.square(gradient)[chosen] for gradient in gradients]
        before = [_before(seen, side, name, step, chosen) for side, name in (("tf1", old), ("tf2", name))]
        one, two = (_kept(seen, side, at, step, chosen) for side, at in (("tf1", old), ("tf2", name)))
        if one is None or two is None:
            continue
        apart = _left(two, squares[chosen], before[1])
        if apart < _LEFT and _left(two, sums[1], before[1]) > _TELLS * max(apart, _LEFT):
            if _left(one, sums[0], before[0]) < _LEFT:
                return f"{slot} of TF2 is made of the sum of their squares, that of TF1 of the square of their sum"
    return ""


def _slots(seen: Seen, twin: Twin, step: int) -> Iterator[tuple[str, str, str]]:
    """The slots of TF2 for a weight: the name, what slot it is, and the name of the same one on TF1."""
    olds = {}
    for name in seen.names("tf1", _STEPS, "slot", step):
        record = seen.record("tf1", _STEPS, "slot", name, step)
        if record is not None and record.more.get("variable") == twin.old:
            olds[str(record.more.get("slot"))] = name
    for name in seen.names("tf2", _STEPS, "slot", step):
        record = seen.record("tf2", _STEPS, "slot", name, step)
        if record is not None and record.more.get("variable") == twin.new:
            slot = str(record.more.get("slot"))
            if slot in olds:
                yield name, slot, olds[slot]


def _kept(seen: Seen, side: str, name: str, step: int, chosen: np.ndarray) -> Any:
    """The chosen elements of a slot; None where it has another shape."""
    value = seen.value(side, _STEPS, "slot", name, step)
    return None if value is None or value.shape != chosen.shape else value[chosen]


def _before(seen: Seen, side: str, name: str, step: int, chosen: np.ndarray) -> Any:
    return None if step == 0 else _kept(seen, side, name, step - 1, chosen)


def _left(slot: Any, squares: Any, before: Any) -> float:
    """What is left of a slot that is taken for a multiple of squares, of what it was before, and of a number."""
    spread = float(np.linalg.norm(slot - np.mean(slot)))
    columns = [squares / (np.max(squares) or 1.0), np.ones_like(slot)]
    columns += [] if before is None else [before / (np.max(np.abs(before)) or 1.0)]
    if slot.size < 2 * len(columns) or not spread or not np.isfinite(spread):
        return float("inf")
    found, *_ = np.linalg.lstsq(np.stack(columns, 1), slot, rcond=None)
    return float(np.linalg.norm(slot - np.stack(columns, 1) @ found)) / spread


def _of_rows(seen: Seen, twin: Twin, step: int, used: np.ndarray, repeated: np.ndarray) -> str:
    """Says so where these rows alone change otherwise, and others that the batch uses change alike."""
    changes = seen.change(twin, _STEPS, step)
    once = used & ~repeated
    if changes is None or not np.any(once) or not np.any(repeated):
        return ""
    old, new = (change.reshape(len(used), -1) for change in changes)
    apart = np.max(np.abs(old - new), axis=1) > _AGREE * max(float(np.max(np.abs(change))) for change in changes)
    return "they alone change otherwise than on TF1" if np.any(apart) and not np.any(apart & ~repeated) else ""
