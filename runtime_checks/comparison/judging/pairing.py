"""Which record of one side is compared with which of the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...worker.recording.format.reading import Record, Scenario
from ...worker.recording.pairs.mapping import plain
from .naming import Naming

__all__ = ["Couple", "Index", "couples", "slot_of"]

_WHOLE = ("evaluation", "output")


@dataclass(frozen=True, slots=True)
class Couple:
    """Two records of the same thing; one of them is None where a side lacks it.

    `counts` is false where a difference decides nothing; `always` is true for what every policy compares; `sure` is
    false for an endpoint and a layer, which may have been tapped at different places.
    """

    tf1: Record | None
    tf2: Record | None
    counts: bool = True
    always: bool = False
    sure: bool = True

    @property
    def known(self) -> Record:
        """The TF1 record, or the TF2 record where there is none."""
        found = self.tf1 or self.tf2
        assert found is not None
        return found


class Index:
    """The records of a scenario by kind, name and step."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._by_key: dict[tuple[str, str, int], Record] = {}
        self._by_kind: dict[tuple[str, int], list[Record]] = {}
        for record in scenario.records:
            self._by_key.setdefault((record.kind, record.name, record.step), record)
            self._by_kind.setdefault((record.kind, record.step), []).append(record)

    def find(self, kind: str, name: str | None, step: int) -> Record | None:
        """The record of that kind, name and step, or None."""
        return None if name is None else self._by_key.get((kind, name, step))

    def all(self, kind: str, step: int) -> Sequence[Record]:
        """The records of a kind and step, in the order of execution."""
        return self._by_kind.get((kind, step), ())

    def steps(self) -> list[int]:
        """The steps that were recorded, with -1 for what was before the first."""
        return sorted({step for _, step in self._by_kind})


def couples(tf1: Index, tf2: Index, step: int, names: Naming) -> list[Couple]:
    """What is compared of a step, in the order in which the TF1 side computed it."""
    found = [
        *_of_results(tf1, tf2, step),
        *_of_numbers(tf1, tf2, step),
        *_of_taps(tf1, tf2, step, names),
        *_of_variables(tf1, tf2, step, names),
        *_of_slots(tf1, tf2, step, names),
    ]
    ends = 1 + max((couple.tf1.order for couple in found if couple.tf1), default=0)
    return sorted(found, key=lambda couple: couple.tf1.order if couple.tf1 else ends)


def _of_results(tf1: Index, tf2: Index, step: int) -> Iterator[Couple]:
    """Outputs and evaluations: by name, or as the only ones; a side that gives none at all has nothing to compare."""
    for kind in _WHOLE:
        ones, others = tf1.all(kind, step), tf2.all(kind, step)
        if not ones or not others:
            continue
        always = kind == "evaluation"
        if len(ones) == len(others) == 1:
            yield Couple(ones[0], others[0], always=always)
            continue
        for one in ones:
            yield Couple(one, tf2.find(kind, one.name, step), always=always)
        for other in others:
            if tf1.find(kind, other.name, step) is None:
                yield Couple(None, other, always=always)


def _of_numbers(tf1: Index, tf2: Index, step: int) -> Iterator[Couple]:
    """Losses, learning rates and metrics that both sides have; single regularization losses decide nothing."""
    for kind in ("loss", "learning_rate", "metric", "regularization"):
        for one in tf1.all(kind, step):
            other = tf2.find(kind, one.name, step)
            if other is not None:
                yield Couple(one, other, counts=kind != "regularization" or one.name == "total")


def _of_variables(tf1: Index, tf2: Index, step: int, names: Naming) -> Iterator[Couple]:
    for kind in ("gradient", "variable"):
        ones, others = tf1.all(kind, step), tf2.all(kind, step)
        if not ones or not others:
            continue
        by_name = {plain(other.name): other for other in others}
        targets = set(names.to_tf2.values())
        reached = set()
        for one in ones:
            name, mark, number = plain(one.name).partition("#")  # a further gradient of one weight
            known = names.to_tf2.get(name)
            if known is None:
                continue
            target = f"{known}{mark}{number}"
            reached.add(target)
            always = kind == "variable" and not names.trainable.get(plain(one.name), True)
            yield Couple(one, by_name.get(target), always=always)
        for name, other in by_name.items():
            if name in targets and name not in reached:
                yield Couple(None, other)


def _of_slots(tf1: Index, tf2: Index, step: int, names: Naming) -> Iterator[Couple]:
    others = {_slot(other): other for other in tf2.all("slot", step)}
    for one in tf1.all("slot", step):
        variable, slot, number = _slot(one)
        other = others.get((names.to_tf2.get(variable, ""), slot, number))
        if other is not None:
            yield Couple(one, other)


