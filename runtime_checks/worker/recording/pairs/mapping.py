"""Which TF1 variable is which TF2 variable: by name and by what the user said, never by a silent guess."""

from __future__ import annotations

import re
from typing import Callable, Iterable, Mapping, NamedTuple, Sequence, Tuple, Union

from ..tensors import Json

__all__ = ["Described", "Match", "Matching", "Renames", "ignored", "match", "plain", "renamed"]

Described = Mapping[str, Json]
"""A variable as its side describes it."""
Renames = Union[Mapping[str, str], Callable[[str], str], None]
Couple = Tuple[Described, Described]

_NUMBER = re.compile(r"_\d+(?=/|$)")


class Match(NamedTuple):
    """Two variables that belong together, as described by their sides; `how`: ``name``, ``rename`` or ``converter``."""

    tf1: Described
    tf2: Described
    how: str


class Matching(NamedTuple):
    """What belongs together, in the order of TF1, and what has no counterpart.

    `suggestions` pairs some of what is left over, where shapes and order agree; nobody said that they are the same.
    `prefix` is what the names of the TF2 model have in front of the TF1 names, with its slash.
    """

    pairs: tuple[Match, ...]
    only_tf1: tuple[Described, ...]
    only_tf2: tuple[Described, ...]
    suggestions: tuple[Couple, ...]
    prefix: str = ""


def match(
    tf1: Sequence[Described],
    tf2: Sequence[Described],
    renames: Renames = None,
    ignore: Iterable[str] = (),
    known: Mapping[str, str] | None = None,
) -> Matching:
    """Map the variables of both sides, described by at least name and shape, in order of creation.

    Names count without ``:0``. A name that a side has twice matches nothing. The name in front of all TF2 names, as a
    Keras model puts it there, is left out where exactly one such prefix makes names match.

    Args:
        tf1: the variables of the TF1 side.
        tf2: the variables of the TF2 side.
        renames: as in `Pair`; a renamed variable is not looked for under its old name.
        ignore: as in `Pair`.
        known: TF2 names by TF1 names, of what belongs together whatever the renames say.
    """
    ignore, known = tuple(ignore), known or {}
    left = [variable for variable in tf1 if not ignored(str(variable["name"]), ignore)]
    right = [variable for variable in tf2 if not ignored(str(variable["name"]), ignore)]
    own = [plain(str(variable["name"])) for variable in left]
    wanted = [known.get(name) or renamed(name, renames) for name in own]
    targets, names = _once(wanted), _once(plain(str(variable["name"])) for variable in right)
    found = {at: names[name] for name, at in targets.items() if name in names}
    said = {name: at for name, at in targets.items() if own[at] not in known}
    prefix = _prefix(said, names, found)
    if prefix:
        _match_behind(prefix, targets, names, found)
    suggested = _suggested(left, right, found)
    pairs = [
        Match(
            left[at],
            right[found[at]],
            "converter" if own[at] in known else "name" if wanted[at] == own[at] else "rename",
        )
        for at in sorted(found)
    ]
    taken = set(found.values())
    return Matching(
        pairs=tuple(pairs),
        only_tf1=tuple(variable for at, variable in enumerate(left) if at not in found),
        only_tf2=tuple(variable for at, variable in enumerate(right) if at not in taken),
        suggestions=tuple((left[one], right[other]) for one, other in suggested),
        prefix=prefix,
    )


def renamed(name: str, renames: Renames) -> str:
    """The TF2 name that the user gave a TF1 name; the name itself where there is none.

    An exact name counts more than the beginning of one, a longer beginning more than a shorter one.
    """
    name = plain(name)
    if renames is None:
        return name
    if callable(renames):
        return plain(str(renames(name)))
    for key, value in renames.items():
        if plain(key) == name:
            return plain(value)
    beginnings = [key for key in renames if key.endswith("/") and name.startswith(key)]
    if not beginnings:
        return name
    longest = max(beginnings, key=len)
    target = renames[longest]
    return (target + "/" if target and not target.endswith("/") else target) + name[len(longest) :]


def ignored(name: str, ignore: Iterable[str]) -> bool:
    """Whether the user said that a variable has no counterpart."""
    name = plain(name)
    return any(name.startswith(key[:-1]) if key.endswith("*") else name == plain(key) for key in ignore)


