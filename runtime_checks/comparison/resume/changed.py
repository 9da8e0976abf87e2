"""What another loop has of the checkpoints that a loop saved: which variables got a saved value, and which did not.

Variables are compared by their values, whatever restored them: a value that was saved, or the first one that a variable
had in its process. What the two loops do behind that is two trainings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..wording import some
from .judge import ORDER, Reference, differences, raised
from .results import Interruption, Lost, Status
from .traces import Run, State, Step, Value

__all__ = ["judge"]

_VARIABLES = ("model", "slots", "iterations", "generator", "average", "loss scale", "variable")
"""Kinds of state that are values of variables."""
_BESIDE = ("learning rate", "data", "epoch")
"""Those that are the same in a changed model."""


def judge(
    reference: Reference, how: str, behind: int, interrupted: Run, resumed: Run, files: Sequence[str]
) -> Interruption:
    """Hold what the changed loop begins with against what had been saved.

    Args:
        reference: the uninterrupted run of the loop that saved.
        how: it was interrupted.
        behind: the number of steps that were to be done before.
        interrupted: the run up to there.
        resumed: the run of the changed loop in the same folder, with the first values of its variables.
        files: what lay in the folder then.
    """
    saved = interrupted.saves[-1] if interrupted.saves else None
    notes = [*interrupted.notes, *resumed.notes]

    def told(status: Status, reason: str = "", lost: Sequence[Lost] = (), at: int | None = None) -> Interruption:
        return Interruption(
            how, behind, status, reason, saved, at, len(resumed.steps), tuple(lost), tuple(notes), files=tuple(files)
        )

    if resumed.raised:
        return told("refused", f"it does not go on: {raised(resumed)}")
    if not resumed.steps:
        return told("not compared", "the changed loop makes no step")
    begin = _variables(resumed.steps[0].begin)
    at, state = _place(reference, interrupted, begin)
    restored, kept, other = _sorted_out(begin, _variables(state), resumed.firsts)
    if not restored and saved is None and not files:
        return told("begun anew", "nothing had been saved by then")
    if not restored:
        nothing = Lost("nothing restored", "nothing was restored", None, "no variable has a saved value")
        return told("lost", "", [nothing])
    lost = [Lost(one.kind, one.name, at, "kept its initial value", None, one.number) for one in kept]
    for one in _beside(reference, at, resumed.steps[0]):
        if one.kind == "epoch" or (one.kind == "data" and "again" in one.detail):
            lost.append(one)
        else:
            notes.append(f"{one.name}: {one.detail or f'{one.resumed} in place of {one.uninterrupted}'}")
    has = {value.digest for value in begin.values()}
    left = [value.name for value in _variables(state).values() if value.digest and value.digest not in has]
    if saved is not None and at != saved:
        notes.append(f"it goes on from step {at}, and the last save was behind step {saved}")
    notes.append(f"{len(restored)} of {len(begin)} variables have a value that was saved: {some(restored)}")
    if left:
        notes.append(f"nothing has the saved value of {some(left)}")
    if lost:
        return told("lost", "", sorted(lost, key=lambda one: ORDER.index(one.kind)), at)
    if other:
        return told("not compared", f"neither a saved value nor the first one: {some(other)}", (), at)
    return told("restored", "every variable has a saved value; what it does then is not compared", (), at)


def _variables(state: State) -> Mapping[str, Value]:
    return {key: value for key, value in state.items() if value.kind in _VARIABLES}


def _place(reference: Reference, interrupted: Run, begin: Mapping[str, Value]) -> tuple[int, State]:
    """The save of which the changed loop has most, and the state then; where no save was seen, the step."""
    has = {value.digest for value in begin.values()}
    steps = reference.run.steps
    places = [at for at in dict.fromkeys(interrupted.saves) if at < len(steps)] or range(len(interrupted.steps) + 1)

    def common(at: int) -> tuple[int, int]:
        return sum(value.digest in has for value in _variables(steps[at].begin).values()), at

    at = max((one for one in places if one < len(steps)), key=common)
    return at, steps[at].begin


def _sorted_out(
    begin: Mapping[str, Value], saved: Mapping[str, Value], firsts: Mapping[str, tuple[str, bool]]
) -> tuple[list[str], list[Value], list[str]]:
    """Names of variables that have a saved value; those that have their first one; names of those with neither.

    The first value may be a saved one, where a variable is made from it. That of another variable shows nothing where
    all elements are alike: zeros are the same everywhere.
    """
    values = {value.digest for value in saved.values()}
    named = {(value.name, value.digest) for value in saved.values()}
    restored, kept, other = [], [], []
    for key, value in begin.items():
        digest, alike = firsts.get(key, ("", True))
        shows = not (alike and value.digest == digest)
        if value.digest and ((value.name, value.digest) in named or (shows and value.digest in values)):
            restored.append(value.name)
        elif value.digest and value.digest == digest:
            kept.append(value)
        else:
            other.append(value.name)
    return restored, kept, other


def _beside(reference: Reference, at: int, first: Step) -> Iterator[Lost]:
    """In what the first step differs from that of the uninterrupted run, beside the values of variables."""
    for one in differences(reference.run.steps[at], first, at, reference, []):
        if one.kind in _BESIDE:
            yield one
