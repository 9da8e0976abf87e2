"""Which random operation of one side stands for which of the other, where one of them draws more."""

from __future__ import annotations

from typing import Iterable, Sequence

from ..format.rows import DrawRow
from .ledger import STEP

__all__ = ["counterparts", "of_a_step"]


def of_a_step(rows: Iterable[DrawRow]) -> list[DrawRow]:
    """The draws that are for no initial value and have a seed of their own."""
    return [row for row in rows if row.get("purpose", STEP) == STEP and row.get("seed") is not None]


def counterparts(ones: Sequence[DrawRow], others: Sequence[DrawRow]) -> list[int]:
    """The positions among TF1's draws of those that TF2's stand for.

    Where both sides draw the same in the same order, that is the order. Else a draw of TF2 stands for the first one
    of its kind and shape on TF1 that no other stands for; those that are idle, as TF1's dropout is where it keeps
    everything and draws all the same, come after all others. What has no counterpart gets a position behind them.

    Args:
        ones: the draws of TF1 in their order.
        others: those of TF2.
    """
    if len(ones) == len(others) and all(_alike(one, other) for one, other in zip(ones, others)):
        return list(range(len(others)))
    left = sorted(range(len(ones)), key=lambda at: bool(ones[at].get("idle")))
    found = []
    for number, other in enumerate(others):
        at = next((at for at in left if _alike(ones[at], other)), None)
        if at is None:
            found.append(len(ones) + number)
        else:
            left.remove(at)
            found.append(at)
    return found


def _alike(one: DrawRow, other: DrawRow) -> bool:
    """Whether both may be the same draw: of a kind and a shape, as far as shapes are known."""
    if one["op"] != other["op"]:
        return False
    mine, others = one.get("shape"), other.get("shape")
    if mine is None or others is None:
        return True
    return len(mine) == len(others) and all(None in pair or pair[0] == pair[1] for pair in zip(mine, others))