def plain(name: str) -> str:
    """The name of a variable without the number of the output."""
    return name[:-2] if name.endswith(":0") else name


def _once(names: Iterable[str]) -> dict[str, int]:
    """The positions of the names that occur once."""
    found: dict[str, int] = {}
    for at, name in enumerate(names):
        found[name] = -1 if name in found else at
    return {name: at for name, at in found.items() if at >= 0}


def _prefix(targets: Mapping[str, int], names: Mapping[str, int], found: Mapping[int, int]) -> str:
    """What stands before every TF2 name that ends with a TF1 name without a counterpart, if it is the same for all.

    Where most paths matched without it, it is no name of the whole model: then there is none.
    """
    missing = {name for name, at in targets.items() if at not in found}
    taken = set(found.values())
    common: set[str] | None = None
    count = 0
    for name, at in names.items():
        endings = set() if at in taken else _endings(name, missing)
        if endings:
            count += 1
            prefixes = {name[: len(name) - len(ending)] for ending in endings}
            common = prefixes if common is None else common & prefixes
    exact = sum("/" in name and at in found for name, at in targets.items())
    if common and len(names) > 1:
        common = {one for one in common if all(name.startswith(one) for name in names)} or common if exact else common
    everywhere = common and all(name.startswith(min(common, key=len)) for name in names)
    return min(common, key=len) if common and (everywhere or count > exact) else ""


def _match_behind(prefix: str, targets: Mapping[str, int], names: Mapping[str, int], found: dict[int, int]) -> None:
    """Add what matches once the prefix is left out."""
    taken = set(found.values())
    for name, at in names.items():
        target = targets.get(name[len(prefix) :]) if name.startswith(prefix) else None
        if target is not None and target not in found and at not in taken:
            found[target] = at


def _endings(name: str, wanted: set[str]) -> set[str]:
    """The proper endings of a path that are wanted."""
    found = set()
    at = name.find("/")
    while at >= 0:
        if name[at + 1 :] in wanted:
            found.add(name[at + 1 :])
        at = name.find("/", at + 1)
    return found


def _suggested(left: Sequence[Described], right: Sequence[Described], found: dict[int, int]) -> list[tuple[int, int]]:
    """Pairs of positions of what is left over; takes back from `found` what only a shifted number made match."""
    return _by_last_names(left, right, _by_order(left, right, found))


