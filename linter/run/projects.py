"""Which files belong together: a marked project, or what can be told of one that nothing marks."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from ..settings.manifests import states_requirements
from ..source.discovery import marked_root, package_parent, project_files
from ..source.reading import read_bytes


class ProjectFolder(NamedTuple):
    """Where the names of a project's modules begin, and which files below are the project's."""

    root: str
    package: str = ""
    """The one package that is the project, with what it imports from beside it; empty where all of `root` is."""
    flat: bool = False
    """Whether of `root` only the modules in the folder itself are the project, with what they import from below it."""

    @property
    def home(self) -> Path:
        """The folder whose files say what the project requires."""
        return Path(self.package or self.root)

    def files(self) -> list[str]:
        """Every Python file of the project, as sorted absolute paths."""
        if not self.package and not self.flat:
            return project_files(Path(self.root))
        queue = project_files(Path(self.root), below=False) if self.flat else [self.package]
        beside = {name: path for name, path in _modules_in(self.root).items() if path not in queue}
        found: set[str] = set()
        while queue:
            place = queue.pop()
            new = project_files(Path(place)) if os.path.isdir(place) else [place]
            found.update(new)
            for path in new if beside else ():
                for name in _imports_of(path) & beside.keys():
                    queue.append(beside.pop(name))
        return sorted(found)


def project_of(folder: str, given: str = "", loose: str | None = None) -> ProjectFolder:
    """The project of the files in a folder.

    A marked folder around it is one. A package that none is around is seen from the folder that holds it, whose names
    it uses; but what else lies there may be anybody's, as in a folder of downloads. It belongs to the project if it is
    asked for, states requirements, or is imported. So it is with what lies below the folder of a module in no package:
    that may be somebody's home.

    Args:
        folder: an absolute path.
        given: the folder that was asked for and in which this one was found; empty where a file was.
        loose: the project of what lies below it and is in no marked one.
    """
    if marked := marked_root(folder):
        return ProjectFolder(marked)
    if loose is not None and _is_within(folder, loose):
        return ProjectFolder(loose)
    parent = package_parent(folder)
    if parent is None:
        return ProjectFolder(given or folder, flat=not given and not states_requirements(folder))
    if (given and _is_within(parent, given)) or states_requirements(parent):
        return ProjectFolder(parent)
    return ProjectFolder(parent, os.path.join(parent, os.path.relpath(folder, parent).split(os.sep)[0]))


def _is_within(folder: str, other: str) -> bool:
    return f"{folder.rstrip(os.sep)}{os.sep}".startswith(f"{other.rstrip(os.sep)}{os.sep}")


def _modules_in(folder: str) -> dict[str, str]:
    """The modules and folders in a folder that a file there may import, by name."""
    found: dict[str, str] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name.removesuffix(".py")
                if name.isidentifier() and (entry.is_dir() or name != entry.name):
                    found[name] = entry.path
    except OSError:
        return {}
    return found


def _imports_of(path: str) -> set[str]:
    """The first parts of what a file may import from outside its package, and of what else looks so in its text."""
    try:
        text = read_bytes(path).decode("utf-8", "replace")
    except OSError:
        return set()
    lines = re.findall(r"^[ \t]*+(?:import|from) (.*)", text, re.M)
    return {name for line in lines for name in re.findall(r"\w++", line)}
