"""The ``renames`` of a pair that say what names do not: as few rules as can be found, tried before they are shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...worker.recording.pairs.mapping import match, plain

__all__ = ["renames_for"]


def renames_for(
    tf1: Sequence[Mapping[str, Any]],
    tf2: Sequence[Mapping[str, Any]],
    wanted: Mapping[str, str],
    prefix: str = "",
    ignore: Sequence[str] = (),
) -> dict[str, str]:
    """The renames with which a pair matches its variables as wanted; empty where no names can say it.

    Args:
        tf1: the variables of the TF1 side.
        tf2: the variables of the TF2 side.
        wanted: names of TF2 by names of TF1, without ``:0``.
        prefix: what stands before all names of TF2, which a rename may leave out.
        ignore: as in `Pair`.
    """
    short = {one: other.removeprefix(prefix) for one, other in wanted.items()}
    for names in (short, wanted):
        for renames in (dict(_rules(names)), {one: other for one, other in names.items() if one != other}):
            found = match(tf1, tf2, renames, ignore)
            said = {plain(str(pair.tf1["name"])): plain(str(pair.tf2["name"])) for pair in found.pairs}
            if said == dict(wanted):
                return renames
    return {}


def _rules(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """A rule for each folder of TF1 that is one on TF2, the highest there are, and for each name that is in none."""
    folders = deque([("", list(names))])
    while folders:
        folder, inside = folders.popleft()
        below: dict[str, list[str]] = {}
        for name in inside:
            head, slash, _ = name[len(folder) :].partition("/")
            if slash:
                below.setdefault(f"{folder}{head}/", []).append(name)
            elif names[name] != name:
                yield name, names[name]
        for inner, members in below.items():
            target = _folder(inner, members, names)
            if target is None:
                folders.append((inner, members))
            elif target != inner:
                yield inner, target


def _folder(folder: str, members: Sequence[str], names: Mapping[str, str]) -> str | None:
    """What stands on TF2 in place of a folder, for all names below it; None if there is no one such path."""
    found = set()
    for name in members:
        rest = name[len(folder) :]
        if not names[name].endswith(rest):
            return None
        found.add(names[name][: len(names[name]) - len(rest)])
    (target,) = found if len(found) == 1 else (None,)
    return target if target is not None and (not target or target.endswith("/")) else None
