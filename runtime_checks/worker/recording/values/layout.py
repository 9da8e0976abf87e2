"""How a value of a TF1 variable lies in the TF2 variable that it became: transposed, in another shape, or as it is."""

from __future__ import annotations

from typing import Iterable, Mapping, NamedTuple, Sequence

import numpy as np

from ..pairs.mapping import plain
from ..tensors import Array

__all__ = ["Layouts", "is_reshaped", "laid_out", "laid_out_shape"]


def is_reshaped(name: str, reshapes: Iterable[str]) -> bool:
    """Whether a pair's ``reshapes`` name a TF1 variable; a trailing ``*`` stands for any ending."""
    own = plain(name)
    return any(own.startswith(key[:-1]) if key.endswith("*") else own == plain(key) for key in reshapes)


def laid_out(value: Array, order: Sequence[int] | None, shape: Sequence[int], reshaped: bool) -> Array:
    """A TF1 value as the TF2 side has it, as far as it fits.

    Args:
        value: an array.
        order: of its axes, as in ``np.transpose``; None, and one of another length, leave it as it is.
        shape: of the TF2 variable.
        reshaped: whether the elements are laid out anew in that shape, in their order.
    """
    if order is not None and sorted(order) == list(range(value.ndim)):
        value = np.transpose(value, tuple(order))
    if reshaped and tuple(value.shape) != tuple(shape) and value.size == _count(shape):
        value = value.reshape(tuple(shape))
    return value


def laid_out_shape(
    old: Sequence[int], order: Sequence[int] | None, new: Sequence[int], reshaped: bool
) -> tuple[int, ...]:
    """The shape that `laid_out` gives a value of the shape `old`."""
    shape = tuple(old)
    if order is not None and sorted(order) == list(range(len(shape))):
        shape = tuple(shape[axis] for axis in order)
    return tuple(new) if reshaped and _count(shape) == _count(new) else shape


class Layouts(NamedTuple):
    """What a pair says of how TF1 values lie in TF2 variables; names are those of TF1."""

    transposes: Mapping[str, Sequence[int]] = {}
    reshapes: Sequence[str] = ()

    def value(self, name: str, value: Array, shape: Sequence[int]) -> Array:
        """A value in the layout of a TF2 variable of that shape, as far as it fits."""
        return laid_out(value, self.transposes.get(name), shape, is_reshaped(name, self.reshapes))

    def fits(self, name: str, old: Sequence[int], new: Sequence[int]) -> bool:
        """Whether a value of the one shape gets the other."""
        return laid_out_shape(old, self.transposes.get(name), new, is_reshaped(name, self.reshapes)) == tuple(new)


def _count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= int(size)
    return count
