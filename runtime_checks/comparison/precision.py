"""What became of a program under a policy of mixed precision: what was computed in 16 bits, and what 16 bits lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Record, Recorded
from .judging.pairing import Index
from .judging.tolerances import table
from .judging.values import Values
from .wording import some

__all__ = ["idle", "notes", "unreached"]

_ENOUGH = 4
"""Elements of outputs that are not rounded alike by chance."""


def unreached(ordinary: Recorded, variant: Recorded, dtype: str, values: Values) -> str:
    """Why a recording says nothing of a 16-bit dtype: it was computed in float32 all the same. Empty where it was not.

    That is so where no layer and no output has the dtype, and where all outputs are those of float32, rounded once.
    """
    if not any(record.dtype == dtype for record in _floating(variant)):
        return f"computed in float32 all the same: no output of the model or of a layer is {dtype}"
    name = scenarios.FINGERPRINT
    ones, others = (Index(recorded.scenario(name)).all("output", 0) for recorded in (ordinary, variant))
    rounded = [(_rounded(values.of(one), dtype), values.of(other)) for one, other in zip(ones, others, strict=False)]
    if sum(one.size for one, _ in rounded) < _ENOUGH or any(one.dtype == dtype for one in ones):
        return ""
    if all(one.shape == other.shape and np.array_equal(one, other, equal_nan=True) for one, other in rounded):
        return f"computed in float32 all the same: the outputs are those of float32, rounded to {dtype}"
    return ""


def notes(ordinary: Recorded, variant: Recorded, dtype: str, values: Values) -> Iterator[str]:
    """What a reader must know: which layers keep float32, which steps are not finite, and which gradients are lost."""
    layers = {record.name: record.dtype for record in _floating(variant) if record.kind == "tap"}
    others = [name for name, found in layers.items() if found != dtype]
    if others:
        yield f"{len(others)} of {len(layers)} layers give no {dtype}: {some(others)}"
    first, second = (Index(recorded.scenario(scenarios.STEPS)) for recorded in (ordinary, variant))
    steps = _steps(first, second)
    infinite = {step: kinds for step in steps if (kinds := _infinite(second, step, values))}
    if infinite:
        step, kinds = next(iter(infinite.items()))
        yield f"{len(infinite)} of {len(steps)} training steps are not finite in {dtype}, first step {step} ({kinds})"
    missed = idle(ordinary, variant)
    if missed:
        why = ": loss scaling passes over gradients that are not finite" if variant.content.get("scales_loss") else ""
        yield f"{len(missed)} of {len(steps)} training steps made no update, first step {missed[0]}{why}"
    elif steps:
        yield from _vanished(first, second, steps[0], dtype, values)
    if steps and dtype == "float16" and not variant.content.get("scales_loss"):
        yield "no optimizer was seen to scale the loss: what of a gradient is below 6e-8 is lost"


def idle(ordinary: Recorded, variant: Recorded) -> list[int]:
    """The training steps in which gradients were applied, and not in mixed precision."""
    first, second = (Index(recorded.scenario(scenarios.STEPS)) for recorded in (ordinary, variant))
    return [step for step in _steps(first, second) if first.all("gradient", step) and not second.all("gradient", step)]


def _steps(first: Index, second: Index) -> list[int]:
    return sorted({step for step in first.steps() if step >= 0} & set(second.steps()))


def _floating(recorded: Recorded) -> list[Record]:
    """What models, layers and losses gave in passes that are compared."""
    records = [record for name in scenarios.OF_VARIANT for record in recorded.scenario(name).records]
    return [record for record in records if record.kind in ("tap", "output", "loss") and table(record.dtype)[0]]


def _infinite(index: Index, step: int, values: Values) -> str:
    """The kinds of values of a step that are not all finite."""
    records = [one for kind in ("output", "loss", "gradient") for one in index.all(kind, step) if one.kept]
    found = ((one.kind, values.of(one)) for one in records)
    kinds = (kind for kind, value in found if value.dtype.kind in "fc" and not np.all(np.isfinite(value)))
    return ", ".join(dict.fromkeys(kinds))


def _vanished(first: Index, second: Index, step: int, dtype: str, values: Values) -> Iterator[str]:
    """How many elements of gradients are zero in 16 bits alone, where that is more than rounding does."""
    lost = whole = 0
    for record in first.all("gradient", step):
        other = second.find("gradient", record.name, step)
        if other is not None and record.kept and other.kept and record.shape == other.shape:
            alive = values.of(record) != 0
            whole += int(np.sum(alive))
            lost += int(np.sum(alive & (values.of(other) == 0)))
    if lost * 20 > whole:
        yield f"of {whole} elements of gradients that are not zero in float32 {lost} are zero in {dtype}, step {step}"


def _rounded(value: Any, dtype: str) -> Any:
    """A float32 array rounded to a 16-bit dtype, as float32."""
    value = np.ascontiguousarray(value, np.float32)
    with np.errstate(all="ignore"):
        if dtype == "float16":
            return value.astype(np.float16).astype(np.float32)
    bits = value.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
