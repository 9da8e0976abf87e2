"""Whether both sides got the same inputs and labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..worker.recording.format.reading import Record
from .judging.measuring import digest
from .judging.pairing import Index
from .judging.values import Values

__all__ = ["OtherBatch", "other_batch"]


class OtherBatch(NamedTuple):
    """The first step in which the sides got different data; `text` says what differs."""

    step: int
    text: str


def other_batch(tf1: Index, tf2: Index, values: Values) -> OtherBatch | None:
    """The first difference in inputs or labels; None where there is none, or a side recorded none."""
    for step in tf1.steps():
        for one, other in _couples(tf1, tf2, step):
            text = _difference(one, other, tf1, tf2, values)
            if text:
                when = f" of step {step}" if len(tf1.steps()) > 1 else ""
                return OtherBatch(
                    step, f"{one.kind if one.name == one.kind else f'{one.kind} {one.name}'}{when}: {text}"
                )
    return None


def _couples(tf1: Index, tf2: Index, step: int) -> Iterator[tuple[Record, Record]]:
    for kind in ("input", "label"):
        ones, others = tf1.all(kind, step), tf2.all(kind, step)
        if len(ones) == len(others) == 1:
            yield ones[0], others[0]
            continue
        for one in ones:
            other = tf2.find(kind, one.name, step)
            if other is not None:
                yield one, other


def _difference(one: Record, other: Record, tf1: Index, tf2: Index, values: Values) -> str:
    if one.dtype != other.dtype:
        return f"TF1 got {one.dtype}, TF2 got {other.dtype}"
    if one.shape != other.shape:
        return f"TF1 got the shape {list(one.shape)}, TF2 got {list(other.shape)}"
    first, second = values.of(one), values.of(other)
    if np.array_equal(first, second, equal_nan=first.dtype.kind in "fc"):
        return ""
    at = _step_of(second, tf1, one, values)
    if at is not None:
        return f"TF2 got the batch that TF1 got in step {at}; the batches come in another order"
    at = _step_of(first, tf2, other, values)
    if at is not None:
        return f"TF2 got in step {at} the batch that TF1 got here; the batches come in another order"
    if sorted(map(digest, first)) == sorted(map(digest, second)) if first.ndim else False:
        return "the same examples come in another order"
    share = float(np.mean(first != second))
    return f"other values, {share:.0%} of them"


def _step_of(wanted: Any, index: Index, like: Record, values: Values) -> int | None:
    """Another step in which a side got that array."""
    own = digest(wanted)
    for step in index.steps():
        record = index.find(like.kind, like.name, step)
        if step != like.step and record is not None and digest(values.of(record)) == own:
            return step
    return None
