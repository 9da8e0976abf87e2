"""Fixes applied, again and again until nothing is left to fix; then written.

A file whose text cannot be parsed afterwards, or of which a finding is still there that was fixed, is left as it was.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from ..atomic import ChangedError, clear, replace_file
from ..finding import PYTHON2_SOURCE, UNPARSABLE_FILE, Applicability, Consequence, Edit, Finding, Severity
from ..fixing.edits import applied, moved, overlap, position
from ..result import Result
from ..source.cell_sources import with_sources
from ..source.discovery import leads_out, trees_around
from ..source.parsing import digest_of
from ..source.reading import NOTEBOOK, decoded, read_bytes

_MOST_ROUNDS = 100
"""A chain of calls, of which each is fixed in its own way, takes as many rounds as fixes overlap."""

CONVERSION = "compat.v1"
"""What stands for a rule's code where a whole file is converted."""

Lint = Callable[[Mapping[str, bytes]], Result]
"""Lints the files with these contents in place of what they hold, by their absolute paths."""


class Place(NamedTuple):
    """Where a finding was before anything was fixed.

    ``round`` is 0 but for a finding that only the fixes of some rounds have made, and that is where it was then.
    """

    path: str
    code: str
    cell: int | None
    line: int
    column: int
    round: int = 0


@dataclass(frozen=True, slots=True)
class AppliedFix:
    """A finding that was fixed, as it was found; where it was at first, and where it is in the fixed file."""

    finding: Finding
    place: Place
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which fixes are applied: those of these codes that are so applicable, and that `ask`, if there is one, allows."""

    codes: frozenset[str]
    applicabilities: frozenset[Applicability] = frozenset({Applicability.SAFE})
    ask: Callable[[Finding, str], bool] | None = None
    """It is given a finding and the text that it was found in."""
    without: frozenset[Place] = frozenset()
    """Findings that are left."""
    codes_of: Callable[[str], frozenset[str]] | None = None
    """Gives the codes for an absolute path, where they differ."""

    def __call__(self, finding: Finding) -> bool:
        """Whether a finding has such a fix, whatever `ask` will say."""
        fix = finding.fix
        if fix is None or fix.applicability not in self.applicabilities:
            return False
        codes = self.codes if self.codes_of is None else self.codes_of(os.path.abspath(finding.path))
        return finding.code in codes


@dataclass(slots=True)
class FixedFile:
    """A file with what it held and what it is to hold; its text has its own line ends."""

    display: str
    path: str
    before: bytes
    now: bytes
    fixed: Counter[str] = field(default_factory=Counter)
    """How many fixes of each code were applied."""

    @property
    def texts(self) -> tuple[str, str]:
        """What it held and what it is to hold, as text; of a notebook its JSON."""
        is_notebook = self.path.endswith(NOTEBOOK)
        before, now = (
            data.decode(json.detect_encoding(data)) if is_notebook else decoded(data)[0]
            for data in (self.before, self.now)
        )
        return before, now


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of the findings with fixes.

    ``result`` is what is found after them, ``files`` what they change; ``left`` are sentences on files that are left as
    they were. ``applied`` are the fixes one by one, and ``now`` says where the findings are that had one at first.
    ``notes`` are lines of files as they were, with what a person has to know of the conversion of those.
    """

    result: Result
    files: tuple[FixedFile, ...]
    left: tuple[str, ...]
    applied: tuple[AppliedFix, ...] = ()
    now: Mapping[Place, tuple[int, int]] = field(default_factory=dict)
    notes: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)


def fix(lint: Lint, wanted: Wanted) -> Fixed:
    """Apply the fixes of all findings to copies of their files, until no finding has one."""
    return _Fixing(lint, wanted).fixed()


