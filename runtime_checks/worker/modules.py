"""Imports a file of the user's under a name that takes nobody else's place.

Python's own import goes by name, so a target called ``types.py`` would be the standard library's module, or hide it.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import keyword
import linecache
import os
import re
import sys
from types import ModuleType
from typing import Any, Iterator, Sequence

__all__ = ["PREFIX", "import_file", "is_standard", "prefer"]

PREFIX = "_migrate_lint_target_"
"""Begins the name of a file that cannot have its own."""

_INIT = "__init__.py"
_FRAMEWORKS = frozenset({"keras", "numpy", "tensorflow", "tf_keras"})


def prefer(folders: Sequence[str]) -> None:
    """Puts `folders` before everything else on ``sys.path``, the first one first."""
    sys.path[:] = [*folders, *(entry for entry in sys.path if entry not in folders)]


class _TextLoader(importlib.machinery.SourceFileLoader):
    """Loads a module whose text is not that of its file."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)  # what AutoGraph reads

    def get_data(self, path: str) -> bytes:
        """The text, and no bytecode."""
        if path != self.path:
            raise OSError(path)
        return self._text.encode()

    def path_stats(self, path: str) -> Any:
        """Refuse, so that no bytecode is looked for."""
        raise OSError(path)


def import_file(file: str, module: str | None = None, text: str | None = None) -> ModuleType:
    """Imports a ``.py`` file, or a `text` in its place, once however often; raises what the code raises.

    In a package it is imported as part of it, after the package, so that relative imports work. `module` is its dotted
    name where that is known; without it, folders with ``__init__.py`` are packages.
    Its ``__name__`` is the usual one, unless the standard library or another loaded file has that name; then, as for a
    file name that is no identifier, it is a name of our own.
    """
    path = os.path.realpath(file)
    if text is not None:
        name = _own_name(_parts(path)[-1], path)
        return _begun(importlib.util.spec_from_file_location(name, path, loader=_TextLoader(name, path, text)))
    return _load(module.split(".") if module else _parts(path), path)


def _parts(file: str) -> list[str]:
    folder, name = os.path.split(file)
    if name == _INIT:
        return _packages(folder) or [os.path.basename(folder)]
    return [*_packages(folder), os.path.splitext(name)[0]]


def _packages(folder: str) -> list[str]:
    parts: list[str] = []
    while os.path.isfile(os.path.join(folder, _INIT)) and _is_name(os.path.basename(folder)):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return parts


def _is_name(part: str) -> bool:
    return part.isidentifier() and not keyword.iskeyword(part)


def _load(parts: Sequence[str], path: str) -> ModuleType:
    """Loads the module at `path`, a file or the folder of a package, after the packages around it."""
    file = os.path.join(path, _INIT) if os.path.isdir(path) else path
    folder = os.path.dirname(file) if os.path.basename(file) == _INIT else None
    place = folder or file
    if len(parts) == 1:
        parent, name = None, _own_name(parts[0], place)
    else:
        parent = _load(parts[:-1], os.path.dirname(place))
        name = parent.__name__ + "." + re.sub(r"\W", "_", parts[-1])
    known = sys.modules.get(name)
    if known is not None and place in _places(known):
        return known
    module = _execute(name, file, folder)
    if parent is not None:
        setattr(parent, name.rpartition(".")[2], module)
    return module


def _execute(name: str, file: str, folder: str | None) -> ModuleType:
    locations = None if folder is None else [folder]
    if os.path.isfile(file):
        spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=locations)
    else:
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = locations
    if spec is None:
        raise ImportError(f"{file} is not a Python file")
    return _begun(spec)


def _begun(spec: Any) -> ModuleType:
    name = spec.name
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        if spec.loader is not None:
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return sys.modules.get(name, module)


def _own_name(stem: str, place: str) -> str:
    if _is_reserved(stem):
        _import_first(stem, os.path.dirname(place))
    elif re.sub(r"\W", "_", stem) == stem and _is_free(stem, place):
        return stem
    name = PREFIX + re.sub(r"\W", "_", stem)
    while not _is_free(name, place):
        name += "_"
    return name


def _is_free(name: str, place: str) -> bool:
    known = sys.modules.get(name)
    return known is None or place in _places(known)


def _places(module: ModuleType) -> Iterator[str]:
    """The real paths of a module's file and, for a package, of its folders."""
    names = vars(module)
    for path in [names.get("__file__"), *(names.get("__path__") or ())]:
        if isinstance(path, str):
            yield os.path.realpath(path)


def _is_reserved(name: str) -> bool:
    # Python's own tests are a package named test too: there a user's folder of that name goes first, as it does in
    # every program that is started beside it.
    return name in _FRAMEWORKS or (name != "test" and is_standard(name))


def is_standard(name: str) -> bool:
    """Whether a module of that name belongs to Python."""
    names = getattr(sys, "stdlib_module_names", None)  # Python >= 3.10
    if names is not None:
        return name in names
    library = os.path.dirname(os.__file__)
    spec = importlib.machinery.PathFinder.find_spec(name, [library, os.path.join(library, "lib-dynload")])
    return name in sys.builtin_module_names or (spec is not None and spec.origin is not None)


def _import_first(name: str, folder: str) -> None:
    """Imports the module that the user's file of this name, in `folder`, would hide from later imports."""
    saved = list(sys.path)
    sys.path[:] = [entry for entry in saved if os.path.realpath(entry) != folder]
    try:
        importlib.import_module(name)
    except ImportError:
        return
    finally:
        sys.path[:] = saved
