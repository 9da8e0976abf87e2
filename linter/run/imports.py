"""Which files of a project run when one of them is imported, read from their text alone."""

from __future__ import annotations

import ast
import os
import posixpath
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from ..analysis.modules import imported_file, modules_of
from ..analysis.summary import imported
from ..source.parsing import SourceFile, parse_source
from ..source.reading import read_source
from .projects import project_of

_IMPORT = re.compile(rb"^(?:import|from)\b(?:[^\n(\\]++|\\\r?\n)*+(?:\([^)]*+)?", re.M)
_WORD = re.compile(rb"[\w\x80-\xff]++")


def root_around(file: str) -> str:
    """The folder of the project that an absolute path belongs to: marked, or above its package, or its own folder."""
    return project_of(os.path.dirname(file)).root


def reached_from(file: str) -> list[str]:
    """The files of its project that an absolute path imports, anywhere in the code and through each other.

    Sorted absolute paths, without `file` itself; the ``__init__.py`` of every package on the way is among them.
    A file that cannot be read or parsed leads nowhere.
    """
    project = project_of(os.path.dirname(file))
    root = project.root
    paths = {os.path.relpath(path, root).replace(os.sep, "/"): path for path in project.files()}
    start = os.path.relpath(file, root).replace(os.sep, "/")
    paths[start] = file
    modules = modules_of(paths)
    reached = {start}
    queue = [start]
    while queue:
        importer = queue.pop()
        found = {imported_file(importer, name, modules, paths) for name in _imports(paths[importer])}
        for key in sorted({*filter(None, found), *_packages(importer, paths)} - reached):
            reached.add(key)
            queue.append(key)
    return sorted(paths[key] for key in reached - {start})


class Importers:
    """Which files of a project cannot be imported where one of them cannot.

    Only what every import runs is followed: the import statements of a module itself, under no condition and in no
    `try`, and the packages around what they name. A file is parsed when a line of it seems to import one that fails.

    Args:
        texts: the bytes of the files, by their paths relative to the project's root, with ``/``.
    """

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._modules = modules_of(texts)
        self._unread = set(texts)
        self._importers: dict[str, set[str]] = {}
        self._naming: dict[bytes, list[str]] = {}
        for key, text in texts.items():
            for word in {word for line in _IMPORT.findall(text) for word in _WORD.findall(line)}:
                self._naming.setdefault(word, []).append(key)

    def of(self, key: str) -> set[str]:
        """The files, without the one itself."""
        found = {key}
        queue = [key]
        while queue:
            one = queue.pop()
            self._read_what_may_import(one)
            new = self._importers.get(one, set()) - found
            found |= new
            queue += new
        return found - {key}

    def _read_what_may_import(self, key: str) -> None:
        folder, name = posixpath.split(key)
        if name == "__init__.py":
            name = posixpath.basename(folder)
            inner = [other for other in self._unread if other.startswith(f"{folder}/")] if folder else []
        else:
            inner = []
        for other in {*inner, *self._naming.get(name.removesuffix(".py").encode(), ())} & self._unread:
            self._unread.discard(other)
            for found in self._always_imported(other):
                self._importers.setdefault(found, set()).add(other)

    def _always_imported(self, key: str) -> Iterator[str]:
        yield from _packages(key, self._texts)
        tree = _parsed(key, self._texts[key])
        if tree is None:
            return
        always: list[ast.stmt] = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
        for name in imported(ast.Module(always, [])):
            if (found := imported_file(key, name, self._modules, self._texts)) is not None:
                yield found
                yield from _packages(found, self._texts)


def _imports(path: str) -> list[str]:
    tree = _parsed(path)
    return [] if tree is None else imported(tree)


def _parsed(path: str, data: bytes | None = None) -> ast.Module | None:
    source = read_source(Path(path), path, data)
    tree = parse_source(source) if isinstance(source, SourceFile) else None
    return tree if isinstance(tree, ast.Module) else None


def _packages(key: str, keys: Container[str]) -> Iterator[str]:
    """The packages that a module is in: importing it runs them first."""
    folder = posixpath.dirname(key)
    while folder and (package := f"{folder}/__init__.py") in keys:
        yield package
        folder = posixpath.dirname(folder)
