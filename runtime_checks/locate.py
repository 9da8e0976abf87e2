"""What ``--runtime`` names: a file or a module, and a name in it. Nothing is imported here."""

from __future__ import annotations

import difflib
import keyword
import os
from dataclasses import dataclass

__all__ = ["DEFAULT_ATTRIBUTE", "LocateError", "Located", "locate"]

DEFAULT_ATTRIBUTE = "build"
_SUFFIX = ".py"
_NOTEBOOK = ".ipynb"
_SUFFIXES = (_SUFFIX, _NOTEBOOK)
_INIT = "__init__.py"


class LocateError(ValueError):
    """The target cannot be what the user meant; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Located:
    """A target of ``--runtime``.

    ``file`` is a real path, None for a module that is in no folder of the project;
    ``module`` is the dotted name to import it by, None for a file outside every package;
    ``attribute`` is a name, dotted where it is inside something else;
    ``search_path`` are the folders to put on ``sys.path``, the first one first.
    """

    file: str | None
    module: str | None
    attribute: str
    search_path: tuple[str, ...]


def locate(text: str, cwd: str, root: str | None = None) -> Located:
    """Finds ``model.py:build``, ``train.ipynb:net`` or ``package.module:Class.method``; without a name it is ``build``.

    A relative file is looked for in `cwd`; a module in `cwd`, its ``src``, the project root `root` and its ``src``.
    A file in a package (a folder with ``__init__.py``) is imported from the folder above the topmost package, any
    other from its own folder, as Python does for a script.
    Raises `LocateError`.
    """
    place, attribute = _split(text)
    folders = [os.path.realpath(folder) for folder in (cwd, root) if folder is not None]
    if _is_path(place, cwd):
        file = _existing(place, cwd)
        module, folder = _module_of(file)
        return Located(file, module, attribute, _unique([folder, *folders]))
    if not all(_is_name(part) for part in place.split(".")):
        if os.path.isdir(os.path.join(cwd, place)):
            raise LocateError(_is_a_folder(place, cwd))
        raise LocateError(f"{place!r} is neither a {_SUFFIX} file nor the dotted name of a module")
    for folder in (inner for outer in folders for inner in (outer, os.path.join(outer, "src"))):
        found = _module_file(folder, place)
        if found is not None:
            return Located(found, place, attribute, _unique([folder, *folders]))
    return Located(None, place, attribute, _unique(folders))


def _split(text: str) -> tuple[str, str]:
    """The place and the attribute; the colon of a drive, or any other in a path, splits nothing."""
    place, colon, attribute = text.rpartition(":")
    if not colon or "/" in attribute or "\\" in attribute or attribute.endswith(_SUFFIXES):
        place, attribute = text, DEFAULT_ATTRIBUTE
    if not place:
        raise LocateError(f"{text!r} names no file and no module; write for example model.py:{DEFAULT_ATTRIBUTE}")
    if not attribute:
        raise LocateError(f"no name follows the colon of {text!r}; write for example {place}:{DEFAULT_ATTRIBUTE}")
    if not all(_is_name(part) for part in attribute.split(".")):
        called = attribute.partition("(")[0]
        bare = called != attribute and all(_is_name(part) for part in called.split("."))
        hint = f"; write {place}:{called}, it is called for you" if bare else ""
        raise LocateError(f"{attribute!r}, after the colon of {text!r}, is not a name{hint}")
    return place, attribute


def _is_name(part: str) -> bool:
    return part.isidentifier() and not keyword.iskeyword(part)


def _is_path(place: str, cwd: str) -> bool:
    return "/" in place or "\\" in place or place.endswith(_SUFFIXES) or os.path.isfile(os.path.join(cwd, place))


def _existing(place: str, cwd: str) -> str:
    path = os.path.join(cwd, place)
    if os.path.isdir(path):
        raise LocateError(_is_a_folder(place, cwd))
    if not os.path.exists(path):
        raise LocateError(f"there is no file {place}{_nearest(path, place)}")
    if not place.endswith(_SUFFIXES):
        raise LocateError(f"{place} is neither a {_SUFFIX} file nor a notebook")
    return os.path.realpath(path)


def _is_a_folder(place: str, cwd: str) -> str:
    package = os.path.isfile(os.path.join(cwd, place, _INIT))
    example = "/".join([place.rstrip("/\\"), _INIT if package else "model.py"])
    return f"{place} is a folder; name a file in it, for example {example}:{DEFAULT_ATTRIBUTE}"


def _nearest(path: str, place: str) -> str:
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        return f": there is no folder {os.path.dirname(place)}"
    names = [entry for entry in sorted(os.listdir(folder)) if entry.endswith(_SUFFIXES)]
    near = difflib.get_close_matches(name, names, n=1) or ([name + _SUFFIX] if name + _SUFFIX in names else [])
    return f"; did you mean {place[: len(place) - len(name)]}{near[0]}?" if near else ""


def _module_of(file: str) -> tuple[str | None, str]:
    """The dotted name of a file in a package, else None; and the folder that it is imported from."""
    folder, name = os.path.split(file)
    if name.endswith(_NOTEBOOK):
        return None, folder
    parts = [] if name == _INIT else [name.removesuffix(_SUFFIX)]
    inside = False
    while os.path.isfile(os.path.join(folder, _INIT)) and _is_name(os.path.basename(folder)):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
        inside = True
    dotted = inside and not any("." in part for part in parts)
    return (".".join(parts) if dotted else None), folder


def _module_file(folder: str, module: str) -> str | None:
    stem = os.path.join(folder, *module.split("."))
    for path in (os.path.join(stem, _INIT), stem + _SUFFIX):
        if os.path.isfile(path):
            return os.path.realpath(path)
    return None


def _unique(folders: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folders))
