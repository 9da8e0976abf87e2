"""From bytes to text, once: encodings, line ends, and what is to be said of a file that fails.

Nothing here raises for what a file holds: what cannot be read comes back as a `Finding`.
"""

from __future__ import annotations

import os
import re
import stat
from io import BytesIO
from pathlib import Path
from tokenize import detect_encoding

from ..finding import UNPARSABLE_FILE, Finding
from .parsing import NO_MEMORY, SourceFile, digest_of

SIZE_LIMIT = 20 * 1024 * 1024
"""Bytes; a larger file is data, and is reported instead of read."""

NOTEBOOK = ".ipynb"
"""How the name of a notebook ends."""

_NOTEBOOK_SIZE_LIMIT = 256 * 1024 * 1024
"""Bytes; most of a large notebook are its outputs."""

_BLOCK = 1 << 16
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_BOM = b"\xef\xbb\xbf"
_HEAD = 8192
"""Bytes that are searched for an encoding declaration, which has to stand in the first two lines."""
_KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a FIFO"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
)


def read_bytes(path: Path | str, limit: int | None = None) -> bytes:
    """Read a regular file without ever waiting for one that is not.

    By default the limit is that of the kind of file.

    Raises:
        OSError: with the reason as its text, also for FIFOs, devices, folders and files above `limit` bytes.
    """
    if limit is None:
        limit = _NOTEBOOK_SIZE_LIMIT if str(path).endswith(NOTEBOOK) else SIZE_LIMIT
    try:
        _require_file(os.stat(path), limit)
        # Between the stat and the open the file may have become a FIFO, whose open would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            status = os.fstat(descriptor)
            _require_file(status, limit)
            parts = [os.read(descriptor, min(status.st_size, limit) + 1)]
            # A short read is not the end: of large files the system may give less than was asked for.
            while parts[-1] and sum(map(len, parts)) <= limit:
                parts.append(os.read(descriptor, _BLOCK))
        finally:
            os.close(descriptor)
    except _NotReadableError:
        raise
    except FileNotFoundError as error:
        if os.path.islink(path):
            raise _NotReadableError(f"it is a link to a missing file, {os.readlink(path)}") from error
        raise _NotReadableError("there is no such file") from error
    except (OSError, ValueError) as error:
        raise _NotReadableError(getattr(error, "strerror", None) or str(error)) from error
    data = b"".join(parts) if any(parts[1:]) else parts[0]
    if len(data) > limit:
        raise _NotReadableError(f"it is larger than {limit // 1024 // 1024} MB")
    return data


class _NotReadableError(OSError):
    """The text is the reason."""


def _require_file(status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        reasons = (reason for is_kind, reason in _KINDS if is_kind(status.st_mode))
        raise _NotReadableError(next(reasons, "it is no regular file"))
    if status.st_size > limit:
        raise _NotReadableError(f"it is larger than {limit // 1024 // 1024} MB")


def read_source(path: Path, display: str, data: bytes | None = None) -> SourceFile | Finding:
    """Read and decode a file as Python would, or say in a TF900 why not.

    Args:
        path: the file.
        display: how reports name it.
        data: its bytes, where they do not come from the disk.
    """
    try:
        return _read(path, display, read_bytes(path) if data is None else data)
    except OSError as error:
        return UNPARSABLE_FILE.at(display, f"this file cannot be read: {error}")
    except MemoryError:
        return UNPARSABLE_FILE.at(display, NO_MEMORY)


def _read(path: Path, display: str, data: bytes) -> SourceFile | Finding:
    if str(path).endswith(NOTEBOOK):
        from .notebooks import read_notebook

        return read_notebook(path, display, data)
    if b"\0" in data:
        return _null_byte(display, data)
    digest = digest_of(data)
    text = _decode(display, data)
    if isinstance(text, Finding):
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return SourceFile(path, display, text, digest)


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a file that `read_source` reads, with its own line ends, and the encoding that gives its bytes back.

    Raises:
        ValueError: if none does.
    """
    head = data[:_HEAD].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        encoding = detect_encoding(BytesIO(head).readline)[0]
    except SyntaxError:  # a first line longer than that, cut within a character
        encoding = "utf-8"
    text = data.decode(encoding)
    if text.encode(encoding) != data:
        raise ValueError(f"its text cannot be written back in {encoding} as it is")
    return text, encoding


def split_lines(text: str) -> list[str]:
    """Lines with their ends; an empty one at the end follows a last line end."""
    lines = []
    start = 0
    while match := _LINE.match(text, start):
        lines.append(match.group())
        start = match.end()
        if not match.group().endswith(("\r", "\n")):
            break
    return lines


def _null_byte(display: str, data: bytes) -> Finding:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return UNPARSABLE_FILE.at(display, "this file is UTF-16, which Python does not read: save it as UTF-8")
    line, column = _position(data, data.index(b"\0"))
    return UNPARSABLE_FILE.at(display, "this line holds a NUL byte, so the file is not Python source", line, column)


def _position(data: bytes, offset: int) -> tuple[int, int]:
    """1-based line and column of a byte."""
    before = data[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line_start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[line_start:].decode("utf-8", "replace")) + 1


def _decode(display: str, data: bytes) -> str | Finding:
    body = data[len(_BOM) :] if data.startswith(_BOM) else data
    encoding = "utf-8"
    head = data[:_HEAD]
    if b"coding" in head or body is not data:
        try:
            encoding = detect_encoding(BytesIO(head.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).readline)[0]
        except SyntaxError as error:
            # Without a cookie the first two lines may simply be undecodable: the decoding below then names the line.
            if body is not data:
                reason = "its byte order mark says UTF-8 and its first lines declare another encoding"
                return UNPARSABLE_FILE.at(display, f"this file cannot be decoded: {reason}")
            if "invalid or missing encoding" not in str(error):
                return UNPARSABLE_FILE.at(display, f"this file cannot be decoded: {error}")
        if encoding == "utf-8-sig":
            encoding = "utf-8"
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        line, column = _position(body, error.start)
        if encoding == "utf-8":
            reason = "this line is not UTF-8: declare the file's encoding in its first line, as in `# coding: latin-1`"
        else:
            reason = f"this line is not {encoding}, which the file declares as its encoding"
        return UNPARSABLE_FILE.at(display, reason, line, column)
    except (LookupError, ValueError) as error:
        return UNPARSABLE_FILE.at(display, f"this file cannot be decoded: {error}")
