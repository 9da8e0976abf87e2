"""Fixes applied, again and again until nothing is left to fix; then written.

A file whose text cannot be parsed afterwards, or of which a finding is still there that was fixed, is left as it was.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from ..atomic import ChangedError, clear, replace_file
from ..finding import PYTHON2_SOURCE, UNPARSABLE_FILE, Applicability, Edit, Finding
from ..fixing.edits import applied, moved, overlap, position
from ..result import Result
from ..source.discovery import leads_out, trees_around
from ..source.reading import NOTEBOOK, decoded, read_bytes

_MOST_ROUNDS = 20
"""A chain of calls, of which each is fixed in its own way, takes as many rounds as fixes overlap."""

Lint = Callable[[Mapping[str, bytes]], Result]
"""Lints the files with these contents in place of what they hold, by their absolute paths."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which fixes are applied: those of these codes that are so applicable, and that `ask`, if there is one, allows."""

    codes: frozenset[str]
    applicabilities: frozenset[Applicability] = frozenset({Applicability.SAFE})
    ask: Callable[[Finding, str], bool] | None = None
    """It is given a finding and the text that it was found in."""

    def __call__(self, finding: Finding) -> bool:
        """Whether a finding has such a fix, whatever `ask` will say."""
        fix = finding.fix
        return fix is not None and finding.code in self.codes and fix.applicability in self.applicabilities


@dataclass(slots=True)
class FixedFile:
    """A file with what it held and what it is to hold; its text has its own line ends."""

    display: str
    path: str
    before: bytes
    now: bytes
    fixed: Counter[str] = field(default_factory=Counter)
    """How many fixes of each code were applied."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of the findings with fixes.

    ``result`` is what is found after them, ``files`` what they change; ``left`` are sentences on files that are left as
    they were.
    """

    result: Result
    files: tuple[FixedFile, ...]
    left: tuple[str, ...]


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
        self.refused: set[tuple[str, str, str, str]] = set()
        """What `Wanted.ask` was asked, and has not allowed: the path, code, message and line of a finding."""
        self.gone: dict[str, list[tuple[str, str, int, int]]] = {}
        """By displayed path: what the last round fixed, as code, message and the place where it would be now."""

    def fixed(self) -> Fixed:
        result = self._lint()
        for _ in range(_MOST_ROUNDS):
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
        return Fixed(result, files, tuple(f"{display}: not fixed: {why}" for display, why in self.left.items()))

    def _lint(self) -> Result:
        return self.lint({one.path: one.now for one in self.files.values() if one.now != one.before})

    def _take_back(self, result: Result) -> bool:
        """Leave the files that the last round has harmed or fixed in vain as they were; whether there are some."""
        unreadable = {UNPARSABLE_FILE.code, PYTHON2_SOURCE.code}
        broken = {one.path: one.message for one in result.findings if one.code in unreadable}
        found = {(one.path, one.code, one.message, one.line, one.column) for one in result.findings}
        harmed = False
        for display, fixed in self.gone.items():
            if display in broken:
                self._leave(display, f"with its fixes, {broken[display]}")
                harmed = True
            elif still := next((one for one in fixed if (display, *one) in found), None):
                self._leave(display, f"{still[0]} is found in line {still[2]} after its fix as well")
                harmed = True
        self.gone = {}
        return harmed

    def _leave(self, display: str, why: str) -> None:
        self.left[display] = why
        if display in self.files:
            self.files[display].now = self.files[display].before
            self.files[display].fixed.clear()

    def _by_file(self, result: Result) -> dict[str, list[Finding]]:
        found: dict[str, list[Finding]] = {}
        real: dict[str, str] = {}
        for finding in result.findings:
            if self.wanted(finding) and finding.path in result.sources and finding.path not in self.left:
                path = os.path.realpath(result.sources[finding.path][0])
                if real.setdefault(path, finding.path) == finding.path:  # one file may be given by two names
                    found.setdefault(finding.path, []).append(finding)
        return found

    def _apply(self, result: Result, display: str, findings: list[Finding]) -> bool:
        """Apply what does not overlap, the first of all first; whether something was."""
        file = self.files.get(display) or self._file(result, display)
        if file is None:
            return False
        if display.endswith(NOTEBOOK):
            self.left[display] = "notebooks are not written"
            return False
        text, encoding = decoded(file.now)
        edits: set[Edit] = set()
        taken = []
        for finding in findings:
            assert finding.fix is not None
            new = set(finding.fix.edits) - edits
            if not any(overlap(one, other) for one in new for other in edits) and self._is_allowed(finding, text):
                edits |= new
                taken.append(finding)
        if not taken:
            return False
        ordered = sorted(edits, key=position)
        try:
            if text.encode(encoding) != file.now:
                raise ValueError(f"its text cannot be written back in {encoding} as it is")
            file.now = applied(text, ordered).encode(encoding)
        except (ValueError, UnicodeEncodeError) as error:
            self._leave(display, f"its fixes cannot be written: {error}")
            return True
        file.fixed.update(finding.code for finding in taken)
        self.gone[display] = [(one.code, one.message, *moved(text, ordered, one.line, one.column)) for one in taken]
        return True

    def _is_allowed(self, finding: Finding, text: str) -> bool:
        if self.wanted.ask is None:
            return True
        key = finding.path, finding.code, finding.message, text.splitlines()[finding.line - 1]
        if key not in self.refused and self.wanted.ask(finding, text):
            return True
        self.refused.add(key)
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
        if blake2b(data, digest_size=16).hexdigest() != result.digests.get(display):
            self.left[display] = "it has changed since it was linted"
            return None
        self.files[display] = FixedFile(display, path, data, data)
        return self.files[display]


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
