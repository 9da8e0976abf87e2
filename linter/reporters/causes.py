"""What to do first: the errors and warnings of a run, grouped by what they have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..finding import Finding, Severity
from . import Paint, printable

__all__ = ["first_steps", "listed"]

_LEAST = 10
"""Errors and warnings that can be taken in without a summary."""
_NAMED = 3
_CAUSES = {
    "TF1": "variables, layers and other state are made again at each call, or not tracked",
    "TF2": "Python runs while a graph is traced, and not again",
    "TF3": "models cannot be saved, loaded or run as they are written",
    "TF4": "this is still a TF1 program",
    "TF5": "checkpoints restore nothing, or not everything",
    "TF9": "files were not linted, or the code contradicts what was assumed",
}
"""By the first digit of a code, which stands for the family of a rule."""
_FAMILY = re.compile(r"\A[A-Z]*+\d?")
_SYMBOL = re.compile(r"[^`]*+`(tf\.[\w.]++)`")


def first_steps(findings: Iterable[Finding], paint: Paint) -> Iterator[str]:
    """A line for each cause, those with most errors first; nothing where the findings are few."""
    serious = [finding for finding in findings if finding.severity is not Severity.INFO]
    causes: dict[str, list[Finding]] = {}
    for finding in serious:
        causes.setdefault("".join(_FAMILY.findall(finding.code)), []).append(finding)
    if len(serious) <= _LEAST:
        return
    yield paint("What to do first:", "bold")
    width = len(str(len(serious)))
    for family, found in sorted(causes.items(), key=lambda item: (-_errors(item[1]), -len(item[1]), item[0])):
        cause = _CAUSES.get(family, f"rules {family}xx")
        files = _counted(printable(finding.path) for finding in found)
        indent = " " * (2 * width + 8)
        where = "1 file" if len(files) == 1 else f"{len(files)} files"
        yield f"  {len(found):>{width}} of {len(serious)}: {cause} ({where})"
        yield f"{indent}{listed(_counted(map(_subject, found)), 'name')}"
        yield f"{indent}{listed(files, 'file')}"
    yield ""


def listed(names: Sequence[str], noun: str) -> str:
    """The first few of some names, and how many more there are."""
    more = len(names) - _NAMED
    if more <= 1:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMED])} and {more} more {noun}s"


def _counted(names: Iterable[str]) -> list[str]:
    """Names with their numbers, the most frequent first."""
    found = Counter(names)
    return [f"{name} {number}" for name, number in sorted(found.items(), key=lambda item: (-item[1], item[0]))]


def _errors(findings: Iterable[Finding]) -> int:
    return sum(finding.severity is Severity.ERROR for finding in findings)


def _subject(finding: Finding) -> str:
    """The name of TensorFlow that a finding speaks of, or else its rule."""
    symbol = _SYMBOL.match(finding.message) if finding.code.startswith("TF4") else None
    return f"`{symbol[1]}`" if symbol else finding.slug
