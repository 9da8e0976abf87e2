"""Dotted names of modules: which file of the project each leads to, from where it is imported."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable

_LIBRARIES = frozenset(
    {"tensorflow", "keras", "tf_keras", "tf_slim", "numpy", "sonnet", "torch", "functools", "logging"}
)


class Modules:
    """The modules of a project.

    Args:
        files: their paths relative to the project's root, with ``/``.
    """

    def __init__(self, files: Collection[str]) -> None:
        self._files = files
        self._by_name = modules_of(files)
        self._tops = {name.partition(".")[0] for name in self._by_name}
        self._siblings = _siblings(files)

    def find(self, file: str, parts: list[str]) -> str | None:
        """The module that `file` imports by an absolute name."""
        folder = posixpath.dirname(file)
        if parts[0] in _LIBRARIES and not self._is_library(parts[0]):
            return None
        if parts[0] not in self._tops and (folder, parts[0]) not in self._siblings:
            return None
        found = self._by_name.get(".".join(parts))
        if found is not None:
            return found
        return self.at(posixpath.join(folder, *parts)) if len(parts) < 4 else None

    def _is_library(self, name: str) -> bool:
        """Whether the project is that library itself; a stray ``tensorflow.py`` or ``backends/keras/`` is not."""
        return f"{name}/__init__.py" in self._files or f"src/{name}/__init__.py" in self._files

    def at(self, path: str) -> str | None:
        """The module or package that lies at a path without its ending."""
        for candidate in (f"{path}.py", f"{path}/__init__.py" if path else "__init__.py"):
            if candidate in self._files:
                return candidate
        return None

    def leads_out(self, file: str, star: str) -> bool:
        """Whether ``from star import *`` names a file of the project that is known, or another package.

        A file that does not reach TensorFlow has no summary: to look in the package around it for what it exports would
        lead back to the same import, for ever.
        """
        folder, parts = split_relative(file, star)
        if folder is None:
            return self.find(file, parts[:1]) is None or self.find(file, parts) is not None
        return self.at(posixpath.join(folder, *parts)) is not None


def split_relative(file: str, dotted: str) -> tuple[str | None, list[str]]:
    """The folder that a relative name in `file` counts from, None of an absolute name; and the parts of the name."""
    level = len(dotted) - len(dotted.lstrip("."))
    folder = file
    for _ in range(level):
        folder = posixpath.dirname(folder)
    return folder if level else None, [part for part in dotted[level:].split(".") if part or not level]


def modules_of(files: Iterable[str]) -> dict[str, str]:
    """Dotted names of all files: from the root, from ``src/``, and from the top of each package."""
    found: dict[str, str] = {}
    paths = sorted(files)
    known = set(paths)
    for path in paths:
        plain = path.removesuffix("/__init__.py") if path.endswith("/__init__.py") else path.removesuffix(".py")
        names = {plain.replace("/", ".")}
        if plain.startswith("src/"):
            names.add(plain[4:].replace("/", "."))
        top = posixpath.dirname(path)
        while top and f"{top}/__init__.py" in known:
            top = posixpath.dirname(top)
        names.add((plain[len(top) + 1 :] if top else plain).replace("/", "."))
        for name in sorted(names):
            found.setdefault(name, path)
    return found


def _siblings(files: Iterable[str]) -> set[tuple[str, str]]:
    """Folder and name of every module and every folder of modules: what a script imports from beside itself."""
    found: set[tuple[str, str]] = set()
    for path in files:
        inner = path.removesuffix(".py")
        while inner:
            inner, _, name = inner.rpartition("/")
            found.add((inner, name))
    return found
