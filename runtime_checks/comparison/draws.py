"""The random operations of both sides: where one has an operation that the other lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..worker.recording.format.reading import Scenario
from ..worker.recording.format.rows import Place
from .results import RandomOp
from .wording import place as shown

__all__ = ["drawn", "in_turns", "mismatch", "parting", "repeating", "same_seeds", "unaligned"]

STEP = "step"


def drawn(scenario: Scenario) -> tuple[RandomOp, ...]:
    """What a side drew in a scenario, in order; a seed of -1 was not known."""
    found = []
    for said in scenario.said.get("random_ops") or ():
        if not isinstance(said, Mapping):
            continue
        place, seed = said.get("place"), said.get("seed")
        found.append(
            RandomOp(
                op=str(said.get("op", "")),
                seed=seed if isinstance(seed, int) else -1,
                shape=tuple(length if isinstance(length, int) else None for length in said.get("shape") or ()),
                purpose=str(said.get("purpose", STEP)),
                place=None if not place else (str(place[0]), int(place[1])),
                repeats=bool(said.get("repeats")),
            )
        )
    return tuple(found)


def mismatch(tf1: Sequence[RandomOp], tf2: Sequence[RandomOp], purpose: str = STEP) -> str:
    """Say which operation is the first that one side has and the other lacks; empty where there is none."""
    ones = [draw for draw in tf1 if draw.purpose == purpose]
    others = [draw for draw in tf2 if draw.purpose == purpose]
    at = _agreeing(ones, others)
    if at == len(ones) == len(others):
        return ""
    lacking = _lacking(ones, others, at)
    counts = f"TF1 draws {_times(len(ones))}, TF2 {_times(len(others))}"
    return f"{lacking}; {counts}" if len(ones) != len(others) else lacking


def parting(tf1: Sequence[RandomOp], tf2: Sequence[RandomOp]) -> tuple[Place | None, Place | None]:
    """The lines of the first draws of a step that are not alike, of TF1 and TF2; None where there is none."""
    ones, others = ([draw for draw in draws if draw.purpose == STEP] for draws in (tf1, tf2))
    at = _agreeing(ones, others)
    return (ones[at].place if at < len(ones) else None), (others[at].place if at < len(others) else None)


def in_turns(tf1: Sequence[RandomOp], tf2: Sequence[RandomOp]) -> str:
    """Why what both sides draw in a step cannot be aligned, although it may be the same; empty where there is no why.

    A loop of one side draws in each turn what the other side draws at once for all turns: the shapes are the same but
    for one axis, and no number is.
    """
    ones, others = ([draw for draw in draws if draw.purpose == STEP] for draws in (tf1, tf2))
    if len(ones) != len(others):
        return ""
    turning = []
    for one, other in zip(ones, others, strict=True):
        if _turns(one, other) or _turns(other, one):
            turning.append((one, other))
        elif not _alike(one, other):
            return ""
    if not turning:
        return ""
    one, other = turning[0]
    return (
        f"cannot be compared: TF1 draws {_words(one)}, TF2 {_words(other)}: the shapes fit, and no number can be the "
        "same. To compare the rest, switch dropout off on both sides (keep_prob 1, rate 0); where it stands, and its "
        "rate, are then for you to look at"
    )


def repeating(draws: Sequence[RandomOp]) -> bool:
    """Whether a loop of the graph draws in a training step: its turns run side by side, in any order."""
    return any(draw.repeats and draw.purpose == STEP for draw in draws)


def _turns(one: RandomOp, other: RandomOp) -> bool:
    """Whether the first is drawn in each turn of a loop, and the second once, with an axis for the turns."""
    if not one.repeats or other.repeats or len(other.shape) != len(one.shape) + 1:
        return False
    without = (other.shape[:at] + other.shape[at + 1 :] for at in range(len(other.shape)))
    return any(all(None in pair or pair[0] == pair[1] for pair in zip(one.shape, two, strict=True)) for two in without)


def unaligned(both: Sequence[Scenario], steps: Sequence[Scenario]) -> tuple[str, str]:
    """What one side draws in a pass and the other does not; and in words that both draw alike in a training step.

    The first is empty where the second is not: a loss that draws, as one of sampled classes does, is a part of the
    graph of TF1, and on TF2 of the training step.

    Args:
        both: the pass, of TF1 and TF2.
        steps: their training, which may not have been run.
    """
    (one, other), (first, second) = both, steps
    text = mismatch(drawn(one), drawn(other))
    ran = first.outcome == second.outcome == "ok"
    if not text or not ran or not drawn(first) or mismatch(drawn(first), drawn(second)):
        return text, ""
    return "", f"a pass of the model draws otherwise than the graph of TF1, and the training steps draw alike: {text}"


def same_seeds(tf1: Sequence[RandomOp], tf2: Sequence[RandomOp]) -> bool:
    """Whether the operations of a step draw from the same seeds, all of them known; also where there are none."""
    seeds = [[draw.seed for draw in draws if draw.purpose == STEP] for draws in (tf1, tf2)]
    return seeds[0] == seeds[1] and all(seed >= 0 for seed in seeds[0])


def _lacking(ones: Sequence[RandomOp], others: Sequence[RandomOp], at: int) -> str:
    """Whose operation at that position has no counterpart: the one without which the rest fits better."""
    if at == len(ones):
        return f"TF2 draws more than TF1: {_words(others[at])}"
    if at == len(others):
        return f"TF2 does not draw: {_words(ones[at])}"
    extra, missing = _agreeing(ones[at:], others[at + 1 :]), _agreeing(ones[at + 1 :], others[at:])
    if len(ones) == len(others) and extra == missing:
        return f"draw {at} differs: TF1 {_words(ones[at])}, TF2 {_words(others[at])}"
    if (len(others) > len(ones)) if extra == missing else extra > missing:
        return f"TF2 draws more than TF1: {_words(others[at])}"
    return f"TF2 does not draw: {_words(ones[at])}"


def _agreeing(ones: Sequence[RandomOp], others: Sequence[RandomOp]) -> int:
    count = 0
    for one, other in zip(ones, others, strict=False):
        if not _alike(one, other):
            break
        count += 1
    return count


def _alike(one: RandomOp, other: RandomOp) -> bool:
    """Whether both may be the same operation: of the same shape, as far as it is known."""
    if not one.shape or not other.shape:
        return True
    if len(one.shape) != len(other.shape):
        return False
    return all(None in pair or pair[0] == pair[1] for pair in zip(one.shape, other.shape, strict=True))


def _words(draw: RandomOp) -> str:
    shape: list[Any] = ["?" if length is None else length for length in draw.shape]
    where = f" at {shown(draw.place)}" if draw.place else ""
    turns = " in each turn of a loop" if draw.repeats else ""
    return f"{draw.op} of shape [{', '.join(map(str, shape))}]{where}{turns}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
