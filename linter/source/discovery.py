"""Which files are linted: paths given, folders walked, what is left out.

Strings and `os.scandir` rather than `Path` objects: a walk of 40,000 files spends its time in the file system.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .gitignore import IgnoreFile

DEFAULT_EXCLUDES = frozenset(
    {
        ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d",
        ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "__pypackages__", "build", "dist",
        "node_modules", "site-packages", "venv",
    }
)  # fmt: skip
"""Names of folders that a walk does not enter; so are ``*.egg-info`` and virtual environments of any name."""

SUFFIXES = (".py", ".pyi")
LINTED = (*SUFFIXES, ".ipynb")
_IGNORE_FILE_LIMIT = 1_000_000
"""Bytes; a larger `.gitignore` is not read."""
_MARKERS = ("pyproject.toml", "setup.cfg", "setup.py", ".git")


class PathError(Exception):
    """A path on the command line cannot be used; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What the given paths came to.

    ``files`` are absolute paths with the given folder that they were found under, empty where they were given;
    ``unreadable`` are folders that could not be listed, each with the reason;
    ``empty`` are given folders in which no file was found, ``outside`` links that lead out of the tree around them.
    """

    files: tuple[tuple[str, str], ...]
    unreadable: tuple[tuple[str, str], ...] = ()
    empty: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


def display_path(path: str, working_folder: str) -> str:
    """The path with ``/``, relative to the working folder if it lies below it."""
    below = working_folder.rstrip(os.sep) + os.sep
    if path.startswith(below):
        path = path[len(below) :]
    return path if os.sep == "/" else path.replace(os.sep, "/")


def discover(
    paths: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    base: str | None = None,
    force_exclude: bool = False,
) -> Discovery:
    """Find the files to lint, without duplicates and in order of their paths.

    Args:
        paths: files and folders; folders are walked, files are taken as they are.
        exclude: globs, besides the default ones and `.gitignore`.
        base: the folder that globs with a slash are relative to; the working folder if None.
        force_exclude: leave out files that are given but excluded.

    Raises:
        PathError: if a path does not exist.
    """
    base = os.getcwd() if base is None else base
    excluded = matcher(exclude, base)
    missing = [f"{path}: {reason}" for path in paths if (reason := _why_missing(path))]
    if missing:
        raise PathError("\n".join(missing))
    found: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    outside: set[str] = set()
    empty = []
    for given in sorted(paths, key=os.path.isfile):
        path = _absolute(given)
        if not os.path.isdir(path):
            if force_exclude and _is_left_out(path, base, excluded):
                continue
            found.setdefault(path, "")
        elif not (force_exclude and _is_left_out(path, base, excluded)):
            files = list(_walk(path, excluded, unreadable.setdefault, LINTED, outside.add))
            for file in files:
                found.setdefault(file, path)
            if not files:
                empty.append(given)
    outside -= found.keys()
    return Discovery(
        tuple(sorted(found.items())), tuple(sorted(unreadable.items())), tuple(empty), tuple(sorted(outside))
    )


def _why_missing(path: str) -> str:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return "there is no such file or folder"
    except OSError as error:
        return error.strerror or str(error)
    return ""


def left_out(path: str, exclude: Sequence[str], base: str) -> bool:
    """Whether an absolute path is excluded, by a glob, by default or by `.gitignore`."""
    return _is_left_out(path, base, matcher(exclude, base))


def package_parent(folder: str) -> str | None:
    """The folder that holds the topmost package around `folder`; None where that is no package."""
    top = folder
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    return None if top == folder else top


def marked_root(folder: str, markers: Sequence[str] = _MARKERS) -> str | None:
    """The nearest folder upward with one of the markers, if there is one.

    The home folder and the file system's root are never taken for a project: a .git there is about other things.
    """
    home = os.path.expanduser("~")
    while (parent := os.path.dirname(folder)) != folder and folder != home:
        if any(os.path.lexists(os.path.join(folder, marker)) for marker in markers):
            return folder
        folder = parent
    return None


def trees_around(roots: Iterable[str]) -> tuple[str, ...]:
    """The folders out of which no link may lead what is written: these, and the project of the working folder."""
    here = os.getcwd()
    own = marked_root(here) or ("" if here in {os.path.expanduser("~"), os.path.abspath(os.sep)} else here)
    return tuple(dict.fromkeys(filter(None, (*roots, own))))


def leads_out(path: str, trees: Iterable[str]) -> bool:
    """Whether a path below one of these folders goes through a link to what does not lie below that folder."""
    real = os.path.realpath(path)
    folder, name = os.path.split(os.path.abspath(path))
    places = {os.path.join(folder, name), os.path.join(os.path.realpath(folder), name)}
    for tree in trees:
        top = os.path.realpath(tree)
        if not _is_below(real, top) and any(_is_below(place, base) for place in places for base in (tree, top)):
            return True
    return False


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def repository_around(folder: str) -> str:
    """The git checkout around a folder, or its project, or else the folder itself."""
    return marked_root(folder, (".git",)) or marked_root(folder) or folder


def is_foreign(path: str) -> bool:
    """Whether a file is a link that leads out of its repository, or its project where it is in none."""
    return os.path.islink(path) and leads_out(path, [repository_around(os.path.dirname(os.path.abspath(path)))])


def project_files(root: Path, *, below: bool = True) -> list[str]:
    """Every Python file of a project, as sorted absolute paths; what walks leave out is left out.

    Notebooks are not among them: nothing imports one.

    Args:
        root: the folder of the project.
        below: whether its folders are looked into.
    """
    top = os.path.abspath(root)
    excluded = None if below else os.path.isdir
    return sorted(_walk(top, excluded, lambda folder, reason: None, SUFFIXES))


def matcher(globs: Sequence[str], base: str) -> Callable[[str], bool] | None:
    """A test for absolute paths: a glob without a slash matches a name, one with a slash a path from `base`.

    A star also matches slashes, as in ruff and fnmatch; a backslash is a slash, so that one configuration serves all.
    """
    if not globs:
        return None
    names, below = [], []
    for glob in globs:
        plain = glob.replace("\\", "/").removeprefix("./").rstrip("/")
        if "/" in plain:
            below.append(translate(plain))
        else:
            names.append(translate(plain))
    name_matches = re.compile("|".join(names) or r"(?!)").match
    path_matches = re.compile("|".join(below) or r"(?!)").match

    def matches(path: str) -> bool:
        return bool(
            name_matches(os.path.basename(path))
            or (below and any(path_matches(name.replace("\\", "/")) for name in (display_path(path, base), path)))
        )

    return matches


def _absolute(path: str) -> str:
    # abspath alone would read `link/../x.py` as `x.py`, which is another file.
    if ".." in path.split(os.sep):
        head, tail = os.path.split(path)
        path = os.path.realpath(path) if tail in {"", ".", ".."} else os.path.join(os.path.realpath(head), tail)
    return os.path.abspath(path)


def _is_left_out(path: str, base: str, excluded: Callable[[str], bool] | None) -> bool:
    """Whether a walk from `base` would not have come to `path`."""
    below = base.rstrip(os.sep) + os.sep
    parts = path[len(below) :].split(os.sep) if path.startswith(below) else [os.path.basename(path)]
    folder = path[: len(path) - len(os.sep.join(parts))].rstrip(os.sep) or os.sep
    ignores = _ignores_above(os.path.join(folder, parts[0]))
    for depth, part in enumerate(parts):
        is_folder = depth < len(parts) - 1 or os.path.isdir(path)
        folder = os.path.join(folder, part)
        if is_folder and _is_default_exclude(part):
            return True
        if (excluded is not None and excluded(folder)) or _is_ignored(folder, is_folder, ignores):
            return True
        if is_folder:
            ignores = _with_ignore_file(folder, ignores)
    return False


def is_excluded(path: str, excluded: Callable[[str], bool] | None, base: str) -> bool:
    """Whether globs of the folder `base` exclude a path below it, or a folder around that."""
    while excluded is not None and len(path) > len(base.rstrip(os.sep)):
        if excluded(path):
            return True
        path = os.path.dirname(path)
    return False


def _is_default_exclude(name: str) -> bool:
    return name in DEFAULT_EXCLUDES or name.endswith(".egg-info")


# A `.gitignore` counts for paths below its folder; the prefix is that folder with a slash.
_Ignores = tuple[tuple[str, "IgnoreFile"], ...]


def _walk(
    top: str,
    excluded: Callable[[str], bool] | None,
    unreadable: Callable[[str, str], object],
    suffixes: tuple[str, ...],
    outside: Callable[[str], object] = lambda path: None,
) -> Iterator[str]:
    """Absolute paths of files with one of `suffixes`.

    Links to folders are not followed, so that there are no loops, nor are links out of the tree: what lies there is not
    the project's.
    """
    folders: list[tuple[str, _Ignores]] = [(top, _ignores_above(top))]
    if _is_ignored(top, True, folders[0][1]):
        folders = [(top, ())]
    while folders:
        folder, ignores = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError as error:
            unreadable(folder, error.strerror or str(error))
            continue
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and folder != top:
            continue
        if ".gitignore" in names:
            ignores = _with_ignore_file(folder, ignores)
        for entry in entries:
            name = entry.name
            is_wanted = name.endswith(suffixes)
            if entry.is_dir(follow_symlinks=False):
                if _is_default_exclude(name):
                    continue
                is_folder = True
            elif is_wanted and not (entry.is_symlink() and os.path.isdir(entry.path)):
                is_folder = False
            else:
                continue
            path = entry.path
            if excluded is not None and excluded(path):
                continue
            if ignores and _is_ignored(path, is_folder, ignores):
                continue
            if is_folder:
                folders.append((path, ignores))
            elif entry.is_symlink() and not any(map(partial(_is_below, os.path.realpath(path)), _realms(top))):
                outside(path)
            else:
                yield path


def _realms(top: str) -> tuple[str, str]:
    """Where the links below a folder may lead."""
    return os.path.realpath(top), os.path.realpath(repository_around(top))


def _ignores_above(path: str) -> _Ignores:
    """The ignore files of the folders above `path`, up to its repository or, without one, its project."""
    if os.path.lexists(os.path.join(path, ".git")):
        return ()
    folder = os.path.dirname(path)
    top = marked_root(folder, (".git",)) or marked_root(folder)
    if top is None:
        return ()
    chain = [folder]
    while folder != top:
        folder = os.path.dirname(folder)
        chain.append(folder)
    ignores: _Ignores = ()
    for folder in reversed(chain):
        ignores = _with_ignore_file(folder, ignores)
    return ignores


def _with_ignore_file(folder: str, ignores: _Ignores) -> _Ignores:
    from .gitignore import IgnoreFile
    from .reading import read_bytes

    path = os.path.join(folder, ".gitignore")
    try:
        # Git does not follow a link here, and nor must the text of a file elsewhere decide what is linted.
        data = b"" if os.path.islink(path) else read_bytes(path, _IGNORE_FILE_LIMIT)
    except OSError:
        return ignores
    return (*ignores, (folder.rstrip(os.sep) + os.sep, IgnoreFile(data)))


def _is_ignored(path: str, is_folder: bool, ignores: _Ignores) -> bool:
    """As git decides: the innermost ignore file that speaks of the path."""
    for prefix, ignore in reversed(ignores):
        below = os.fsencode(path[len(prefix) :].replace(os.sep, "/"))
        if (verdict := ignore.verdict(below, is_folder)) is not None:
            return verdict
    return False
