"""Which metric of one side is which of the other: by name, or as the only one of its sort."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..worker.recording.format.reading import Record
from .judging.pairing import Couple, Index

__all__ = ["paired", "sort_of"]

_SORTS = {
    "accuracy": ("accuracy", "acc"),
    "mean absolute error": ("meanabsoluteerror", "mae"),
    "root mean squared error": ("rootmeansquarederror", "rmse"),
    "mean squared error": ("meansquarederror", "mse"),
    "mean IoU": ("meaniou", "miou"),
    "area under the curve": ("auc",),
    "precision": ("precision",),
    "recall": ("recall",),
    "cosine": ("cosine",),
}
_TOP = re.compile(r"top_?k|in_?top|top_?\d|precision_?at|recall_?at|sensitivity|specificity|per_?class", re.I)
"""Metrics that have one of these words in their names, and are something else."""


def paired(tf1: Index, tf2: Index, step: int) -> tuple[list[Couple], list[str]]:
    """The losses and metrics that both sides have, and in words those of one side alone."""
    couples = [Couple(one, other) for one, other in zip(tf1.all("loss", step), tf2.all("loss", step), strict=False)]
    ones, others = list(tf1.all("metric", step)), list(tf2.all("metric", step))
    for find in (_by_name, _by_sort):
        found = list(find(ones, others))
        couples += [Couple(one, other) for one, other in found]
        taken = {id(record) for pair in found for record in pair}
        ones, others = ([one for one in side if id(one) not in taken] for side in (ones, others))
    alone = [f"metric {one.name} of evaluation (only on TF1)" for one in ones]
    alone += [f"metric {one.name} of evaluation (only on TF2)" for one in others]
    for (side, index), (_, other) in ((("TF1", tf1), ("TF2", tf2)), (("TF2", tf2), ("TF1", tf1))):
        if index.all("loss", step) and not other.all("loss", step):
            alone.append(f"loss of evaluation (only on {side})")
    return couples, alone


def _by_name(ones: Sequence[Record], others: Sequence[Record]) -> Iterator[tuple[Record, Record]]:
    names = {other.name: other for other in others}
    return ((one, names[one.name]) for one in ones if one.name in names)


def _by_sort(ones: Sequence[Record], others: Sequence[Record]) -> Iterator[tuple[Record, Record]]:
    """Those of one sort, in their order, where both sides have as many of it."""
    for sort in dict.fromkeys(map(sort_of, ones)):
        both = [[one for one in side if sort_of(one) == sort] for side in (ones, others)]
        if sort and len(both[0]) == len(both[1]):
            yield from zip(*both, strict=True)


def sort_of(record: Record) -> str:
    """What a metric measures, as far as its name, its class or its operation says; empty where they do not."""
    made = str(record.more.get("sort") or "")
    for said in (made.rpartition("/")[0] or made, record.name):
        if _TOP.search(said):
            return ""
        letters = re.sub(r"[^a-z]", "", said.lower())
        for sort, endings in _SORTS.items():
            if any(letters.endswith(ending) for ending in endings):
                return sort
    return ""
