"""Which groups of variables changed their layout together: what the pair says, what shapes tell, and what trying shows.

A layout is proven by the fingerprint fill: the outputs of both sides agree with it, and do not where the same values
stand in another order. Where several layouts fit the shapes, they are tried in turn.
"""

from __future__ import annotations

import itertools
from typing import Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ...errors import essence
from ..format.reading import Recorded
from ..format.scenarios import FINGERPRINT
from ..format.store import Chapter
from ..pairs import structures
from ..tensors import Array, Json
from ..values.conversions import (
    NOT_TRIED,
    PROVEN,
    REFUTED,
    UNCLEAR,
    Conversion,
    cells,
    declared,
    described,
    found,
    variants,
)
from .session import Session

__all__ = ["Group", "groups_of", "say", "tried"]

_AGREES = 1e-4
"""Of the largest output: far above the rounding of float32, far below what another order of gates makes."""
_MOST = 120
"""So many runs are made to find a layout."""

Run = Callable[[Sequence[Conversion], bool], Mapping[str, Array]]
"""The outputs with the fingerprint fill under some conversions; with true, the values of their groups are reversed."""


class Group(NamedTuple):
    """A conversion, and what is known of it.

    `how` is ``declared``, ``shapes``, or ``names`` where the group lies alike on both sides by what it is called, and
    is not converted. `better` are the settings with which outputs agree, where they do not with those of the group.
    """

    conversion: Conversion
    how: str
    proof: str = NOT_TRIED
    detail: str = ""
    better: Mapping[str, Json] | None = None


def groups_of(session: Session, tf1: Recorded) -> tuple[list[Group], list[str]]:
    """The groups of both sides, untried, and what is wrong with the pair's converters."""
    pair, rows = session.pair, session.recording.content["variables"]
    ones = tf1.content["variables"]
    made, problems = declared(pair.converters, ones, rows)
    groups = [Group(one, "declared") for one in made]
    layouts = session.copying.layouts
    groups += [Group(one, "shapes") for one in found(ones, rows, pair.renames, pair.ignore, layouts, made)]
    return groups, problems


def tried(session: Session, tf1: Recorded, groups: Sequence[Group], names: Mapping[str, str], run: Run) -> list[Group]:
    """The groups as they are to be converted, with what outputs say of them.

    Args:
        session: of the TF2 side.
        tf1: the recording of the TF1 side.
        groups: untried.
        names: the names of TF1 variables by those of their TF2 counterparts.
        run: gives outputs of the TF2 side.
    """
    wanted = {record.name: record.value for record in tf1.scenario(FINGERPRINT).of_kind("output")}
    widths = [leaf.shape[-1] for _, leaf in structures.flat(session.batches.at(0).inputs, "") if leaf.ndim]
    alike = [
        Group(one, "names")
        for one in cells(tf1.content["variables"], session.recording.content["variables"], names, widths)
    ]
    telling = any(value.dtype.kind in "fc" for value in wanted.values())
    if not telling or not (groups or alike):
        none = "no output is a floating number, which would tell"
        why = "" if telling else none if wanted else "the TF1 side recorded no outputs with filled variables"
        return [group._replace(detail=why) for group in groups]
    try:
        return _Trial(wanted, run).settle(groups, alike)
    except Exception as error:
        return [group._replace(detail=essence(error)) for group in groups]


def say(chapter: Chapter, groups: Sequence[Group], problems: Sequence[str]) -> None:
    """Record what was found."""
    told = []
    for number, group in enumerate(groups):
        one = {**described(group.conversion), "how": group.how, "proof": group.proof, "detail": group.detail}
        told.append(one if group.better is None else {**one, "better": dict(group.better)})
        for at, (index, added) in enumerate(group.conversion.moves):
            chapter.add("conversion", f"{number}/{at}/index", index)
            chapter.add("conversion", f"{number}/{at}/added", added)
    chapter.say(groups=told, problems=list(problems))


