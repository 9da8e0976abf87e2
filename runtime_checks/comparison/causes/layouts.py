"""Evidence from groups of variables that changed their layout together: gates, forget biases, resets."""

from __future__ import annotations

from collections.abc import Iterator

from ..initial_values import OTHER_LAYOUT
from ..judging.converted import REFUTED, Group, groups_of
from ..wording import figure
from .evidence import Clue, Seen

__all__ = ["clues"]


def clues(seen: Seen) -> Iterator[Clue]:
    """What outputs, and initial values, say of the layouts."""
    for group in groups_of(seen.tf1, seen.tf2):
        if group.proof == REFUTED:
            yield from _refuted(group)
    failures = [check for check in seen.checks if check.problem.startswith(OTHER_LAYOUT)]
    for check in failures:
        yield Clue("layout", 0.95, f"{check.tf1_name}: {check.problem}.")


def _refuted(group: Group) -> Iterator[Clue]:
    one = group.conversion
    if group.how == "names" and group.better is not None:
        yield Clue("layout", 0.97, _mixed_up(group))
    elif group.better is not None:
        yield Clue(
            "layout",
            0.97,
            f"With filled variables outputs agree for {group.line(group.better)}, where the pair says {group.line()}.",
        )
    elif one.layout == "gru" and len(one.new[2]) == 2:
        yield Clue(
            "layout",
            0.97,
            f"{group.title}: TF1's GRUCell resets the state before the matrix product, and two biases of Keras' GRU "
            "mean that it does so after it: reset_after=False computes what TF1 does.",
        )
    else:
        yield Clue("layout", 0.1, f"{group.title}, layout {one.layout}: {group.words}.")


def _mixed_up(group: Group) -> str:
    """Of a cell that lies alike on both sides: how TF2 reads it otherwise."""
    own, better = str(group.conversion.settings["gates"]), group.better or {}
    words = []
    if better["gates"] != own:
        # Values that were moved so that outputs agree stand where TF2 looks for each gate.
        orders = [", ".join(str(gates)) for gates in (better["gates"], own)]
        words.append(f"TF2 takes them in the order {orders[0]}, TF1 in the order {orders[1]}")
    shift = float(better.get("forget_bias", 0.0))
    if shift:
        lacks = "lacks" if shift > 0 else "adds once more"
        words.append(f"TF2 {lacks} a forget bias of {figure(abs(shift))}")
    return f"The gates of {group.title}: {', and '.join(words)}; with that outputs agree with filled variables."
