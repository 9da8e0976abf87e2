"""Dotted names of modules: which file of the project each leads to, from where it is imported."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Container, Iterable, Mapping

LIBRARIES = frozenset(
    {"tensorflow", "keras", "tf_keras", "tf_slim", "numpy", "sonnet", "torch", "functools", "logging"}
)
"""What a file or folder of the same name does not stand for, unless it is the project itself."""


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
        # A project can be such a library itself; a stray `tensorflow.py` or `backends/keras/` is not.
        own = {n for n in LIBRARIES if f"{n}/__init__.py" in files or f"src/{n}/__init__.py" in files}
        self._libraries = LIBRARIES - own

    def _knows(self, file: str, head: str) -> bool:
        """Whether an absolute name in `file` that begins so may be a module of the project."""
        return head not in self._libraries and (head in self._tops or (posixpath.dirname(file), head) in self._siblings)

    def _named(self, file: str, parts: list[str]) -> str | None:
        found = self._by_name.get(".".join(parts))
        if found is not None:
            return found
        return self.at(posixpath.join(posixpath.dirname(file), *parts)) if len(parts) < 4 else None

    def find(self, file: str, parts: list[str]) -> tuple[str | None, int]:
        """The module that an absolute name in `file` begins with, and how many of the name's parts lead there."""
        for size in range(len(parts), 0, -1) if self._knows(file, parts[0]) else ():
            found = self._named(file, parts[:size])
            if found is not None and found != file:  # `import tensorflow` in a file tensorflow.py means the real one
                return found, size
        return None, 0

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
        if star.startswith("."):
            folder, parts = split_relative(file, star)
            return self.at(posixpath.join(folder, *parts)) is not None
        parts = star.split(".")
        is_ours = self._knows(file, parts[0]) and self._named(file, parts[:1]) is not None
        return not is_ours or self._named(file, parts) is not None

    def of_star(self, file: str, star: str) -> str | None:
        """The module of the project that ``from star import *`` in `file` leads to."""
        if star.startswith("."):
            folder, parts = split_relative(file, star)
            return self.at(posixpath.join(folder, *parts))
        parts = star.split(".")
        found, size = self.find(file, parts)
        return found if size == len(parts) else None


def split_relative(file: str, dotted: str) -> tuple[str, list[str]]:
    """The folder that a relative name in `file` counts from, and the parts of the name."""
    parts = dotted.lstrip(".")
    for _ in range(len(dotted) - len(parts)):
        file = posixpath.dirname(file)
    return file, [part for part in parts.split(".") if part]


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


def imported_file(importer: str, absolute: str, modules: Mapping[str, str], keys: Container[str]) -> str | None:
    """The key of the project's file that an import leads to, None for one that leads out.

    `modules` are the keys by dotted name, see `modules_of`; `absolute` is as `summary.imported` gives it.
    """
    level = len(absolute) - len(absolute.lstrip("."))
    folder = importer
    for _ in range(max(level, 1)):
        folder = posixpath.dirname(folder)
    parts = absolute[level:].split(".")
    for size in range(len(parts), 0, -1):
        found = None if level else modules.get(".".join(parts[:size]))
        beside = posixpath.join(folder, *parts[:size])
        for candidate in (found, f"{beside}.py", f"{beside}/__init__.py"):
            if candidate is not None and candidate in keys and candidate != importer:
                return candidate
    return None


def _siblings(files: Iterable[str]) -> set[tuple[str, str]]:
    """Folder and name of every module and every folder of modules: what a script imports from beside itself."""
    found: set[tuple[str, str]] = set()
    for path in files:
        inner = path.removesuffix(".py")
        while inner:
            inner, _, name = inner.rpartition("/")
            found.add((inner, name))
    return found
