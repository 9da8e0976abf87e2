"""What is kept of the values of a pass's operations: a sample and four moments of each, all in one record.

Whole values would take as much room as all activations of a network; to find where two passes part, samples at the same
places do as well, and moments tell tensors apart whose axes lie in another order.
"""

from __future__ import annotations

from typing import List, Sequence

import numpy as np

from ..format.rows import Place
from ..format.store import Chapter
from ..tensors import Array, Json

__all__ = ["FEW", "MOMENTS", "SAMPLE", "Sheet", "packed", "sampled", "sketch", "unpacked"]

FEW = 8
"""Elements up to which a tensor that nothing computes is a constant of the program, told as it is."""
MOMENTS = 4
"""Mean, root of the mean square, least and largest value."""
SAMPLE = 2048
_MOST = 1 << 22
"""Elements beyond which moments are those of the sample."""

Input = List[Json]
"""``["row", id]``, ``["variable", name]``, ``["constant", values]`` or ``["unknown"]``."""


def sampled(count: int) -> slice:
    """Which of so many elements, in the order of memory, are kept: all, or some 2,048 of them.

    The stride is odd, so that it does not always meet the same channel.
    """
    return slice(None, None, 1 if count <= SAMPLE else -(-count // SAMPLE) | 1)


def sketch(value: Array) -> Array:
    """The moments and the sample of an array of numbers, as one vector of float32."""
    flat = np.asarray(value).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.real + 0.6180339887 * flat.imag
    elif flat.dtype.kind not in "biuf":
        flat = flat.astype(np.float32)
    with np.errstate(all="ignore"):
        sample = flat[sampled(flat.size)].astype(np.float32)
        moments: Array = np.full(MOMENTS, np.nan, np.float32)
        if flat.size:
            whole = flat if flat.size <= _MOST else sample
            square = np.square(whole, dtype=np.float64 if flat.size <= SAMPLE else np.float32)
            moments[:] = [
                np.mean(whole, dtype=np.float64),
                np.sqrt(np.mean(square, dtype=np.float64)),
                whole.min(),
                whole.max(),
            ]
    return np.concatenate([moments, sample])


def packed(value: Array) -> Array:
    """A sketch with the shape in front, as one vector of float64."""
    value = np.asarray(value)
    return np.concatenate([[value.ndim], value.shape, sketch(value)]).astype(np.float64)


def unpacked(vector: Array) -> tuple[list[int], Array]:
    """The shape and the sketch that `packed` put together."""
    rank = int(vector[0])
    return [int(size) for size in vector[1 : rank + 1]], np.asarray(vector[rank + 1 :], np.float32)


class Sheet:
    """The operations of one pass, in the order of execution."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Json]] = []
        self._sketches: list[Array] = []
        self._results: list[Json] = []
        self._wanted: list[int] = []

    def row(
        self,
        number: int,
        op: str,
        place: Place | None,
        shape: Sequence[int],
        value: Array,
        inputs: Sequence[Input],
        attributes: dict[str, Json],
        made: Place | None = None,
    ) -> None:
        """Note what an operation computed; `value` is a sketch, `number` identifies it within the pass.

        `made` is where the layer was made that computes it, if that is another line than `place`.
        """
        row: dict[str, Json] = {
            "id": number,
            "op": op,
            "place": None if place is None else [str(place[0]), int(place[1])],
            "shape": list(shape),
            "inputs": [list(one) for one in inputs],
            "attributes": attributes,
        }
        if made is not None and made != place:
            row["made"] = [str(made[0]), int(made[1])]
        self._rows.append(row)
        self._sketches.append(value)

    def result(self, kind: str, name: str, number: int) -> None:
        """Say which operation gave an output, a loss or a tap."""
        self._results.append([kind, name, number])
        self._wanted.append(number)

    def wanted(self, numbers: Sequence[int]) -> None:
        """Keep these operations, and what they are made of, too."""
        self._wanted += numbers

    def record(self, chapter: Chapter, step: int = 0) -> None:
        """Keep the operations up to the last one that is wanted; what comes after makes no result."""
        last = max(self._wanted, default=-1)
        kept = [(row, value) for row, value in zip(self._rows, self._sketches) if row["id"] <= last]
        begin = 0
        for row, value in kept:
            row["at"] = begin
            begin += value.size
        whole = np.concatenate([value for _, value in kept]) if kept else np.zeros(0, np.float32)
        chapter.add("operation", "all", whole, step, operations=[row for row, _ in kept], results=self._results)
