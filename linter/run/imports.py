"""Which files of a project run when one of them is imported, read from their text alone."""

from __future__ import annotations

import ast
import os
import posixpath
from collections.abc import Container, Iterator
from pathlib import Path

from ..analysis.modules import imported_file, modules_of
from ..analysis.summary import imported
from ..source.parsing import SourceFile, parse_source
from ..source.reading import read_source
from .projects import project_of


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


def _imports(path: str) -> list[str]:
    source = read_source(Path(path), path)
    tree = parse_source(source) if isinstance(source, SourceFile) else None
    return imported(tree) if isinstance(tree, ast.Module) else []


def _packages(key: str, keys: Container[str]) -> Iterator[str]:
    """The packages that a module is in: importing it runs them first."""
    folder = posixpath.dirname(key)
    while folder and (package := f"{folder}/__init__.py") in keys:
        yield package
        folder = posixpath.dirname(folder)