class _Trial:
    def __init__(self, wanted: Mapping[str, Array], run: Run) -> None:
        self._wanted = wanted
        self._run = run
        self._left = _MOST

    def settle(self, groups: Sequence[Group], alike: Sequence[Group]) -> list[Group]:
        """The groups with what was found, and those of `alike` with which outputs would agree."""
        own = [group.conversion for group in groups]
        if self._outputs(own) is None:
            return [group._replace(detail="the sides give no outputs of the same names and shapes") for group in groups]
        if self._agree(own):
            proof = UNCLEAR if groups and self._agree(own, spoiled=True) else PROVEN
            return [group._replace(proof=proof) for group in groups]
        for candidate in self._candidates(groups):
            if self._agree(candidate) and not self._agree(candidate, spoiled=True):
                return _with(groups, candidate)
        for group in alike:
            for one in variants(group.conversion):
                if self._agree([*own, one]):
                    seen = group._replace(proof=REFUTED, better=one.settings)
                    return [*(other._replace(proof=REFUTED) for other in groups), seen]
        return [group._replace(proof=REFUTED) for group in groups]

    def _agree(self, conversions: Sequence[Conversion], spoiled: bool = False) -> bool:
        if self._left <= 0:
            return False
        self._left -= 1
        outputs = self._outputs(conversions, spoiled)
        return outputs is not None and _error(*outputs) <= _AGREES

    def _outputs(self, conversions: Sequence[Conversion], spoiled: bool = False) -> tuple[Array, Array] | None:
        """The outputs of both sides in a row, as far as they are the same; None where they have nothing in common."""
        given = self._run(conversions, spoiled)
        ones = dict(self._wanted)
        if len(ones) == len(given) == 1:
            given = dict(zip(ones, given.values()))
        both = [(ones[name], given[name]) for name in ones if name in given]
        fitting = [(one, other) for one, other in both if one.shape == other.shape and one.dtype.kind in "fc"]
        if len(fitting) < len(both) or not fitting:
            return None
        first, second = (np.concatenate([np.ravel(pair[side]) for pair in fitting]) for side in (0, 1))
        return first, second

    def _candidates(self, groups: Sequence[Group]) -> Iterator[list[Conversion]]:
        """What else the groups may be: the likeliest first."""
        own = [group.conversion for group in groups]
        yield from _exchanged(groups)
        for layout in dict.fromkeys(one.layout for one in own):
            for together in zip(*(variants(one) for one in own if one.layout == layout)):
                rest = iter(together)
                yield [next(rest) if one.layout == layout else one for one in own]
            if layout == "lstm":
                yield from self._shifted(own)
        if len(own) > 1:
            for at, one in enumerate(own):
                for other in variants(one):
                    yield [*own[:at], other, *own[at + 1 :]]

    def _shifted(self, own: Sequence[Conversion]) -> Iterator[list[Conversion]]:
        """All LSTMs with another forget bias, that of the least squares of the outputs (Gauss and Newton)."""

        def at(shift: float) -> list[Conversion]:
            return [
                one._replace(settings={**one.settings, "forget_bias": shift}) if one.layout == "lstm" else one
                for one in own
            ]

        shift = 1.0
        for _ in range(8):
            here, there = self._outputs(at(shift)), self._outputs(at(shift + 0.01))
            if here is None or there is None:
                return
            slope, missing = (there[1] - here[1]) / 0.01, here[0] - here[1]
            if not np.all(np.isfinite(slope)) or not np.any(slope):
                return
            step = float(np.vdot(slope, missing).real / np.vdot(slope, slope).real)
            shift += min(max(step, -1.5), 1.5)
            if abs(step) < 1e-4:
                break
        yield at(round(shift, 3))


def _exchanged(groups: Sequence[Group]) -> Iterator[list[Conversion]]:
    """Groups of the same shapes that took each other's TF1 variables: the order of creation may not be the same."""
    own = [group.conversion for group in groups]
    alike: dict[object, list[int]] = {}
    for at, group in enumerate(groups):
        if group.how == "shapes":
            alike.setdefault((own[at].layout, own[at].old, own[at].new), []).append(at)
    for positions in alike.values():
        orders = itertools.permutations(positions) if len(positions) < 4 else iter([positions[::-1]])
        for order in orders:
            made = list(own)
            for at, taken in zip(positions, order):
                made[at] = own[at]._replace(tf1=own[taken].tf1)
            if made != own:
                yield made


def _with(groups: Sequence[Group], better: Sequence[Conversion]) -> list[Group]:
    """The groups under settings with which outputs agree; what the pair declares stays, and is told to be wrong."""
    made = []
    for group, one in zip(groups, better):
        if one == group.conversion:
            made.append(group._replace(proof=PROVEN))
        elif group.how == "declared":
            made.append(group._replace(proof=REFUTED, better=one.settings))
        else:
            made.append(group._replace(conversion=one, proof=PROVEN))
    return made


def _error(one: Array, other: Array) -> float:
    """The largest difference, relative to the largest value; infinite where something is not finite."""
    if not np.all(np.isfinite(one)) or not np.all(np.isfinite(other)) or not one.size:
        return float("inf")
    size = float(np.max(np.abs(one)))
    return float(np.max(np.abs(one - other))) / size if size else float("inf")
