"""Where packages with rules for us are installed, asked at every start: nothing heavy is imported here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

GROUP = "migrate_lint.rules"
"""The entry point group that such a package names."""


def announcing_folders() -> list[str]:
    """The folders that Python imports from, and that hold the metadata of such a package."""
    return [folder for folder in _import_folders() if _announces(folder)]


def _import_folders() -> Iterator[str]:
    """The folders that Python imports from; without the working folder, which may hold what is linted."""
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    for folder in dict.fromkeys(sys.path):
        if folder and os.path.realpath(folder) != here:
            yield folder


def _announces(folder: str) -> bool:
    """Whether the metadata of a package in a folder names our group."""
    try:
        with os.scandir(folder) as entries:
            places = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return False
    for place in places:
        try:
            with open(os.path.join(place, "entry_points.txt"), "rb") as file:
                if GROUP.encode() in file.read():
                    return True
        except OSError:
            continue
    return False
