"""What an eager pass reads off a batch alone, and finds to be the same everywhere: a mask where no row is padded."""

from __future__ import annotations

import contextlib
import sys
from types import FrameType
from typing import Callable, Iterator, Sequence

import numpy as np

from ..format.rows import AlikeRow, Place
from ..tensors import Array, Tensor
from .operations import SHAPES

__all__ = ["NO_VALUES", "Alike", "padded", "row"]

NO_VALUES = (*SHAPES, "ZerosLike", "OnesLike")
"""Operations whose output does not depend on the values that they get."""


def row(op: str, place: Place | None, value: object) -> AlikeRow:
    """As JSON data: an operation, its line, and the number that all of its output is."""
    return {"op": op, "place": None if place is None else list(place), "value": value}  # type: ignore[typeddict-item]


def padded(value: Array) -> Array:
    """A batch whose first row ends in padding: its last step is zero, as that of a shorter row is."""
    found = np.array(value)
    if found.ndim > 1 and found.dtype.kind in "biuf" and found.size:
        found[0, -1] = 0
    return found


class Alike:
    """Hears which operations of some eager passes give one number, of inputs that differ within the batch.

    Args:
        place: the user's line that a frame works for.
    """

    def __init__(self, place: Callable[[FrameType | None], Place | None]) -> None:
        self._place = place
        self._single: dict[tuple[str, Place | None, int], object] = {}
        self._known: dict[int, bool] = {}
        self._kept: list[Tensor] = []
        self._batch: Sequence[Array] = ()

    def rows(self, other: Alike | None = None) -> list[AlikeRow]:
        """What was found in all passes, and there is another thing in those that the other one heard."""
        return [
            row(key[0], key[1], value)
            for key, value in self._single.items()
            if value is not None and (other is None or other._single.get(key, value) != value)
        ]

    @contextlib.contextmanager
    def listening(self, batch: Sequence[Array]) -> Iterator[None]:
        """Hear of a pass over that batch in the body."""
        from tensorflow.python.framework import op_callbacks

        self._known, self._kept, self._batch = {}, [], batch
        op_callbacks.add_op_callback(self._heard)
        try:
            yield
        finally:
            op_callbacks.remove_op_callback(self._heard)
            self._known, self._kept, self._batch = {}, [], ()

    def _heard(
        self,
        op: str | bytes,
        inputs: Sequence[Tensor],
        attributes: Sequence[object],
        outputs: Sequence[Tensor],
        op_name: str | None = None,
        graph: object = None,
    ) -> None:
        kind = op.decode() if isinstance(op, bytes) else str(op)
        if graph is not None or kind in NO_VALUES:
            return
        with contextlib.suppress(Exception):  # the program goes on whatever cannot be told of it
            self._note(kind, inputs, outputs)

    def _note(self, kind: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        given = [self._differs(one) for one in inputs]
        if not any(one is not None for one in given) or any(one.dtype.name == "resource" for one in inputs):
            return
        if any(one is None and not _is_small(tensor) for one, tensor in zip(given, inputs)):
            return  # it depends on weights
        place = self._place(sys._getframe(2))
        for at, output in enumerate(outputs):
            flat = np.asarray(output.numpy()).reshape(-1)
            alike = flat.size > 1 and bool(np.all(flat == flat[0]))
            self._known[id(output)] = not alike
            self._kept.append(output)
            if any(given) and flat.size > 1:
                key = (kind, place, at)
                value = flat[0].item() if alike else None
                self._single[key] = value if self._single.get(key, value) == value else None

    def _differs(self, tensor: Tensor) -> bool | None:
        """Whether the elements of what is read off the batch differ; None of what is not."""
        known = self._known.get(id(tensor))
        if known is not None:
            return known
        for array in self._batch:
            if tuple(tensor.shape) == array.shape and np.array_equal(tensor.numpy(), array):
                flat = array.reshape(-1)
                self._known[id(tensor)] = flat.size > 0 and bool(np.any(flat != flat[0]))
                self._kept.append(tensor)
                return self._known[id(tensor)]
        return None


def _is_small(tensor: Tensor) -> bool:
    """Whether a tensor from elsewhere may be a constant, and no weight."""
    return int(np.prod(tuple(tensor.shape), dtype=np.int64)) <= 4
