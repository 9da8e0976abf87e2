"""TF623: what `tf.strings.split` makes of the strings of this line."""

from __future__ import annotations

from typing import Any

from ..functions import bound, compare_calls
from ..functions import judge_calls as judge
from ..phases import Phase
from ..run import Judgement, Run, StaticFinding

__all__ = ["judge", "snapshot"]


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    import tensorflow as tf

    old, new = tf.compat.v1.string_split, tf.strings.split

    def replaced(*args: Any, **kwargs: Any) -> Any:
        given = bound(old, args, kwargs)
        return new(given["source"], given.get("sep", given.get("delimiter")) or None)

    if finding.called == "string_split":
        return compare_calls(finding, run, phase, replaced, old, _parts_apart)
    return compare_calls(finding, run, phase, new, tf.compat.v1.strings.split, _types_apart)


def _parts_apart(now: Any, before: Any) -> str:
    rows: list[list[Any]] = [[] for _ in range(int(before.dense_shape[0]))]
    for (row, _), part in zip(before.indices.numpy(), before.values.numpy()):
        rows[row].append(part)
    lists = now.to_list()
    different = [(one, other) for one, other in zip(lists, rows) if one != other]
    return "are {} where TF1 gave {}".format(*(str(one)[:60] for one in different[0])) if different else ""


def _types_apart(now: Any, before: Any) -> str:
    return "" if type(now) is type(before) else f"are a {type(now).__name__} where TF1 gave a {type(before).__name__}"
