"""Who owns a file: `CODEOWNERS`, as GitHub reads it.

The last line that matches decides, and one without owners says that there are none. Patterns are those of `.gitignore`
but for three: ``docs/*`` speaks of no folder below, and GitHub knows neither ``!`` nor ``[``.
Sections of GitLab are passed over: all their lines count as one list.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from .discovery import is_foreign
from .gitignore import IgnoreFile
from .reading import read_bytes

_PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""The first one that is there counts."""
_SIZE_LIMIT = 3 * 1024 * 1024
"""Bytes; GitHub reads no larger one."""
_WORD = re.compile(r"(?:\\.|[^\s\\])++|\\")
_OWNER = re.compile(r"@{1,2}[\w-][\w./-]*+|[^@\s]++@[^@\s]++")
_SECTION = re.compile(r"\^?\[[^\]]++\]")


class _Line(NamedTuple):
    pattern: IgnoreFile
    owners: tuple[str, ...]
    reaches_down: bool
    """Whether it speaks of what lies in a folder that it matches."""


class Owners:
    """What one file says: ``file`` is its path from the root, and ``problems`` are lines of it that count for nothing.

    Args:
        text: of the file.
        file: its path, for the problems.
    """

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.problems: list[str] = []
        self._lines: list[_Line] = []
        self._folders: dict[str, int] = {"": -1}
        sections: list[int] = []
        for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
            words = list(takewhile(lambda word: not word.startswith("#"), _WORD.findall(line)))
            if not words:
                continue
            if _SECTION.match(line):
                sections.append(number)
            elif why := _trouble(words):
                self.problems.append(f"{file}:{number}: {why}; the line counts for nothing")
            else:
                pattern, *owners = words
                reaches_down = not pattern.endswith("/*")
                self._lines.append(_Line(IgnoreFile(os.fsencode(pattern)), tuple(owners), reaches_down))
        if sections:
            told = "sections are not followed: of all lines the last one that matches counts"
            self.problems.insert(0, f"{file}:{sections[0]}: {told}")

    def of(self, path: str) -> tuple[str, ...]:
        """The owners of a file by its path from the root, with ``/``; none where no line speaks of it."""
        folder = path.rpartition("/")[0]
        found = self._last(path, False, self._of_folder(folder))
        return self._lines[found].owners if found >= 0 else ()

    def _of_folder(self, folder: str) -> int:
        """The last line that speaks of all that lies in a folder, -1 for none."""
        if folder not in self._folders:
            above = self._of_folder(folder.rpartition("/")[0])
            self._folders[folder] = self._last(folder, True, above)
        return self._folders[folder]

    def _last(self, path: str, is_folder: bool, above: int) -> int:
        name = os.fsencode(path)
        for at in range(len(self._lines) - 1, above, -1):
            line = self._lines[at]
            if (line.reaches_down or not is_folder) and line.pattern.verdict(name, is_folder):
                return at
        return above


def _trouble(words: Sequence[str]) -> str:
    """Why a line says nothing, or nothing."""
    pattern, *owners = words
    if pattern.startswith("!"):
        return "a pattern cannot be taken back with !"
    if "[" in pattern:
        return "a pattern cannot have [ ]"
    if pattern.strip("/") == "":
        return "this is no pattern"
    bad = next((owner for owner in owners if _OWNER.fullmatch(owner) is None), None)
    return "" if bad is None else f"{bad} is no owner: @name, @organization/team or an address is one"


def owners_in(root: str) -> Owners | None:
    """What the file of a repository says, None where there is none.

    Raises:
        OSError: if it cannot be read, or is a link out of the repository.
    """
    for name in _PLACES:
        path = os.path.join(root, *name.split("/"))
        if os.path.lexists(path):
            if is_foreign(path):
                raise OSError(f"{name}: this is a link out of the project, and is not followed")
            return Owners(read_bytes(path, _SIZE_LIMIT).decode("utf-8", "surrogateescape"), name)
    return None
