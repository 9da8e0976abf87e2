"""Which random operation of one side stands for which of the other, where one of them draws more."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Iterable, Optional, Sequence

from .rows import DrawRow, Standing, Turns

__all__ = ["INITIAL_VALUE", "STEP", "axis_of_turns", "counterparts", "of_a_step", "same_shape"]

INITIAL_VALUE = "initial value"
STEP = "step"

Lengths = Sequence[Optional[int]]
"""Of a shape; None is not known."""


def of_a_step(rows: Iterable[DrawRow]) -> list[DrawRow]:
    """The draws that are for no initial value and have a seed of their own."""
    return [row for row in rows if row.get("purpose", STEP) == STEP and row.get("seed") is not None]


def counterparts(ones: Sequence[DrawRow], others: Sequence[DrawRow]) -> list[Standing]:
    """The positions among TF1's draws of those that TF2's stand for.

    Where both sides draw the same in the same order, that is the order. Else a draw of TF2 stands for the first one
    of its kind and shape on TF1 that no other stands for; those that are idle, as TF1's dropout is where it keeps
    everything and draws all the same, come after all others, and those of a loop after what is drawn once. Where there
    is none, it may stand for those that TF1 draws in turns. What has no counterpart gets a position behind them.

    Args:
        ones: the draws of TF1 in their order.
        others: those of TF2.
    """
    if len(ones) == len(others) and all(_alike(one, other) for one, other in zip(ones, others)):
        return list(range(len(others)))
    left = list(range(len(ones)))
    found: list[Standing] = []
    missing: list[int] = []
    for number in range(len(others)):
        at = _counterpart(ones, left, others, number, missing)
        if at is None:
            missing.append(number)
            found.append(len(ones) + number)
        else:
            left.remove(at)
            found.append(at)
    for number, turns in _in_turns(ones, others, sorted(left), missing):
        found[number] = turns
    return found


def _counterpart(
    ones: Sequence[DrawRow], left: Sequence[int], others: Sequence[DrawRow], number: int, missing: Sequence[int]
) -> int | None:
    """Which of TF1's draws that are left a draw of TF2 stands for.

    Behind what TF2 draws at once for turns, which are unrolled on TF1, it is the last that leaves one for each of its
    kind and shape that follows.
    """
    other = others[number]

    def unlike(at: int) -> tuple[bool, bool]:
        return bool(ones[at].get("idle")), bool(ones[at].get("repeats")) is not bool(other.get("repeats"))

    fitting = [at for at in left if _alike(ones[at], other)]
    if not fitting:
        return None
    best = [at for at in fitting if unlike(at) == min(map(unlike, fitting))]
    follow = sum(_alike(other, later) for later in others[number + 1:])
    unrolled = any(_axis(ones[best[0]], others[one]) is not None for one in missing)
    return best[-follow - 1] if unrolled and len(best) > follow else best[0]


def same_shape(mine: Lengths, others: Lengths) -> bool:
    """Whether two shapes may be the same, as far as they are known."""
    return len(mine) == len(others) and all(None in pair or pair[0] == pair[1] for pair in zip(mine, others))


def axis_of_turns(turn: Lengths, whole: Lengths) -> int | None:
    """Along which axis of a shape that of one turn may be repeated; None where it fits along none.

    Where several fit, it is the second one, as recurrent layers have their time there.
    """
    fitting = [at for at in range(len(whole)) if same_shape(turn, [*whole[:at], *whole[at + 1:]])]
    return None if not fitting else 1 if 1 in fitting else fitting[0]


def _in_turns(
    ones: Sequence[DrawRow], others: Sequence[DrawRow], left: Sequence[int], missing: Sequence[int]
) -> Iterable[tuple[int, Turns]]:
    """What draws of TF2 without a counterpart stand for, by their positions.

    A loop of TF1 has to tell how many turns it takes. Where loops are unrolled, each turn draws for all layers, or,
    where the names are in as many scopes as there are layers, each layer for all turns.
    """
    left, unrolled = list(left), defaultdict(list)
    for number in missing:
        whole = others[number].get("shape") or ()
        fitting = [(at, _axis(ones[at], others[number])) for at in left]
        loop = next(((at, axis) for at, axis in fitting if axis is not None and _turning(ones[at])), None)
        if loop is not None:
            left.remove(loop[0])
            yield number, Turns(loop[1] or 0, [loop[0]], list(ones[loop[0]]["turns"]))
            continue
        plain = [
            (at, axis) for at, axis in fitting
            if axis is not None and not ones[at].get("repeats")
        ]  # fmt: skip
        if plain:
            key = others[number]["op"], tuple(whole), plain[0][1], tuple(at for at, _ in plain)
            unrolled[key].append(number)
    for (_, whole, axis, turns), numbers in unrolled.items():
        if len(turns) != len(numbers) * (whole[axis] or 0):
            continue
        names = [str(ones[at].get("name", "")).split("/") for at in turns]
        length = len(turns) // len(numbers)
        scopes = [[name[:depth] for name in names] for depth in range(1, max(map(len, names)))]
        sizes = [[len(list(group)) for _, group in itertools.groupby(scope)] for scope in scopes]
        by_layer = len(numbers) > 1 and [length] * len(numbers) in sizes
        for layer, number in enumerate(numbers):
            own = turns[layer * length:(layer + 1) * length] if by_layer else turns[layer::len(numbers)]
            yield number, Turns(axis, list(own), [])


def _turning(one: DrawRow) -> bool:
    return bool(one.get("turns")) and not one.get("idle")


def _axis(one: DrawRow, other: DrawRow) -> int | None:
    turn, whole = one.get("shape"), other.get("shape")
    if one["op"] != other["op"] or turn is None or whole is None:
        return None
    return axis_of_turns(turn, whole)


def _alike(one: DrawRow, other: DrawRow) -> bool:
    """Whether both may be the same draw: of a kind and a shape, as far as shapes are known."""
    mine, others = one.get("shape"), other.get("shape")
    return one["op"] == other["op"] and (mine is None or others is None or same_shape(mine, others))
