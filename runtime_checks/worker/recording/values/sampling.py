"""Which elements of the variables of a large model are kept in a recording.

Training records each variable, with its gradient and its slots, after each step of each run: of a model of a hundred
million parameters that is more than a disk likes. Of a large variable all of these are kept at the same places, and
compared element by element as the whole would be: elements in equal distance, and some of those that the first
gradient touches, as it touches few of an embedding.
"""

from __future__ import annotations

from typing import Mapping, NamedTuple

import numpy as np

from ..format.reading import Recorded
from ..format.store import Chapter
from ..tensors import Array
from .conversions import Derived

__all__ = ["MODEL", "Places", "following", "is_large", "keep", "of", "of_group", "places"]

MODEL = 1 << 27
"""Bytes of weights from which on a model is large."""
_VARIABLE = 1 << 17
"""Elements from which on a variable of such a model is."""
_EVEN = 1 << 15
_TOUCHED = 1 << 14


class Places(NamedTuple):
    """Positions of elements in the flat array of a variable that has `size` of them."""

    size: int
    at: Array


def of(recorded: Recorded) -> dict[str, Places]:
    """The places of a recording by the name of the variable."""
    found = [one for scenario in recorded.scenarios.values() for one in scenario.records if one.kind == "places"]
    return {record.name: Places(int(record.more["count"]), record.whole) for record in found}


def keep(chapter: Chapter, found: Mapping[str, Places]) -> None:
    """Keep these elements of variables from now on, and say so."""
    for name, one in found.items():
        chapter.add("places", name, one.at, count=one.size)
    chapter.recording.places = found


def is_large(count: int) -> bool:
    """Whether a variable of so many elements is kept in part, if the model is large."""
    return count >= _VARIABLE


def places(count: int, gradient: Array | None) -> Places:
    """Where elements are kept: up to 32,768 in an equal distance.

    Where a gradient is zero in more than half of the variable, 16,384 of those that it touches are added.

    Args:
        count: of the variable's elements.
        gradient: of the first step, with as many elements; None for a variable without one.
    """
    found = np.arange(0, count, _stride(count, _EVEN))
    if gradient is not None and gradient.size == count:
        touched = np.flatnonzero(gradient)
        if touched.size <= count // 2:
            found = np.union1d(found, touched[:: _stride(touched.size, _TOUCHED)])
    return Places(count, found)


def _stride(count: int, wanted: int) -> int:
    """A prime by which not more than that many of the elements are met: of a matrix all columns in turn."""
    found = max(1, -(-count // wanted))
    while any(found % factor == 0 for factor in range(2, int(found**0.5) + 1)):
        found += 1
    return found


def following(order: Array, kept: Places) -> Places:
    """The same elements in a variable whose elements are those of another one in this order, each of them once."""
    back: Array = np.empty(kept.size, np.int64)
    back[np.ravel(order)] = np.arange(kept.size)
    return Places(kept.size, back[kept.at])


def of_group(part: Derived, kept: Mapping[str, Places]) -> tuple[Places, Array]:
    """The elements of a variable of a group that are known of the TF1 variables of that group.

    Args:
        part: the variable.
        kept: by name, the places of those TF1 variables that are kept in part.

    Returns:
        The places, and for each of them the number of the TF1 variable and the position in what is kept of it, of the
        shape ``[2, places]``.
    """
    group = part.conversion
    sizes = [int(np.prod(shape, dtype=np.int64)) for shape in group.old]
    ends = np.cumsum([0, *sizes])
    numbered = [np.arange(1 + end, 1 + end + size).reshape(shape) for end, size, shape in zip(ends, sizes, group.old)]
    flat: Array = np.ravel(group.values(numbered, change=True)[part.at]) - 1
    found, sources = [], []
    for number, name in enumerate(group.tf1):
        inside = np.flatnonzero((flat >= ends[number]) & (flat < ends[number + 1]))
        own = flat[inside] - ends[number]
        if name in kept:
            at = np.minimum(np.searchsorted(kept[name].at, own), kept[name].at.size - 1)
            there = kept[name].at[at] == own
            inside, own = inside[there], at[there]
        found.append(inside)
        sources.append(np.stack([np.full(inside.size, number), own]))
    return Places(flat.size, np.concatenate(found)), np.concatenate(sources, axis=1)