class _Fixing:
    def __init__(self, lint: Lint, wanted: Wanted) -> None:
        self.lint = lint
        self.wanted = wanted
        self.files: dict[str, FixedFile] = {}
        self.left: dict[str, str] = {}
        """Why the file of a displayed path is not fixed."""
        self.refused: set[Place] = set()
        """Of the findings that `Wanted.ask` has not allowed to fix."""
        self.names: dict[str, list[tuple[str, str]]] = {}
        """The displayed and absolute paths of a file, by its real path: one file may be given by several names."""
        self.gone: dict[str, list[tuple[str, str, int | None, int, int]]] = {}
        """By displayed path: what the last round fixed, as code, message, cell and the place where it would be now."""
        self.rounds = 0
        self.now: dict[str, dict[Place, tuple[int, int]]] = {}
        """By displayed path: where the findings are that had a fix."""
        self.applied: list[tuple[Finding, Place]] = []

    def fixed(self) -> Fixed:
        result = self._lint()
        notes = {display: conversion.notes for display, conversion in result.conversions.items() if conversion.notes}
        for self.rounds in range(_MOST_ROUNDS):
            again = self._take_back(result)
            for display, findings in self._by_file(result).items():
                again |= self._apply(result, display, findings)
            if not again:
                break
            result = self._lint()
        else:
            for display in self.gone:
                self._leave(display, "its fixes lead to others without an end")
            result = self._lint()
        files = tuple(one for one in self.files.values() if one.now != one.before)
        left = tuple(f"{display}: not fixed: {why}" for display, why in self.left.items())
        now = {place: where for places in self.now.values() for place, where in places.items()}
        applied = [AppliedFix(one, place, *now[place]) for one, place in self.applied if place.path not in self.left]
        return Fixed(result, files, left, tuple(applied), now, notes)

    def _lint(self) -> Result:
        changed = (one for one in self.files.values() if one.now != one.before)
        return self.lint({path: one.now for one in changed for _, path in self.names[os.path.realpath(one.path)]})

    def _take_back(self, result: Result) -> bool:
        """Leave the files that the last round has harmed or fixed in vain as they were; whether there are some."""
        unreadable = {UNPARSABLE_FILE.code, PYTHON2_SOURCE.code}
        broken = {one.path: one.message for one in result.findings if one.code in unreadable}
        left = (*result.findings, *_conversions(result))
        found = {(one.path, one.code, one.message, one.cell, one.line, one.column) for one in left}
        harmed = False
        for display, fixed in self.gone.items():
            if display in broken:
                self._leave(display, f"with its fixes, {broken[display]}")
                harmed = True
            elif still := next((one for one in fixed if (display, *one) in found), None):
                self._leave(display, f"{still[0]} is found in line {still[3]} after its fix as well")
                harmed = True
        self.gone = {}
        return harmed

    def _leave(self, display: str, why: str) -> None:
        self.left[display] = why
        if display in self.files:
            self.files[display].now = self.files[display].before
            self.files[display].fixed.clear()
        known = self.now.get(display, {})
        self.now[display] = {place: (place.line, place.column) for place in known if not place.round}

    def _by_file(self, result: Result) -> dict[str, list[Finding]]:
        if not self.names:
            for display, (path, _) in result.sources.items():
                self.names.setdefault(os.path.realpath(path), []).append((display, path))
        first = {names[0][0] for names in self.names.values()}
        found: dict[str, list[Finding]] = {}
        for finding in (*result.findings, *_conversions(result)):
            if self.wanted(finding) and finding.path in first and finding.path not in self.left:
                found.setdefault(finding.path, []).append(finding)
        return found

    def _placed(self, display: str, findings: list[Finding]) -> list[tuple[Finding, Place]]:
        """Findings of a file with where they were at first."""
        now = self.now.setdefault(display, {})
        known = {(place.code, place.cell, *where): place for place, where in now.items()}
        found = []
        for one in findings:
            where = one.line, one.column
            place = known.get((one.code, one.cell, *where)) or Place(display, one.code, one.cell, *where, self.rounds)
            now[place] = where
            found.append((one, place))
        return found

    def _apply(self, result: Result, display: str, findings: list[Finding]) -> bool:
        """Apply what does not overlap, the first of all first; whether something was."""
        file = self.files.get(display) or self._file(result, display)
        if file is None:
            return False
        edits: dict[int | None, set[Edit]] = {}
        taken = []
        for finding, place in self._placed(display, findings):
            assert finding.fix is not None
            there = edits.setdefault(finding.cell, set())
            new = set(finding.fix.edits) - there
            if any(overlap(one, other) for one in new for other in there):
                continue
            if self._is_allowed(finding, place, result):
                there |= new
                taken.append((finding, place))
        if not taken:
            return False
        now = self.now[display]
        try:
            ordered = {cell: sorted(some, key=position) for cell, some in edits.items()}
            file.now, moved_to = _with_edits(file, ordered, [(place.cell, *where) for place, where in now.items()])
        except (ValueError, UnicodeEncodeError) as error:
            self._leave(display, f"its fixes cannot be written: {error}")
            return True
        now.update(zip(now, moved_to, strict=True))
        self.applied += taken
        file.fixed.update(finding.code for finding, _ in taken)
        self.gone[display] = [(one.code, one.message, one.cell, *now[place]) for one, place in taken]
        return True

    def _is_allowed(self, finding: Finding, place: Place, result: Result) -> bool:
        """Ask, once for each finding."""
        if place in self.refused or place in self.wanted.without:
            return False
        if self.wanted.ask is None or self.wanted.ask(finding, "\n".join(_lines_of(finding, result))):
            return True
        self.refused.add(place)
        return False

    def _file(self, result: Result, display: str) -> FixedFile | None:
        """A file as it was linted, None where it is not to be had, or is not to be written."""
        path, data = result.sources[display]
        if data is None:
            if leads_out(path, trees_around(project.root for project in result.projects)):
                self.left[display] = f"this is a link out of the project, to {os.path.realpath(path)}"
                return None
            try:
                data = read_bytes(path)
            except OSError as error:
                self.left[display] = str(error)
                return None
        if digest_of(data) != result.digests.get(display):
            self.left[display] = "it has changed since it was linted"
            return None
        self.files[display] = FixedFile(display, path, data, data)
        return self.files[display]


