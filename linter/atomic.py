"""Files that are replaced whole: whoever is killed on the way leaves the earlier content or the new one."""

from __future__ import annotations

import contextlib
import os
import stat

_ANY_WRITER = 0o222


def replace_file(path: str, data: bytes) -> None:
    """Write a file through a temporary one beside it, which takes over its permissions and, where it may, its owner.

    A link is followed: the file that it leads to is replaced.

    Raises:
        OSError: if the file is read-only, for the superuser too, or if it cannot be written.
    """
    import tempfile

    path = os.path.realpath(path)
    status = os.stat(path) if os.path.lexists(path) else None
    if status is not None and not (stat.S_ISREG(status.st_mode) and status.st_mode & _ANY_WRITER):
        kind = "this file is read-only" if stat.S_ISREG(status.st_mode) else "this is no regular file"
        raise PermissionError(0, kind)
    if status is not None and not os.access(path, os.W_OK):
        raise PermissionError(0, "this file may not be written")
    folder = os.path.dirname(path)
    # The name ends like nothing that is linted: after a kill it stays.
    descriptor, part = tempfile.mkstemp(".part", ".migrate-lint-", folder)
    try:
        with open(descriptor, "wb") as output:
            output.write(data)
            output.flush()
            _take_over(part, status)
            os.fsync(output.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
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
