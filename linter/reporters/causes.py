"""What there is to do: the findings of a run, grouped by what they have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from ..finding import Consequence, Effort, Finding, Severity
from ..result import BaselineStatus, Result
from . import Paint, printable
from .echoes import links, place_of

__all__ = ["first_steps", "listed", "most_told", "statistics"]

_Name = TypeVar("_Name", str, tuple[str, str], Consequence, Effort)

_LEAST = 10
"""Errors and warnings that can be taken in without a summary."""
_NAMED = 3
_CAUSES = {
    "TF1": "variables, layers and other state are made again at each call, or not tracked",
    "TF2": "Python runs while a graph is traced, and not again",
    "TF3": "models cannot be saved, loaded or run as they are written",
    "TF4": "this is still a TF1 program",
    "TF5": "checkpoints restore nothing, or not everything",
    "TF6": "defaults, meanings and orders are others, which mostly changes numbers silently",
    "TF9": "files were not linted, or the code contradicts what was assumed",
}
"""By the first digit of a code, which stands for the family of a rule."""
_CONSEQUENCES = {
    Consequence.BREAKS: "it raises",
    Consequence.CHANGES: "it computes something else",
    Consequence.LEGACY: "it works through compat.v1",
}
_EFFORTS = {
    Effort.MECHANICAL: "another name, import or keyword",
    Effort.LOCAL: "a change within a function or a class",
    Effort.THOUGHT: "to be built in another way, or to be decided",
}
_FOLDERS = 20
"""Those with most findings, which are listed."""
_FAMILY = re.compile(r"\A[A-Z]*+\d?")
_SYMBOL = re.compile(r"[^`]*+`(tf\.[\w.]++)`")


def first_steps(result: Result, paint: Paint) -> Iterator[str]:
    """A line for each cause, those with most errors first; nothing where the findings are few.

    Before them stand the files without which most others cannot be imported, and how many findings follow from others.
    """
    serious = [finding for finding in result.findings if finding.severity is not Severity.INFO]
    causes: dict[str, list[Finding]] = {}
    for finding in serious:
        causes.setdefault(_family(finding), []).append(finding)
    if len(serious) <= _LEAST:
        return
    yield paint("What to do first:", "bold")
    width = len(str(len(serious)))
    known = links(result)
    stopping = sorted(
        (-stop.others, path, place_of(stop.finding)) for path, stop in known.stopped.items() if stop.others
    )
    if stopping:
        yield f"  until it is mended, {1 - stopping[0][0]} files cannot be imported:"
        yield f"{' ' * (2 * width + 8)}{listed([place for *_, place in stopping], 'place')}"
    if echoes := [one for one in serious if one in known.causes]:
        places = _spoken(place_of(cause) for one in echoes for cause in known.causes[one][:1])
        follow = "follows from another" if len(echoes) == 1 else "follow from others"
        yield f"  {len(echoes):>{width}} of {len(serious)}: {follow} (counted below as well)"
        yield f"{' ' * (2 * width + 8)}{listed(places, 'place')}"
    for family, found in sorted(causes.items(), key=lambda item: (-_errors(item[1]), -len(item[1]), item[0])):
        files = _spoken(printable(finding.path) for finding in found)
        indent = " " * (2 * width + 8)
        where = "1 file" if len(files) == 1 else f"{len(files)} files"
        yield f"  {len(found):>{width}} of {len(serious)}: {_cause(family)} ({where})"
        yield f"{indent}{listed(_spoken(map(_subject, found)), 'name')}"
        yield f"{indent}{listed(files, 'file')}"
    yield ""


def statistics(result: Result) -> Iterator[str]:
    """Tables of a run's findings by rule, cause, folder, consequence and effort, and of its baseline over time."""
    findings = result.findings
    width = len(str(len(findings)))
    rules = _counted((finding.code, finding.slug) for finding in findings)
    yield from (f"{number:>{width}}  {code}  {slug}" for (code, slug), number in rules)
    causes = _counted(map(_family, findings))
    yield from _table("by cause", ((_cause(family), number) for family, number in causes), width)
    causes_of = links(result).causes
    followed = _counted(place_of(cause) for cause, *_ in causes_of.values())
    yield from _table("follow from others", followed, width)
    folders = _counted(printable(finding.path.rpartition("/")[0] or ".") for finding in findings)
    if len(folders) > _FOLDERS + 1:
        others = sum(number for _, number in folders[_FOLDERS:])
        folders = [*folders[:_FOLDERS], (f"in {len(folders) - _FOLDERS} more folders", others)]
    yield from _table("by folder", folders, width)
    consequences = Counter(finding.consequence for finding in findings)
    yield from _table("by consequence", _meant(_CONSEQUENCES, consequences), width)
    efforts = Counter(finding.effort for finding in findings)
    yield from _table("by effort, as a rule of thumb", _meant(_EFFORTS, efforts), width)
    if result.baseline is not None:
        yield from _table("the baseline over time", _over_time(result.baseline), len(str(result.baseline.initial)))


def most_told(findings: Iterable[Finding]) -> str:
    """The code that a run found most often at the worst severity that it found."""
    found = Counter((finding.severity, finding.code) for finding in findings)
    worst = next(one for one in Severity if any(one is severity for severity, _ in found))
    return max((number, code) for (severity, code), number in found.items() if severity is worst)[1]


def _table(title: str, rows: Iterable[tuple[str, int]], width: int) -> Iterator[str]:
    lines = [f"{number:>{width}}  {name}" for name, number in rows]
    if lines:
        yield from ("", f"{title}:", *lines)


def _meant(meanings: Mapping[_Name, str], found: Counter[_Name]) -> Iterator[tuple[str, int]]:
    width = max(len(name) for name in meanings)
    return ((f"{name:<{width}}  {meaning}", found[name]) for name, meaning in meanings.items() if found[name])


def _over_time(status: BaselineStatus) -> Iterator[tuple[str, int]]:
    yield from ((f"left on {day}", left) for day, left in status.history)
    yield "left now", status.left
    yield "done", status.initial - status.left


def listed(names: Sequence[str], noun: str, total: int | None = None) -> str:
    """The first few of some names, and how many more there are, of a total of which these are the first."""
    more = (len(names) if total is None else total) - _NAMED
    if more <= 1:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMED])} and {more} more {noun}s"


def _family(finding: Finding) -> str:
    return "".join(_FAMILY.findall(finding.code))


def _cause(family: str) -> str:
    return _CAUSES.get(family, f"rules {family}xx")


def _counted(names: Iterable[_Name]) -> list[tuple[_Name, int]]:
    """Names with their numbers, the most frequent first."""
    return sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))


def _spoken(names: Iterable[str]) -> list[str]:
    return [f"{name} {number}" for name, number in _counted(names)]


def _errors(findings: Iterable[Finding]) -> int:
    return sum(finding.severity is Severity.ERROR for finding in findings)


def _subject(finding: Finding) -> str:
    """The name of TensorFlow that a finding speaks of, or else its rule."""
    symbol = _SYMBOL.match(finding.message) if finding.code.startswith("TF4") else None
    return f"`{symbol[1]}`" if symbol else finding.slug
