"""The values that variables begin with: equal, or drawn from the same distribution by another generator."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..worker.recording.format import scenarios
from . import distributions
from .judging.converted import DerivedRecord, fixed
from .judging.judge import Judge
from .judging.measuring import OTHER_SHAPES, Measured, largest, measure
from .judging.pairing import Couple, Index, couples
from .judging.tolerances import Tolerance, coarser, table
from .results import Deviation
from .wording import figure

__all__ = ["ALIKE", "MOVED", "OTHER_LAYOUT", "Initial", "alike_alone", "compare_initial_values", "moved_alone"]

ALIKE = "on TF2 alone it begins with the numbers of"
"""How the problem of a variable begins that another one's initializer gave its values."""

MOVED = "inference changes it on TF2 alone"
"""The problem of a variable that is not trained, and that a pass of inference changes."""

OTHER_LAYOUT = "initial values in another layout:"
"""How the problem of values begins that no generator drew, and that are not where or what they should be."""

_FEW = 4


class Initial(NamedTuple):
    """Whether both sides begin with equal values, what was compared, and what the reader must know of it."""

    equal: bool
    checks: tuple[Deviation, ...]
    notes: tuple[str, ...]


def compare_initial_values(judge: Judge, tf1: Index, tf2: Index) -> Initial:
    """Compare the initial values of all variables that belong together.

    Values that are not equal must come from the same distribution. Those are compared by the samples that the sides
    drew from their initializers, or by the values of the variable itself.
    """
    found = _pairs(judge, tf1, tf2)
    checks, other, unknown = [], 0, []
    alpha = distributions.ALPHA / max(1, len(found))
    for couple in found:
        value = _values(judge, couple)
        if value.passed or value.problem:
            checks.append(value)
            continue
        moved = "" if _drawn(tf1, tf2, couple) else _moved(judge, couple)
        if moved:
            checks.append(_differs(judge, couple, moved))
            continue
        other += 1
        text = _distribution(judge, tf1, tf2, couple, alpha)
        if text is None:
            unknown.append(value.tf1_name)
        elif text:
            checks.append(_differs(judge, couple, f"initial values of another distribution: {text}{_at_once(couple)}"))
    return Initial(
        not other and all(check.passed for check in checks), tuple(checks), _notes(other, len(found), unknown)
    )


def moved_alone(
    judge: Judge, tf1: Index, tf2: Index, olds: Collection[str], news: Collection[str]
) -> Iterator[Deviation]:
    """What a pass of inference changes on TF2 alone, of the variables by name that it changes on either side."""
    for couple in _pairs(judge, tf1, tf2):
        if couple.tf1 and couple.tf2 and couple.tf2.name in news and couple.tf1.name not in olds:
            yield _differs(judge, couple, MOVED)


def alike_alone(judge: Judge, tf1: Index, tf2: Index, trained: Collection[str]) -> Iterator[Deviation]:
    """What begins with the numbers of another variable on TF2, and does not on TF1, as one initializer of Keras gives.

    Only of variables of TF1 that are `trained`, by name, where any are: a network that is a copy begins alike.
    """
    known: list[tuple[str, Any, Any]] = []
    for couple in _pairs(judge, tf1, tf2):
        assert couple.tf1 is not None
        assert couple.tf2 is not None
        if (trained and couple.tf1.name not in trained) or not _drawn(tf1, tf2, couple):
            continue
        first, second = (array.ravel() for array in (judge.turned(couple.tf1), judge.values.of(couple.tf2)))
        for name, old, new in known:
            if _begin_alike(new, second) and not _begin_alike(old, first):
                yield _differs(judge, couple, f"{ALIKE} {name}")
                break
        else:
            known.append((couple.tf2.name, first, second))


def _begin_alike(one: Any, other: Any) -> bool:
    """Whether one is the beginning of the other, of at least four numbers that are not all the same."""
    size = min(one.size, other.size)
    return size >= _FEW and bool(np.array_equal(one[:size], other[:size])) and bool(np.any(one[:size] != one[0]))


def _pairs(judge: Judge, tf1: Index, tf2: Index) -> list[Couple]:
    return [
        couple
        for couple in couples(tf1, tf2, 0, judge.names)
        if couple.known.kind == "variable" and couple.tf1 and couple.tf2
    ]


def _values(judge: Judge, couple: Couple) -> Deviation:
    assert couple.tf1 is not None
    assert couple.tf2 is not None
    first, second = judge.turned(couple.tf1), judge.values.of(couple.tf2)
    rtol = table(coarser(couple.tf1.dtype, couple.tf2.dtype))[0]
    allowed = Tolerance(rtol, rtol * largest(first))
    found = measure(first, second, *allowed[:2])
    if found.problem.startswith(OTHER_SHAPES) and (couple.tf1.places or couple.tf2.places):
        whole = f"{OTHER_SHAPES}: {list(couple.tf1.shape)} and {list(couple.tf2.shape)}"
        found = found._replace(problem=whole)
    return judge.deviation(scenarios.INFERENCE, couple, found, allowed, True, None)


