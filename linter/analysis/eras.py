"""For which TensorFlow a file was written, by the names that it reads.

Some names kept their spelling and changed their meaning: what `tf.nn.dropout(x, 0.9)` was to do depends on when it was
written.
A name that only TF1 has below ``tf`` (or contrib) tells; so does one that only TF2 has, and one that is written with
``compat``.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache

from ..finding import Target
from .public_names import has, split_api

_SINCE_TF2 = frozenset({"tensorflow.function", "tensorflow.GradientTape"})
"""TF 1.15 has them too; programs that use them are written for eager execution."""


class Era(StrEnum):
    """What the names in a file speak for."""

    TF1 = "TF1"
    """Some are TF1's alone, none are TF2's."""
    TF2 = "TF2"
    """The other way round."""
    MIXED = "mixed"
    """Half-migrated, or written for both."""
    UNKNOWN = "unknown"
    """All its names are those of both."""


@cache
def era_of_name(spelled: str) -> Era:
    """The era that an absolute name speaks for: TF1, TF2 or UNKNOWN.

    A name of ``compat.v1`` is one of TF2: whoever writes it has begun to migrate.
    """
    name = spelled.partition("(")[0].partition("[")[0]
    api, whole = split_api(name)
    if not api.startswith("tensorflow") or not whole:
        return Era.UNKNOWN
    if whole.partition(".")[0] == "contrib":
        return Era.TF1
    if name.startswith("tensorflow.compat.") or name in _SINCE_TF2:
        return Era.TF2
    now = {has(f"tensorflow.{whole}", target) for target in Target}
    before = {has(f"tensorflow.compat.v1.{whole}", target) for target in Target}
    if now == {False} and True in before:
        return Era.TF1
    return Era.TF2 if now == {True} and before == {False} else Era.UNKNOWN


def era_of(names: Iterable[str]) -> Era:
    """What several names speak for together."""
    found = {era_of_name(name) for name in names} - {Era.UNKNOWN}
    return found.pop() if len(found) == 1 else Era.MIXED if found else Era.UNKNOWN