def _by_last_names(
    left: Sequence[Described], right: Sequence[Described], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The pairs, in which variables of one layer and one shape that have the same last name on both sides keep it.

    A layer of one side may make its beta before its gamma, and one of the other its gamma first.
    """
    layers: dict[object, list[tuple[int, int]]] = {}
    for one, other in pairs:
        key = _folder(left[one]), _folder(right[other]), tuple(left[one]["shape"])
        layers.setdefault(key, []).append((one, other))
    found: list[tuple[int, int]] = []
    for members in layers.values():
        names = _once(_last(right[other]) for _, other in members)
        own = _once(_last(left[one]) for one, _ in members)
        kept = {at: names[name] for name, at in own.items() if name in names}
        taken = set(kept.values())
        rest = (at for at in range(len(members)) if at not in taken)
        found += [(one, members[kept[at] if at in kept else next(rest)][1]) for at, (one, _) in enumerate(members)]
    return sorted(found)


def _by_order(left: Sequence[Described], right: Sequence[Described], found: dict[int, int]) -> list[tuple[int, int]]:
    ones = [at for at in range(len(left)) if at not in found]
    taken = set(found.values())
    others = [at for at in range(len(right)) if at not in taken]
    if not ones or not others:
        return []
    if _shifted(left, right, found):
        moved = [at for at in found if found[at] != at]
        for at in moved:
            del found[at]
        return [(at, at) for at in range(len(left)) if at not in found]
    layers = _by_layer(left, right, ones, others)
    ones, others = _without(ones, others, layers)
    if _agree(left, right, ones, others):
        return sorted([*layers, *zip(ones, others)])
    suggested = _by_group(left, right, ones, others, _trainable)
    for group in (_last, _kind) if not suggested else (_last,):
        ones, others = _without(ones, others, suggested)
        suggested += _by_group(left, right, ones, others, group)
    return sorted([*layers, *suggested])


def _without(
    ones: Sequence[int], others: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> tuple[list[int], list[int]]:
    """The positions of both sides that no pair has."""
    return sorted(set(ones) - {one for one, _ in pairs}), sorted(set(others) - {other for _, other in pairs})


def _by_layer(
    left: Sequence[Described], right: Sequence[Described], ones: Sequence[int], others: Sequence[int]
) -> list[tuple[int, int]]:
    """The pairs of one shape whose layers have names that end alike, or else begin alike, whatever the whole order.

    Numbers in the names count where both sides have the same ones; else it is the order of those that differ in them
    alone, as a library gives the numbers.
    """
    paths = {id(one): _layer(one) for one in (*left, *right)}
    below = {}
    for side in (left, right):
        top = 0
        every = [paths[id(one)] for one in side]
        while every and min(map(len, every)) > top and len({path[top] for path in every}) == 1:
            top += 1
        below.update({id(one): paths[id(one)][top:] for one in side})
    found: list[tuple[int, int]] = []
    depth = max(map(len, paths.values()), default=0)
    for part in (*(slice(-length, None) for length in range(depth, 0, -1)), *map(slice, range(depth, 0, -1))):
        ones, others = _without(ones, others, found)

        def layer(variable: Described, part: slice = part) -> tuple[str, ...]:
            return (paths if part.start else below)[id(variable)][part]

        def key(variable: Described) -> object:
            return tuple(_NUMBER.sub("", one) for one in layer(variable)), tuple(variable["shape"])

        first, second = _grouped(left, ones, key), _grouped(right, others, key)
        for kind, mine in first.items():
            theirs = second.get(kind, [])
            if len(mine) != len(theirs) or not layer(left[mine[0]]):
                continue
            by_name = sorted(mine, key=lambda at: layer(left[at])), sorted(theirs, key=lambda at: layer(right[at]))
            same = [layer(left[at]) for at in by_name[0]] == [layer(right[at]) for at in by_name[1]]
            found += zip(*(by_name if same else (mine, theirs)))
    return found


def _layer(variable: Described) -> tuple[str, ...]:
    """The names of the scopes, or layers, that a variable is in, without what tells spellings alone apart."""
    return tuple(re.sub(r"[^\w/]", "_", _folder(variable).lower()).split("/")) if _folder(variable) else ()


def _by_group(
    left: Sequence[Described],
    right: Sequence[Described],
    ones: Sequence[int],
    others: Sequence[int],
    group: Callable[[Described], object],
) -> list[tuple[int, int]]:
    first, second = _grouped(left, ones, group), _grouped(right, others, group)
    suggested: list[tuple[int, int]] = []
    for key, members in first.items():
        if _agree(left, right, members, second.get(key, ())):
            suggested += zip(members, second[key])
    return suggested


def _shifted(left: Sequence[Described], right: Sequence[Described], found: Mapping[int, int]) -> bool:
    """Whether both lists agree in order, but for the numbers in the names, while names pair them otherwise."""
    everything = range(len(left))
    return (
        any(found[at] != at for at in found)
        and _agree(left, right, everything, range(len(right)))
        and all(_unnumbered(right[at]).endswith(_unnumbered(left[at])) for at in everything)
    )


def _agree(left: Sequence[Described], right: Sequence[Described], ones: Sequence[int], others: Sequence[int]) -> bool:
    return len(ones) == len(others) and all(
        tuple(left[one]["shape"]) == tuple(right[other]["shape"]) for one, other in zip(ones, others)
    )


def _grouped(
    variables: Sequence[Described], positions: Sequence[int], group: Callable[[Described], object]
) -> dict[object, list[int]]:
    found: dict[object, list[int]] = {}
    for at in positions:
        found.setdefault(group(variables[at]), []).append(at)
    return found


def _trainable(variable: Described) -> object:
    return variable.get("trainable")


def _kind(variable: Described) -> object:
    """What is left to tell variables by that a side makes in another order: TF1 often makes all weights first."""
    return tuple(variable["shape"]), variable.get("trainable")


def _last(variable: Described) -> str:
    return _unnumbered(variable).rsplit("/", 1)[-1]


def _folder(variable: Described) -> str:
    return plain(str(variable["name"])).rpartition("/")[0]


def _unnumbered(variable: Described) -> str:
    return _NUMBER.sub("", plain(str(variable["name"])))
