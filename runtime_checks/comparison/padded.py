"""Which rows of a batch are padded."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["padded_rows"]


def padded_rows(value: Any, lengths: set[int]) -> Any:
    """Which rows are shorter than the longest: a length says so, or steps that hold nothing but zeros."""
    if value is None or value.ndim == 0:
        return None
    if value.ndim == 1:
        longest = next((length for length in lengths if np.all((value >= 0) & (value <= length))), None)
        return None if longest is None else value < longest
    steps = value.reshape(*value.shape[:2], -1)
    return np.any(np.all(steps == 0.0, axis=2), axis=1)
