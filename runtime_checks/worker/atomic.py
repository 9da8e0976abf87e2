"""Files that are written whole or not at all, read without waiting for what is no file, and sealed."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import stat
from collections.abc import Iterator
from typing import IO, Any

__all__ = ["open_regular", "read_regular", "replace_json", "replaced", "sealed"]


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file to read.

    Raises:
        OSError: if it cannot be read, or is a FIFO, a device or a folder; the text is the reason.
    """
    # A FIFO would wait for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        file = open(os.open(path, flags), "rb")  # noqa: SIM115  (the caller closes it)
    except OSError as error:
        raise OSError(error.strerror or str(error)) from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is no regular file")
    return file


def read_regular(path: str | os.PathLike[str], limit: int, cut: bool = False) -> bytes:
    """The content of a regular file; of one above `limit` bytes its beginning, if it may be `cut`.

    Raises:
        OSError: as `open_regular` does, and if it is larger.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit and not cut:
            raise OSError(f"it is larger than {limit >> 20} MiB")
        return file.read(min(size, limit))


@contextlib.contextmanager
def replaced(path: str) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of the one of that name when it is complete."""
    with open(path + "~", "wb") as file:
        yield file
    os.replace(path + "~", path)


def replace_json(path: str, content: Any, indent: int | None = None) -> None:
    """Write a file of JSON data, whole or not at all."""
    with replaced(path) as file:
        file.write(json.dumps(content, indent=indent, default=str).encode())


def sealed(key: bytes, content: bytes) -> bytes:
    """What only somebody who has the key can say of a content: a line without its end."""
    return hmac.new(key, content, "sha256").hexdigest().encode()
