"""Files that are replaced whole: whoever is killed on the way leaves the earlier content or the new one.

The new content is written in a folder beside the file. A writer that is killed leaves that folder, of which git takes
nothing at any moment, since what is named ``.git`` is never added; and the next process that replaces a file beside it,
or might have, removes it. That its writer is dead says a lock, which ends with the process that holds it, also in
another container; where files cannot be locked, as on Windows, the folder stays.
A file without a name (``O_TMPFILE``) would leave nothing, but cannot be given the name of another one.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from functools import cache

_ANY_WRITER = 0o222
_PREFIX = ".migrate-lint-"
_UNTRACKED, _LOCK, _PART = ".git", "lock", "part"
_PATIENCE = 5.0
"""Seconds that another writer in a folder is waited for."""


class ChangedError(OSError):
    """A file is not what it was when it was read; it is left as it is."""


def replace_file(path: str, data: bytes, expected: bytes | None = None) -> None:
    """Write a file through a temporary one, which takes over its permissions and, where it may, its owner.

    A link is followed: the file that it leads to is replaced.

    Args:
        path: the file.
        data: its new content.
        expected: what it holds now; looked at under a lock that two writers of this kind never hold at once, where
            files can be locked.

    Raises:
        ChangedError: if it holds anything else than what is expected.
        TimeoutError: if another process keeps that lock.
        OSError: if the file is read-only, for the superuser too, or if it cannot be written.
    """
    path = os.path.realpath(path)
    status = os.stat(path) if os.path.lexists(path) else None
    if status is not None and not (stat.S_ISREG(status.st_mode) and status.st_mode & _ANY_WRITER):
        kind = "this file is read-only" if stat.S_ISREG(status.st_mode) else "this is no regular file"
        raise PermissionError(0, kind)
    if status is not None and not os.access(path, os.W_OK):
        raise PermissionError(0, "this file may not be written")
    folder = os.path.dirname(path)
    clear(folder)
    with _part(folder) as part:
        with open(part, "xb") as output:
            output.write(data)
            output.flush()
            _take_over(part, status)
            os.fsync(output.fileno())
        with contextlib.nullcontext() if expected is None else _alone(folder):
            if expected is not None:
                _require_content(path, expected)
            os.replace(part, path)
    _sync_folder(folder)


def write_file(path: str, data: bytes) -> None:
    """Replace a file, or write to what is none, such as a FIFO or a device, and stays what it is.

    Raises:
        OSError: as `replace_file` does.
    """
    if not path or (os.path.lexists(path) and not os.path.isfile(path)):
        with open(path, "wb") as output:
            output.write(data)
    else:
        replace_file(path, data)


@contextlib.contextmanager
def _part(folder: str) -> Iterator[str]:
    """The name of a temporary file, in a folder that is there for as long as the file is needed."""
    place, lock = _locked_place(folder)
    try:
        yield os.path.join(place, _UNTRACKED, _PART)
    finally:
        os.close(lock)
        _remove(place)


def _locked_place(folder: str) -> tuple[str, int]:
    """A new folder and the descriptor that holds it: before it is held, another process may take it for left."""
    import tempfile

    while True:
        place = tempfile.mkdtemp(prefix=_PREFIX, dir=folder)
        try:
            os.mkdir(os.path.join(place, _UNTRACKED), 0o700)
            lock = os.open(os.path.join(place, _UNTRACKED, _LOCK), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            _remove(place)
            if isinstance(error, FileNotFoundError):
                continue
            raise
        with contextlib.suppress(OSError):
            _hold(lock)
        if os.fstat(lock).st_nlink:
            return place, lock
        os.close(lock)


@cache  # a process that writes a thousand files looks beside the first of a folder only
def clear(folder: str) -> None:
    """Remove what dead writers left in a folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in [one for one in entries if one.name.startswith(_PREFIX) and one.is_dir(follow_symlinks=False)]:
            with contextlib.suppress(OSError):
                _remove_abandoned(entry.path)


def _remove_abandoned(place: str) -> None:
    """Remove a writer's folder, or raise OSError if the writer lives or if that cannot be told."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        lock = os.open(os.path.join(place, _UNTRACKED, _LOCK), flags)
    except FileNotFoundError:  # killed before all else, or after; or a living one makes its lock now, which then stays
        _remove_empty(place)
        return
    try:
        _hold(lock, wait=False)
        _remove(place)
    finally:
        os.close(lock)


def _hold(descriptor: int, *, wait: bool = True) -> None:
    """Lock a file until its descriptor is closed or this process ends; OSError if that cannot be."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError as error:
        raise OSError("files cannot be locked here") from error
    flock(descriptor, LOCK_EX if wait else LOCK_EX | LOCK_NB)


def _require_content(path: str, expected: bytes) -> None:
    with open(path, "rb") as file:
        if file.read(len(expected) + 1) != expected:
            raise ChangedError(0, "it has changed since it was read")


@contextlib.contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Keep other writers of this kind out of a folder, where its system can; TimeoutError if one stays in it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        yield
        return
    try:
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                _hold(descriptor, wait=False)
            except BlockingIOError as error:
                if time.monotonic() > end:
                    raise TimeoutError(0, "another process keeps its folder locked") from error
                time.sleep(0.01)
                continue
            except OSError:  # a file system without locks
                pass
            break
        yield
    finally:
        os.close(descriptor)


def _remove(place: str) -> None:
    inner = os.path.join(place, _UNTRACKED)
    for name in (_PART, _LOCK):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(inner, name))
    _remove_empty(place)


def _remove_empty(place: str) -> None:
    for folder in (os.path.join(place, _UNTRACKED), place):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _take_over(part: str, status: os.stat_result | None) -> None:
    if status is None:
        os.chmod(part, 0o666 & ~_umask())
        return
    if hasattr(os, "chown"):
        # Only the superuser gives files away; a change of owner clears the mode's special bits, so it comes first.
        with contextlib.suppress(OSError):
            os.chown(part, status.st_uid, status.st_gid)
    os.chmod(part, stat.S_IMODE(status.st_mode))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: str) -> None:
    """Let the new name outlast a power cut, where folders can be synced."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
