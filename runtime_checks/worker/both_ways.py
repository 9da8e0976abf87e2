"""What an expression gives computed in two ways, compared up to rounding: what the probes of numbers ask."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

__all__ = ["ROUNDING", "arrays", "difference"]

ROUNDING = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-9}
"""By dtype, how far apart equal numbers may lie, as a part of the largest of them."""


def arrays(value: Any) -> list[Any]:
    """The tensors of a structure as arrays, in order."""
    import tensorflow as tf

    return [tf.convert_to_tensor(leaf).numpy() for leaf in tf.nest.flatten(value) if leaf is not None]


def difference(now: Sequence[Any], before: Sequence[Any], than: str) -> str:
    """In words, how far what is computed now lies from what it was; empty where they are the same up to rounding.

    ``than`` says of the number that it was, for ``0.12 where TF1 gave 0.43``.
    """
    if len(now) != len(before):
        return f"{len(now)} outputs {than} {len(before)}"
    for one, other in zip(now, before):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"shape {one.shape} and {one.dtype} {than} {other.shape} and {other.dtype}"
        said = _apart(one, other, than)
        if said:
            return said
    return ""


def _apart(one: Any, other: Any, than: str) -> str:
    if not one.size:
        return ""
    rounding = ROUNDING.get(str(one.dtype))
    if rounding is None:
        off = np.asarray(one != other, np.float64)
        limit = 0.0
    else:
        wide, narrow = one.astype(np.float64), other.astype(np.float64)
        same = (wide == narrow) | (np.isnan(wide) & np.isnan(narrow))
        with np.errstate(invalid="ignore"):
            off = np.where(same, 0.0, np.abs(wide - narrow))
        off = np.where(np.isnan(off), np.inf, off)
        finite = np.abs(np.concatenate([wide.ravel(), narrow.ravel()]))
        finite = finite[np.isfinite(finite)]
        limit = rounding * (finite.max() if finite.size else 0.0)
    if off.max() <= limit:
        return ""
    at = np.unravel_index(int(off.argmax()), off.shape)
    where = f", the largest at {[int(part) for part in at]}" if at else ""
    apart = "" if rounding is None else f"by {off.max():.3g} "
    return f"differ {apart}(shape {one.shape}{where}: {_shown(one[at])} {than} {_shown(other[at])})"


def _shown(value: Any) -> str:
    return f"{float(value):.6g}" if str(value.dtype) in ROUNDING else str(value)[:40]