def _at_once(couple: Couple) -> str:
    """Why the usual initializers draw otherwise what TF1 has in fewer variables."""
    if not isinstance(couple.tf1, DerivedRecord) or couple.tf1.part.conversion.layout not in ("lstm", "gru", "rnn"):
        return ""
    return f" (TF1 draws all of {couple.tf1.part.source} at once, which no default of Keras does)"


def _moved(judge: Judge, couple: Couple) -> str:
    """How values differ that no generator drew: the same numbers elsewhere, or without what the layout adds."""
    assert couple.tf1 is not None
    assert couple.tf2 is not None
    first, second = judge.turned(couple.tf1), judge.values.of(couple.tf2)
    if couple.tf1.places is not None or first.shape != second.shape or first.dtype.kind not in "fc":
        return ""
    part = couple.tf1.part if isinstance(couple.tf1, DerivedRecord) else None
    gates = "" if part is None else str(part.conversion.settings.get("gates", ""))
    if gates and np.any(first != first.reshape(-1)[0]):
        for order in itertools.permutations(range(len(gates))):
            blocks = np.split(first, len(gates), axis=-1)
            if np.array_equal(np.concatenate([blocks[at] for at in order], axis=-1), second):
                found = ", ".join(gates[at] for at in order)
                return f"{OTHER_LAYOUT} the gates stand in the order {found}, where TF2 uses them as {', '.join(gates)}"
    if first.size > 1 and np.array_equal(np.sort(first, axis=None), np.sort(second, axis=None)):
        return f"{OTHER_LAYOUT} the same numbers stand in another order"
    if part is None or not fixed(couple.tf1):
        return ""
    return f"{OTHER_LAYOUT} {_added(first, second, gates, float(part.conversion.settings.get('forget_bias', 0.0)))}"


def _drawn(tf1: Index, tf2: Index, couple: Couple) -> bool:
    """Whether generators drew the values of both sides: such values have no layout, not even where they are the same.

    Of one seed both sides may draw the same stream, and lay it out each in its own way.
    """
    return all(
        record is not None and index.find("sample", record.name, 0) is not None
        for index, record in ((tf1, couple.tf1), (tf2, couple.tf2))
    )


def _added(first: Any, second: Any, gates: str, shift: float) -> str:
    """What a bias begins with that no generator drew."""
    apart = np.split(np.atleast_1d(second - first), max(1, len(gates)), axis=-1)
    alike = [np.all(block == block.reshape(-1)[0]) for block in apart]
    if not all(alike):
        return "TF1 begins with constants, and TF2 does not"
    by_gate = {gate: float(block.reshape(-1)[0]) for gate, block in zip(gates, apart, strict=False)}
    more = {gate: value for gate, value in by_gate.items() if value}
    if set(more) == {"f"} and more["f"] == -shift:
        return (
            f"TF1 adds forget_bias {figure(shift)} outside of its variables, TF2 does not, and its bias begins without "
            "it (unit_forget_bias)"
        )
    if set(more) == {"f"}:
        agree = f"with {figure(shift)} in it" if shift else "without any in it"
        return (
            f"the bias of TF2 begins with a forget bias of {figure(shift + more['f'])}, and outputs agree {agree}: TF1 "
            "adds another one, or TF2 adds one itself and here once more (unit_forget_bias)"
        )
    told = ", ".join(f"{value:+.3g} at gate {gate}" for gate, value in more.items())
    return f"the bias of TF2 begins otherwise than that of TF1: {told or 'another constant'}"


def _distribution(judge: Judge, tf1: Index, tf2: Index, couple: Couple, alpha: float) -> str | None:
    assert couple.tf1 is not None
    assert couple.tf2 is not None
    samples = [index.find("sample", record.name, 0) for index, record in ((tf1, couple.tf1), (tf2, couple.tf2))]
    arrays = [
        judge.values.of(sample if sample is not None and sample.kept else record)
        for sample, record in zip(samples, (couple.tf1, couple.tf2), strict=True)
    ]
    if any(array.dtype.kind not in "biuf" for array in arrays):
        return None
    return distributions.difference(arrays[0], arrays[1], alpha)


def _differs(judge: Judge, couple: Couple, text: str) -> Deviation:
    return judge.deviation(scenarios.INFERENCE, couple, Measured(False, problem=text), Tolerance(0.0, 0.0), True, None)


def _notes(other: int, count: int, unknown: list[str]) -> tuple[str, ...]:
    notes = []
    if other:
        notes.append(
            f"{other} of {count} variables begin with other numbers on both sides, as other generators draw them; "
            "their distributions were compared, and TF1's values were copied for what follows"
        )
    if unknown:
        names = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        notes.append(f"too few values to compare the distribution of {names}")
    return tuple(notes)