def _conversions(result: Result) -> Iterator[Finding]:
    """What makes files run through compat.v1, as findings."""
    for display, conversion in result.conversions.items():
        if conversion.fix is not None:
            yield Finding(
                *(display, 1, 1, 1, 1, CONVERSION, CONVERSION, Severity.ERROR, Consequence.BREAKS),
                "this file does not run through compat.v1 as it is",
                fix=conversion.fix,
            )


def _lines_of(finding: Finding, result: Result) -> Sequence[str]:
    """The lines of the file or cell that a finding is in."""
    source = result.source(finding.path)
    return [] if source is None else source.texts[finding.cell]


def _with_edits(
    file: FixedFile, edits: Mapping[int | None, Sequence[Edit]], places: Iterable[tuple[int | None, int, int]]
) -> tuple[bytes, list[tuple[int, int]]]:
    """What a file is to hold with the edits of each of its cells, or of it as a whole, and where places are then.

    Raises:
        ValueError, UnicodeEncodeError: if it cannot be written.
    """
    if file.path.endswith(NOTEBOOK):
        before: dict[int | None, str] = {}

        def changed(cell: int, text: str) -> str:
            before[cell] = text
            return applied(text, edits[cell])

        change = {cell: partial(changed, cell) for cell in edits if cell is not None}
        now = with_sources(file.now, change)
    else:
        text, encoding = decoded(file.now)
        before = {None: text}
        now = applied(text, edits[None]).encode(encoding)
    return now, [
        moved(before[cell], edits[cell], line, column) if cell in before else (line, column)
        for cell, line, column in places
    ]


def write(fixed: Fixed) -> list[str]:
    """Write the files, each whole or not at all; what is said of those that could not be written."""
    # Where a run was killed after it had replaced a file, no fix leads there again.
    for folder in sorted({os.path.dirname(path) for path, _ in fixed.result.sources.values()}):
        clear(folder)
    failed = []
    for file in fixed.files:
        try:
            replace_file(file.path, file.now, file.before)
        except ChangedError:
            failed.append(f"{file.display}: it has changed since it was linted; its fixes are not written")
        except OSError as error:
            failed.append(f"{file.display}: its fixes cannot be written: {error.strerror or error}")
    return failed
