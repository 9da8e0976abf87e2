"""A TF1 recording with its groups of variables laid out as TF2 has them: then each variable has one counterpart."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Record, Recorded, Scenario
from ...worker.recording.pairs.mapping import plain
from ...worker.recording.pairs.pair import LAYOUTS, Converter
from ...worker.recording.values.conversions import (
    NOT_TRIED,
    PROVEN,
    REFUTED,
    UNCLEAR,
    Conversion,
    Derived,
    derived,
    from_said,
    regrouped,
)
from ..wording import some

__all__ = [
    "NOT_TRIED", "REFUTED", "UNCLEAR", "Converted", "DerivedRecord", "Group", "converted", "fixed", "groups_of",
    "together"
]

_WORDS = {
    PROVEN: "with filled variables outputs agree, and do not where the same values stand in another order",
    REFUTED: "outputs with filled variables differ with it, and with whatever else fits",
    UNCLEAR: "outputs with filled variables are the same in whatever order the values are, which proves nothing",
    NOT_TRIED: "whether outputs agree with it was not tried",
}
_OWN = "variables as they were recorded"
_TURNED = ("variable", "gradient", "slot")


@dataclass(frozen=True)
class Group:
    """A group of variables, and what the TF2 side found out about it: see `converting` there."""

    conversion: Conversion
    how: str
    proof: str
    detail: str
    better: Mapping[str, Any] | None
    said: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """The names of both sides as a converter says them shortest."""

    @property
    def words(self) -> str:
        """What outputs say of it."""
        if self.proof == NOT_TRIED:
            return f"{_WORDS[NOT_TRIED]}{': ' + self.detail if self.detail else ''}"
        return _WORDS.get(self.proof, self.proof)

    @property
    def title(self) -> str:
        """From what to what."""
        return " -> ".join(some(names) for names in self.said)

    def line(self, settings: Mapping[str, Any] | None = None) -> str:
        """The converter for a pair; of a user's own function with its name left open."""
        one = self.conversion
        if one.layout not in LAYOUTS:
            return f"Converter({list(one.tf1)}, {list(one.tf2)}, ...)"
        usual = LAYOUTS[one.layout]
        chosen = one.settings if settings is None else settings
        told = {name: value for name, value in chosen.items() if value != usual.get(name)}
        return repr(Converter(*self.said, one.layout, **told))


@dataclass(frozen=True, kw_only=True)
class DerivedRecord(Record):
    """What the records of a group of variables come to as one TF2 variable has it.

    A member may lack where this variable is made of the others. `sources` are those of `sampling.of_group`, where
    `places` are.
    """

    members: tuple[Record | None, ...]
    part: Derived
    sources: Record | None = None

    @property
    def value(self) -> Any:
        """The array, made anew each time.

        Raises:
            RecordingError: if a member cannot be read.
        """
        return self.made(lambda member: member.value)

    def made(self, read: Callable[[Record], Any]) -> Any:
        """The array, of those that the members have."""
        arrays = [None if member is None else read(member) for member in self.members]
        dtype = next(array.dtype for array in arrays if array is not None)
        group = self.part.conversion
        if self.sources is not None and self.places is not None:
            return self._sample(arrays, dtype, read(self.sources), read(self.places))
        full = [np.zeros(shape, dtype) if one is None else one for shape, one in zip(group.old, arrays, strict=True)]
        return group.values(full, self.kind != "variable")[self.part.at]


    def _sample(self, arrays: Sequence[Any], dtype: Any, sources: Any, places: Any) -> Any:
        group = self.part.conversion
        found = np.zeros(places.shape, dtype)
        for number, array in enumerate(arrays):
            own = sources[0] == number
            if array is not None:
                found[own] = array.reshape(-1)[sources[1][own]]
        if self.kind == "variable" and not self.part.alone:
            nothing = group.values([np.zeros(shape, dtype) for shape in group.old])[self.part.at]
            found += nothing.reshape(-1)[places]
        return found


@dataclass(frozen=True)
class Converted:
    """A TF1 recording as TF2 lays it out, and its groups."""

    recorded: Recorded
    groups: tuple[Group, ...] = ()
    problems: tuple[str, ...] = ()
    parts: tuple[Derived, ...] = ()

    @cached_property
    def known(self) -> Mapping[str, str]:
        """The names of TF2 variables by those of what they are on TF1."""
        return {part.name: part.target for part in self.parts}


def groups_of(tf1: Recorded, tf2: Recorded) -> tuple[Group, ...]:
    """The groups of variables that the TF2 side recorded.

    Raises:
        ValueError: if they make no sense.
    """
    scenario = tf2.scenario(scenarios.CONVERTERS)
    found = []
    for number, said in enumerate(scenario.said.get("groups") or ()):
        moves = []
        for at in range(len(said["tf2"])):
            index, added = (scenario.find("conversion", f"{number}/{at}/{what}") for what in ("index", "added"))
            if index is not None and added is not None:
                moves.append((index.value, added.value))
        conversion = from_said(said, moves)
        names = _said(conversion.tf1, tf1), _said(conversion.tf2, tf2)
        found.append(Group(conversion, said["how"], said["proof"], said.get("detail", ""), said.get("better"), names))
    return tuple(found)


