"""The random operations of both sides: where one has an operation that the other lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..worker.recording.format.draws import INITIAL_VALUE, STEP, axis_of_turns, same_shape
from ..worker.recording.format.reading import Scenario
from ..worker.recording.format.rows import Place
from .results import RandomOp
from .wording import place as shown

__all__ = [
    "alike", "drawn", "in_turns", "mismatch", "parting", "repeating", "same_beginnings", "same_seeds", "sizes",
    "unaligned",
]


def drawn(scenario: Scenario) -> tuple[RandomOp, ...]:
    """What a side drew in a scenario, in order; a seed of -1 was not known."""
    found = []
    for said in scenario.said.get("random_ops") or ():
        if not isinstance(said, Mapping):
            continue
        place, seed, shape = said.get("place"), said.get("seed"), said.get("shape")
        found.append(
            RandomOp(
                op=str(said.get("op", "")),
                seed=seed if isinstance(seed, int) else -1,
                shape=None if shape is None else tuple(size if isinstance(size, int) else None for size in shape),
                purpose=str(said.get("purpose", STEP)),
                place=None if not place else (str(place[0]), int(place[1])),
                repeats=bool(said.get("repeats")),
                idle=bool(said.get("idle")),
                wanted=wanted if isinstance(wanted := said.get("wanted"), int) else None,
            )
        )
    return tuple(found)


def mismatch(tf1: Sequence[RandomOp], tf2: Sequence[RandomOp], purpose: str = STEP) -> str:
    """Say which operation is the first that one side has and the other lacks; empty where there is none.

    What TF1 draws and nothing depends on, TF2 may lack.
    """
    ones = [draw for draw in tf1 if draw.purpose == purpose]
    others = [draw for draw in tf2 if draw.purpose == purpose]
    at = _agreeing(ones, others)
    used = [draw for draw in ones if not draw.idle]
    if at == len(ones) == len(others) or _agreeing(used, others) == len(used) == len(others) or in_turns(tf1, tf2):
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
    """What one side draws turn by turn and the other at once, where they draw alike but for that; empty where not.

    The turns are those of a loop, or of one that is unrolled: the shapes are the same but for one axis. The numbers are
    the same, too, as long as both sides count turns from the same end (see `numbering` of the recording).
    """
    ones, others = ([draw for draw in draws if draw.purpose == STEP] for draws in (tf1, tf2))
    if found := _turn(ones, others):
        return f"TF1 draws {_words(found[0])}, TF2 {_words(found[1])}"
    if found := _turn(others, ones):
        return f"TF1 draws {_words(found[1])}, TF2 {_words(found[0])}"
    return ""


def repeating(draws: Sequence[RandomOp]) -> bool:
    """Whether a loop of the graph draws in a training step what is of any consequence."""
    return any(draw.repeats and draw.purpose == STEP and not draw.idle for draw in draws)


def _turn(turns: Sequence[RandomOp], wholes: Sequence[RandomOp]) -> tuple[RandomOp, RandomOp] | None:
    """The first draw of turns with what the other side draws at once; None unless each draw has a counterpart."""
    left, alone = list(wholes), []
    for draw in turns:
        same = next((other for other in left if alike(draw, other) and draw.repeats is other.repeats), None)
        if same is None:
            alone.append(draw)
        else:
            left.remove(same)
    fitting = {draw: [other for other in left if _is_turn(draw, other)] for draw in dict.fromkeys(alone)}
    if not all(others or draw.idle for draw, others in fitting.items()):
        return None
    for other in left:
        drawn_in = [draw for draw in alone if other in fitting[draw]]
        if len(drawn_in) < 2 and not any(draw.repeats for draw in drawn_in):
            return None
    return next(((draw, others[0]) for draw, others in fitting.items() if others), None)


def _is_turn(draw: RandomOp, whole: RandomOp) -> bool:
    known = draw.shape is not None and whole.shape is not None and not whole.repeats
    return known and axis_of_turns(draw.shape or (), whole.shape or ()) is not None


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
    """Whether the same operations of a step draw from the same seeds, all of them known; also where there are none."""
    ones, others = ([(draw.op, draw.seed) for draw in draws if draw.purpose == STEP] for draws in (tf1, tf2))
    return ones == others and all(seed >= 0 for _, seed in ones)


def same_beginnings(tf1: Sequence[RandomOp], tf2: Sequence[RandomOp]) -> bool:
    """Whether the same operations draw initial values from the same seeds; also where there are none."""
    ones, others = ([(one.op, one.seed) for one in draws if one.purpose == INITIAL_VALUE] for draws in (tf1, tf2))
    return ones == others


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
        if not alike(one, other):
            break
        count += 1
    return count


def alike(one: RandomOp, other: RandomOp) -> bool:
    """Whether both may be the same operation: of the same shape, as far as it is known."""
    return one.shape is None or other.shape is None or same_shape(one.shape, other.shape)


def _words(draw: RandomOp) -> str:
    where = f" at {shown(draw.place)}" if draw.place else ""
    turns = " in each turn of a loop" if draw.repeats else ""
    return f"{draw.op} of {sizes(draw)}{where}{turns}"


def sizes(draw: RandomOp) -> str:
    """The shape in words."""
    if draw.shape is None:
        return "unknown shape"
    return f"shape [{', '.join('?' if size is None else str(size) for size in draw.shape)}]"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
