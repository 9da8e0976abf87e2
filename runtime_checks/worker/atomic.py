"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import IO, Any

__all__ = ["replace_json", "replaced"]


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