def together(groups: Iterable[Group]) -> list[Group]:
    """The groups that were converted; those of single variables of one layout as one."""
    found: dict[object, Group] = {}
    for group in groups:
        one = group.conversion
        key = (one.layout, group.how, group.proof) if len(one.tf1) == len(one.tf2) == 1 else id(group)
        if group.how == "names":
            continue
        if key in found:
            known = found[key]
            found[key] = replace(known, said=(known.said[0] + group.said[0], known.said[1] + group.said[1]))
        else:
            found[key] = group
    return list(found.values())


def _said(names: Sequence[str], recorded: Recorded) -> tuple[str, ...]:
    """The folder of a group, if it holds nothing else and in that order; otherwise all names."""
    folder = os.path.commonprefix([name.split("/")[:-1] for name in names])  # noqa: RUF071 -- of lists
    start = "/".join([*folder, ""])
    rows = [plain(str(row["name"])) for row in recorded.content.get(_OWN) or recorded.content.get("variables") or ()]
    inside = tuple(name for name in rows if name.startswith(start))
    return (start,) if folder and inside == tuple(names) else tuple(names)


def converted(tf1: Recorded, tf2: Recorded) -> Converted:
    """The TF1 recording with each group's variables, gradients and slots replaced by what TF2 makes of them.

    Raises:
        ValueError: if the groups that the TF2 side recorded make no sense.
        RecordingError: if they cannot be read.
    """
    groups = groups_of(tf1, tf2)
    problems = tuple(str(text) for text in tf2.scenario(scenarios.CONVERTERS).said.get("problems") or ())
    parts = derived([group.conversion for group in groups if group.how != "names"])
    if not parts:
        return Converted(tf1, groups, problems)
    content = dict(tf1.content)
    content[_OWN] = content.get("variables") or ()
    content["variables"] = regrouped(content[_OWN], parts)
    kept = tf2.scenario(scenarios.PLACES)
    laid_out = {
        name: replace(scenario, records=tuple(_records(scenario, parts, kept)))
        for name, scenario in tf1.scenarios.items()
    }
    return Converted(replace(tf1, content=content, scenarios=laid_out), groups, problems, tuple(parts))


def _records(scenario: Scenario, parts: Sequence[Derived], kept: Scenario) -> Iterator[Record]:
    members = {name for part in parts for name in part.conversion.tf1}
    by_key = {(record.kind, record.step, _slot(record), _owner(record)): record for record in scenario.records}
    by_source: dict[str, list[Derived]] = {}
    for part in parts:
        by_source.setdefault(part.source, []).append(part)
    for record in scenario.records:
        if record.kind == "tap":
            yield _owned(record, parts)
        elif record.kind == "sample" and plain(record.name) in members:
            yield from _samples(record, parts)
        elif record.kind not in _TURNED or _owner(record) not in members:
            yield record
        for part in by_source.get(_owner(record), ()) if record.kind in _TURNED else ():
            own = [by_key.get((record.kind, record.step, _slot(record), name)) for name in part.conversion.tf1]
            if any(own) and all(own[at] is not None for at in part.sources):
                yield _joined(record, own, part, kept)


def _joined(first: Record, members: Sequence[Record | None], part: Derived, places: Scenario) -> Record:
    """The record of a TF2 variable of a group; kept where all of it is."""
    slot = _slot(first)
    sources = places.find("sources", part.target)
    kept = all(one.kept for one in members if one is not None)
    more = {**first.more, "variable": part.name} if "variable" in first.more else first.more
    return DerivedRecord(
        kind=first.kind,
        name=f"{part.name}/{slot}" if slot else part.name,
        step=first.step,
        order=first.order,
        dtype=first.dtype,
        shape=part.conversion.new[part.at],
        place=first.place,
        more=more,
        _archive=first._archive if kept else None,
        _key=f"{first._key}>{part.at}",
        places=None if sources is None else places.find("places", part.target),
        members=tuple(members),
        part=part,
        sources=sources,
    )


def _samples(record: Record, parts: Iterable[Derived]) -> Iterator[Record]:
    """Samples of an initializer stand for those of every part that is made of its variable alone."""
    for part in parts:
        if part.alone and [part.conversion.tf1[at] for at in part.sources] == [plain(record.name)]:
            yield replace(record, name=part.name)


def _owned(tap: Record, parts: Sequence[Derived]) -> Record:
    """A layer's output, with the variables that it owns under the names of what they became."""
    owned = tap.more.get("owned")
    if not owned:
        return tap
    names: list[str] = []
    for name in owned:
        became = [part.name for part in parts if plain(str(name)) in part.conversion.tf1]
        names += [one for one in became or [name] if one not in names]
    return replace(tap, more={**tap.more, "owned": names})


def _owner(record: Record) -> str:
    return plain(str(record.more.get("variable", record.name)))


def _slot(record: Record) -> str:
    return str(record.more.get("slot", "")) if record.kind == "slot" else ""


def fixed(record: Record) -> bool:
    """Whether a TF1 value was not drawn: that of a group whose variables each hold one number."""
    if not isinstance(record, DerivedRecord):
        return False
    sources = [record.members[at] for at in record.part.sources]
    arrays = [source.value for source in sources if source is not None]
    return all(np.all(array == array.reshape(-1)[:1]) for array in arrays)