def _slot(record: Record) -> tuple[str, str, int]:
    return plain(str(record.more.get("variable", ""))), slot_of(record), int(record.more.get("optimizer", 1))


def slot_of(record: Record) -> str:
    """What a slot holds, whichever optimizer it is of: ``adam.m``."""
    return str(record.more.get("slot", ""))


def _of_taps(tf1: Index, tf2: Index, step: int, names: Naming) -> Iterator[Couple]:
    """Endpoints and the user's taps by name; layers by the variables that they own, or by their name and shape."""
    ones, others = list(tf1.all("tap", step)), list(tf2.all("tap", step))
    found = [(one, _named(one, tf2, step, names)) for one in ones]
    pairs = [(one, other) for one, other in found if other is not None and not (_automatic(one) and _automatic(other))]
    ones, others = _without(ones, others, pairs)
    by_owned = _by_owned(others, {})
    owned = [
        pair
        for key, group in _by_owned(ones, names.to_tf2).items()
        for pair in _of_calls(group, by_owned.get(key, ()))
    ]
    ones, others = _without(ones, others, owned)
    pairs += owned
    free = {id(other) for other in others}
    named = [(one, _named(one, tf2, step, names)) for one in ones]
    pairs += [(one, other) for one, other in named if other is not None and id(other) in free]
    ones, others = _without(ones, others, [(one, other) for one, other in named if other is not None])
    pairs += _by_scope(ones, others, names)
    taken: set[int] = set()
    for one, other in pairs:
        if id(other) not in taken:
            taken.add(id(other))
            sure = _automatic(one) == _automatic(other)
            yield Couple(one, other, counts=sure and not _automatic(one), sure=sure)


def _of_calls(ones: Sequence[Record], others: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Outputs of layers in their order; of a layer that gives several, such as a cell, those in the same place."""
    if not any("part" in tap.more for tap in (*ones, *others)):
        return list(zip(ones, others, strict=False))
    places = {tap.more["part"]: tap for tap in others if "part" in tap.more}
    return [(one, places[part]) for one in ones if (part := one.more.get("part")) in places]


def _without(
    ones: Sequence[Record], others: Sequence[Record], pairs: Sequence[tuple[Record, Record]]
) -> tuple[list[Record], list[Record]]:
    taken = {id(record) for pair in pairs for record in pair}
    return [one for one in ones if id(one) not in taken], [other for other in others if id(other) not in taken]


def _named(one: Record, tf2: Index, step: int, names: Naming) -> Record | None:
    """The tap of the other side that has the same name, or that the pair names beside it."""
    candidates = [second for name, (first, second) in names.taps.items() if one.name in (name, first)]
    candidates += [name for name, (first, _) in names.taps.items() if first == one.name]
    candidates += [one.name, names.matching.prefix + one.name]
    for name in candidates:
        other = tf2.find("tap", name, step)
        if other is not None and (one.shape == other.shape or not (_automatic(one) or _automatic(other))):
            return other
    return None


def _by_scope(ones: Sequence[Record], others: Sequence[Record], names: Naming) -> list[tuple[Record, Record]]:
    """Endpoints that are called like the scope of the variables that a layer of TF2 owns, whatever its own name."""
    to_tf1 = {target: name for name, target in names.to_tf2.items()}
    found: dict[tuple[str, tuple[int, ...]], Record] = {}
    for other in others:
        owned = [to_tf1.get(plain(str(name)), "").split("/")[:-1] for name in other.more.get("owned") or ()]
        if owned and _automatic(other):
            scope = os.path.commonprefix(owned)  # noqa: RUF071 -- of lists
            found.setdefault(("/".join(scope), other.shape), other)
    pairs = [(one, found.get((one.name.rstrip("/"), one.shape))) for one in ones if not _automatic(one)]
    return [(one, other) for one, other in pairs if other is not None]


def _automatic(tap: Record) -> bool:
    return bool(tap.more.get("auto"))


def _by_owned(taps: Sequence[Record], to_tf2: Mapping[str, str]) -> dict[tuple[frozenset[str], int, int], list[Record]]:
    """Layers by the TF2 names of their variables, the call and the number of elements; the innermost first."""
    found: dict[tuple[frozenset[str], int, int], list[Record]] = {}
    for tap in taps:
        owned = frozenset(to_tf2.get(plain(str(name)), plain(str(name))) for name in tap.more.get("owned") or ())
        if owned and _automatic(tap):
            size = 1
            for length in tap.shape:
                size *= length
            found.setdefault((owned, int(tap.more.get("call", 0)), size), []).append(tap)
    return found
