"""Values for variables that depend on nothing but their name, shape and dtype; the same in every version of numpy.

A constant is blind to two same-shape weights that are swapped and to a square kernel that is transposed.
The fingerprint gives every variable values of its own, scaled so that a deep network neither vanishes nor explodes.
"""

from __future__ import annotations

import hashlib
from typing import Sequence

import numpy as np

from ..pairs.mapping import plain
from ..tensors import Array, DType

__all__ = ["constant", "fingerprint", "floating", "nudged"]

_BLOCK = 1 << 18
_POSITIVE = ("variance", "var", "gamma", "scale", "stddev", "std", "sigma", "renorm_stddev")
_SMALL = ("bias", "biases", "beta", "mean", "offset", "b", "moving_avg")
_EMBEDDINGS = ("embedding", "embeddings", "embedding_weights", "lookup_table", "table")
_EPSILONS = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23, "complex64": 2.0**-23}


def constant(shape: Sequence[int], dtype: DType, value: float = 0.001) -> Array:
    """One value everywhere; None for a dtype that is not floating."""
    kind = floating(dtype)
    return None if kind is None else np.full(tuple(shape), value, kind)


def fingerprint(name: str, shape: Sequence[int], dtype: DType) -> Array:
    """Values from a hash of the name; None for a dtype that is not floating.

    Scales, variances, scalars and vectors of unknown meaning lie in [0.5, 1.5), biases and means in [-0.1, 0.1),
    embeddings in [-1, 1), kernels in +-sqrt(6 / fan-in), which keeps the variance behind a ReLU (He et al., 2015).

    Args:
        name: of the TF1 variable; a ``:0`` at its end does not count.
        shape: of the TF1 variable, all sizes known.
        dtype: a dtype of numpy or of TensorFlow, or its name.
    """
    kind = floating(dtype)
    if kind is None:
        return None
    shape = tuple(int(size) for size in shape)
    low, high = _range(plain(name), shape)
    stream = _stream("fill", name)
    values = np.empty(shape, kind)
    flat = values.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        count = min(_BLOCK, flat.size - start)
        drawn = low + (high - low) * stream.random_sample(count)
        if kind.kind == "c":
            drawn = drawn + 1j * (low + (high - low) * stream.random_sample(count))
        flat[start : start + count] = drawn.astype(kind)
    return values


def nudged(name: str, value: Array, precision: str | None = None) -> Array:
    """The value with each element moved by one or two units in the last place, up or down by a hash of the name.

    Zeros stay, as do infinities and NaN; None for a dtype that is not floating. The last place is that of the dtype,
    or of `precision`, ``float16`` or ``bfloat16``, where that is what is computed in.
    """
    value = np.asarray(value)
    kind = floating(value.dtype)
    if kind is None:
        return None
    signs = np.where(_stream("nudge", name).randint(0, 2, size=value.shape) == 1, 1.0, -1.0)
    wide = np.complex128 if kind.kind == "c" else np.float64
    epsilon = _EPSILONS.get(precision or kind.name, 2.0**-52)
    with np.errstate(all="ignore"):
        return (value.astype(wide) * (1.0 + signs * epsilon)).astype(kind)


def floating(dtype: DType) -> DType:
    """The numpy dtype, if it is a floating or complex one, else None.

    What numpy has no dtype for, such as bfloat16 where nobody has registered it, is float32.
    """
    dtype = getattr(dtype, "as_numpy_dtype", dtype)
    if isinstance(dtype, str):
        dtype = dtype[:-4] if dtype.endswith("_ref") else dtype
    try:
        kind = np.dtype(dtype)
    except TypeError:
        return np.dtype(np.float32) if str(dtype).startswith(("bfloat", "float")) else None
    # bfloat16 and the eight-bit floats are of kind "V".
    return kind if kind.kind in "fc" or kind.name.startswith(("bfloat", "float")) else None


def _range(name: str, shape: tuple[int, ...]) -> tuple[float, float]:
    last = name.rsplit("/", 1)[-1].lower()
    if _means(last, _POSITIVE):
        return 0.5, 1.5
    if _means(last, _SMALL) and len(shape) < 2:
        return -0.1, 0.1
    if _means(last, _EMBEDDINGS):
        return -1.0, 1.0
    if len(shape) < 2:
        return 0.5, 1.5
    sizes = shape[:2] if "depthwise" in last and len(shape) == 4 else shape[:-1]
    fan_in = 1
    for size in sizes:
        fan_in *= size
    limit = (6.0 / max(fan_in, 1)) ** 0.5
    return -limit, limit


def _means(last: str, words: Sequence[str]) -> bool:
    """Whether the last part of a name is one of the words, or ends with one behind an underscore."""
    last = last.rstrip("0123456789").rstrip("_")
    return any(last == word or last.endswith("_" + word) for word in words)


def _stream(purpose: str, name: str) -> np.random.RandomState:
    digest = hashlib.sha256((purpose + ":" + plain(name)).encode("utf-8")).digest()
    return np.random.RandomState([int.from_bytes(digest[at : at + 4], "little") for at in range(0, 32, 4)])
