"""How far two arrays are apart, element by element."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

__all__ = ["OTHER_SHAPES", "Measured", "apart", "digest", "largest", "measure", "numeric"]

OTHER_SHAPES = "the shapes differ"
"""How the problem of two values begins that cannot be compared for their shapes."""
_NAN = float("nan")


class Measured(NamedTuple):
    """The figures of `Deviation`; with a `problem` they are NaN."""

    passed: bool
    error: float = _NAN
    relative: float = _NAN
    at: tuple[int, ...] = ()
    tf1_value: float = _NAN
    tf2_value: float = _NAN
    excess: float = _NAN
    needed_rtol: float = _NAN
    problem: str = ""


def measure(tf1: Any, tf2: Any, rtol: float, atol: float, slack: Any = 0.0) -> Measured:
    """Compare two arrays.

    Args:
        tf1: numbers, truth values or texts.
        tf2: likewise.
        rtol: relative to the magnitude of the TF1 value.
        atol: absolute.
        slack: added to what is tolerated; a number or an array of that shape.
    """
    if tf1.shape != tf2.shape:
        return Measured(False, problem=f"{OTHER_SHAPES}: {list(tf1.shape)} and {list(tf2.shape)}")
    if tf1.dtype.kind in "SU" or tf2.dtype.kind in "SU":
        same = tf1.dtype.kind == tf2.dtype.kind and bool(np.all(tf1 == tf2))
        return (
            Measured(True, 0.0, 0.0, excess=0.0, needed_rtol=0.0) if same else Measured(False, problem="texts differ")
        )
    missing = [name for name, value in (("TF1", tf1), ("TF2", tf2)) if bool(np.any(np.isnan(value)))]
    if missing:
        return Measured(False, problem="NaN on both sides" if len(missing) == 2 else f"NaN on the {missing[0]} side")
    if tf1.size == 0 or np.array_equal(tf1, tf2):
        at, first, second = _shown(tf1, tf2, 0)
        return Measured(True, 0.0, 0.0, at, first, second, 0.0, 0.0)
    return _measured(tf1, tf2, rtol, atol, slack)


def _measured(tf1: Any, tf2: Any, rtol: float, atol: float, slack: Any) -> Measured:
    with np.errstate(all="ignore"):
        error = apart(tf1, tf2)
        size = np.abs(numeric(tf1))
        allowed = atol + rtol * size + slack
        excess = np.where(error == 0, 0.0, error / allowed)
        excess[np.isnan(excess) | (np.isinf(error))] = np.inf
        relative = np.where(error == 0, 0.0, error / size)
        beyond = np.maximum(error - atol - slack, 0.0)
        needed = np.where(beyond == 0, 0.0, beyond / size)
    worst = int(np.argmax(excess))
    at, first, second = _shown(tf1, tf2, worst)
    return Measured(
        passed=bool(excess.reshape(-1)[worst] <= 1.0),
        error=float(np.max(error)),
        relative=_top(relative),
        at=at,
        tf1_value=first,
        tf2_value=second,
        excess=float(excess.reshape(-1)[worst]),
        needed_rtol=_top(needed),
    )


def numeric(value: Any) -> Any:
    """The array with enough digits to tell differences: complex where it is complex, otherwise float64."""
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


def apart(one: Any, other: Any) -> Any:
    """The absolute differences; equal infinities are not apart, NaN is infinitely far from everything."""
    with np.errstate(all="ignore"):
        error = np.abs(numeric(one) - numeric(other))
        error = np.where(one == other, 0.0, error)
    return np.where(np.isnan(error), np.inf, error)


def digest(value: Any) -> bytes:
    """The same for arrays of one dtype, shape and content."""
    value = np.ascontiguousarray(value)
    return hashlib.sha256(f"{value.dtype}{value.shape}".encode() + value.tobytes()).digest()


def largest(value: Any) -> float:
    """The largest finite magnitude, 0.0 if there is none."""
    if value.size == 0 or value.dtype.kind in "SU":
        return 0.0
    if value.dtype.kind == "f":
        most = float(max(value.max(), -value.min()))
        if np.isfinite(most):
            return most
    size = np.abs(numeric(value))
    finite = size[np.isfinite(size)]
    return float(np.max(finite)) if finite.size else 0.0


def _top(value: Any) -> float:
    top = float(np.max(value))
    return float("inf") if np.isnan(top) else top


def _shown(tf1: Any, tf2: Any, at: int) -> tuple[tuple[int, ...], float, float]:
    if tf1.size == 0:
        return (), _NAN, _NAN
    one, other = tf1.reshape(-1)[at], tf2.reshape(-1)[at]
    complex_ = tf1.dtype.kind == "c" or tf2.dtype.kind == "c"
    first, second = (abs(one), abs(other)) if complex_ else (one, other)
    return tuple(int(number) for number in np.unravel_index(at, tf1.shape)), float(first), float(second)
