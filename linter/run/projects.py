"""Which files belong together: a marked project, or what can be told of one that nothing marks."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

from ..analysis.modules import LIBRARIES
from ..settings.manifests import states_requirements
from ..source.discovery import marked_root, package_parent, project_files
from ..source.reading import read_bytes


class ProjectFolder(NamedTuple):
    """Where the names of a project's modules begin, and which files below are the project's."""

    root: str
    package: str = ""
    """The one folder that is the project, with what it imports from beside it; empty where all of `root` is."""
    flat: bool = False
    """Whether of the folder only the modules in itself are the project, with what they import from below it."""

    @property
    def home(self) -> Path:
        """The folder whose files say what the project requires."""
        return Path(self.package or self.root)

    def files(self) -> list[str]:
        """Every Python file of the project, as sorted absolute paths."""
        if not self.package and not self.flat:
            return project_files(Path(self.root))
        home = str(self.home)
        queue = project_files(self.home, below=False) if self.flat else [home]
        around = _modules_in(self.root) | (_modules_in(home) if self.flat else {})
        beside = {name: path for name, path in around.items() if path not in queue and not _is_within(home, path)}
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
    that may be somebody's home. What such modules import and is not beside them is looked for in the folders above, up
    to the working folder: a program is run from there with ``PYTHONPATH=.`` or ``-m``.

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
        return _from_where_it_runs(ProjectFolder(given or folder, flat=not given and not states_requirements(folder)))
    if (given and _is_within(parent, given)) or states_requirements(parent):
        return ProjectFolder(parent)
    return ProjectFolder(parent, os.path.join(parent, os.path.relpath(folder, parent).split(os.sep)[0]))


def _from_where_it_runs(found: ProjectFolder) -> ProjectFolder:
    """The same files, seen from the nearest folder, up to the working one, with a module that they import and lack."""
    here = os.getcwd()
    if found.root == here or not _is_within(found.root, here):
        return found
    imported = set().union(*(_imports_of(path) for path in found.files())) - LIBRARIES - sys.stdlib_module_names
    lacking = imported - _modules_in(found.root).keys()
    folder = found.root
    while folder != here:
        folder = os.path.dirname(folder)
        if lacking & _modules_in(folder).keys():
            whole = states_requirements(folder)
            return ProjectFolder(folder) if whole else ProjectFolder(folder, found.root, found.flat)
    return found


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
    """The first parts of the names that a file imports from outside its package, as its text looks."""
    try:
        text = read_bytes(path).decode("utf-8", "replace")
    except OSError:
        return set()
    found: set[str] = set()
    for word, line in re.findall(r"^[ \t]*+(import|from)\b(.*)", text, re.M):
        names = line.split(",") if word == "import" else [line]
        found.update(start[1] for name in names if (start := re.match(r"\s*\.*(\w+)", name)))
    return found
