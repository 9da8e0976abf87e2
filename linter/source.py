"""From bytes to text to tree, once: encodings, line ends, and what is to be said of a file that fails.

Nothing here raises for what a file holds: what cannot be read or parsed comes back as a `Finding`.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from .finding import Finding
from .tool_rules import Python2Source, UnparsableFile

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from .notebooks import Notebook

__all__ = ["NOTEBOOK", "SIZE_LIMIT", "SourceFile", "parse_source", "read_bytes", "read_source"]

SIZE_LIMIT = 50 * 1024 * 1024
"""Bytes; a larger file is data, and is reported instead of read."""

NOTEBOOK = ".ipynb"
"""How the name of a notebook ends."""

_NOTEBOOK_SIZE_LIMIT = 256 * 1024 * 1024
"""Bytes; most of a large notebook are its outputs."""

_DEPTH = 5000
"""The recursion limit that files are parsed and walked with, so that a chain of 2,000 calls is code like any other.

Python's parser allows three times as many levels, which take less than 2 MB of the stack.
"""

_BLOCK = 1 << 16
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


@dataclass(frozen=True)
class SourceFile:
    """One file's text: decoded, without a byte order mark, every line end a single newline.

    ``display`` is the path as reports show it; ``digest`` is blake2b (16 bytes, hex) of the bytes as they lie on disk.
    The text of a ``notebook`` is that of its code cells as one module, in which magics are replaced by Python.
    """

    path: Path
    display: str
    text: str
    digest: str
    notebook: Notebook | None = None

    @property
    def lines(self) -> list[str]:
        """The lines as Python counts them: form feeds and Unicode separators end none."""
        return self.text.split("\n")

    @property
    def texts(self) -> Mapping[int | None, Sequence[str]]:
        """The lines as their author wrote them, by the cell of a finding: None outside notebooks."""
        if self.notebook is None:
            return {None: self.lines}
        return {cell: lines for cell, lines in self.notebook.texts.items()}  # noqa: C416


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
    if data is None:
        try:
            data = read_bytes(path)
        except OSError as error:
            return UnparsableFile.at(display, f"this file cannot be read: {error}")
    if str(path).endswith(NOTEBOOK):
        from .notebooks import read_notebook

        return read_notebook(path, display, data)
    if b"\0" in data:
        return _null_byte(display, data)
    digest = blake2b(data, digest_size=16).hexdigest()
    text = _decode(display, data)
    if isinstance(text, Finding):
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return SourceFile(path, display, text, digest)


def _null_byte(display: str, data: bytes) -> Finding:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return UnparsableFile.at(display, "this file is UTF-16, which Python does not read: save it as UTF-8")
    line, column = _position(data, data.index(b"\0"))
    return UnparsableFile.at(display, "this line holds a NUL byte, so the file is not Python source", line, column)


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
        from io import BytesIO
        from tokenize import detect_encoding

        try:
            encoding = detect_encoding(BytesIO(head.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).readline)[0]
        except SyntaxError as error:
            # Without a cookie the first two lines may simply be undecodable: the decoding below then names the line.
            if body is not data:
                reason = "its byte order mark says UTF-8 and its first lines declare another encoding"
                return UnparsableFile.at(display, f"this file cannot be decoded: {reason}")
            if "invalid or missing encoding" not in str(error):
                return UnparsableFile.at(display, f"this file cannot be decoded: {error}")
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
        return UnparsableFile.at(display, reason, line, column)
    except (LookupError, ValueError) as error:
        return UnparsableFile.at(display, f"this file cannot be decoded: {error}")


def parse_source(source: SourceFile) -> ast.Module | Finding:
    """Parse the text, or say why not: TF902 for Python 2, TF900 for everything else."""
    import ast
    import sys
    import warnings

    text = source.text
    if sys.getrecursionlimit() < _DEPTH and sys.platform != "win32":  # there a thread's stack is 1 MB
        sys.setrecursionlimit(_DEPTH)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return _refused(source, error)
    except (RecursionError, MemoryError):
        return UnparsableFile.at(source.display, "this file cannot be parsed: an expression is nested too deeply")
    except (ValueError, OverflowError, UnicodeError) as error:
        return UnparsableFile.at(source.display, f"this file cannot be parsed: {error}")
    # Both are Python 2 that a Python 3 accepts with another meaning: a shift of print, a tuple of exceptions (3.14).
    if _prints_to_file(text) or _catches_pair(text):
        from .syntax import python2

        if (evidence := python2(text)) is not None:
            return _python2(source, evidence.line, evidence.column, evidence.what)
    return tree


def _prints_to_file(text: str) -> bool:
    if ">>" not in text or "print" not in text:
        return False
    import re

    return re.search(r"\bprint[ \t]*>>", text) is not None


def _catches_pair(text: str) -> bool:
    import sys

    if sys.version_info < (3, 14):
        return False
    import re

    return re.search(r"^[ \t]*except\s[^\n:#]*,", text, re.M) is not None


def _python2(source: SourceFile, line: int, column: int, what: str) -> Finding:
    return Python2Source.at(
        source.display,
        f"this is Python 2 ({what}) and was not linted: convert it first, with 2to3 (up to Python 3.12) or futurize",
        line,
        column,
    )


def _refused(source: SourceFile, error: SyntaxError) -> Finding:
    import sys

    from .syntax import newer, python2

    lines = source.lines
    line = min(max(error.lineno or 1, 1), len(lines))
    column = min(max(error.offset or 1, 1), len(lines[line - 1]) + 1)
    reason = error.msg or "invalid syntax"
    old = python2(source.text)
    # After a string or bracket that is never closed, text is read as code: only the line of the error itself counts.
    open_ended = "unterminated" in reason or "never closed" in reason
    if old is not None and (old.line <= line <= old.end_line or not open_ended):
        return _python2(source, old.line, old.column, old.what)
    for feature in newer(source.text):
        if feature.version > sys.version_info[:2] and feature.line <= line <= feature.end_line:
            needed, running = (".".join(map(str, version)) for version in (feature.version, sys.version_info[:2]))
            return UnparsableFile.at(
                source.display,
                f"this file needs Python {needed} ({feature.what}) and migrate-lint runs on Python {running}: "
                f"run it on Python {needed} or newer",
                feature.line,
                feature.column,
            )
    return UnparsableFile.at(source.display, f"this file cannot be parsed: {reason}", line, column)
