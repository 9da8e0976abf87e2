"""Where in the user's files the program is, in the lines that the user wrote.

AutoGraph runs code that it generated; every line of that code is mapped back through the source map that AutoGraph
makes when it generates it.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import Any, Iterator, NamedTuple, Sequence

from .errors import text_of
from .patching import wrapped

__all__ = ["HOST", "Frame", "UserCode", "place_of"]

_GENERATED = "__autograph_generated_file"
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_MENTION = re.compile(r'File "([^"]+)", line (\d+)(?:, in (\w+))?')
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOST = os.path.join(_HERE, "in_process.py")
"""Where a program is recorded in the process of the user's: who calls it there is no part of the program."""


class Frame(NamedTuple):
    """One level of the user's stack: a real path, a line of that file and the function's name."""

    path: str
    line: int
    function: str


def place_of(frames: Sequence[Frame]) -> tuple[str, int] | None:
    """File and line of the innermost of the user's frames."""
    return (frames[0].path, frames[0].line) if frames else None


class UserCode:
    """Tells the user's files from everybody else's."""

    def __init__(self, roots: Sequence[str], files: Sequence[str] = ()) -> None:
        self._roots = tuple(os.path.join(os.path.realpath(root), "") for root in roots)
        self._files = frozenset(os.path.realpath(file) for file in files)
        self._paths: dict[str, str | None] = {}
        self._foreign: set[str] = set()
        self._origins: dict[str, dict[int, tuple[str, int]]] = {}

    def path(self, filename: str) -> str | None:
        """The real path of a user's file, None for any other; `filename` is as in ``co_filename``."""
        try:
            return self._paths[filename]
        except KeyError:
            found = self._paths[filename] = self._decide(filename)
            if found is None and not self.is_generated(filename):
                self._foreign.add(filename)
            return found

    @property
    def files(self) -> list[str]:
        """The real paths of the user's files that were met so far."""
        return sorted({path for path in self._paths.values() if path is not None})

    def _decide(self, filename: str) -> str | None:
        if filename.startswith("<") or self.is_generated(filename):
            return None
        path = os.path.realpath(filename)
        if path in self._files:
            return path
        if any(part in path for part in _INSTALLED) or path.startswith(os.path.join(_HERE, "")):
            return None
        if path.startswith((os.path.join(sys.prefix, ""), os.path.dirname(os.__file__))):
            return None
        return path if path.startswith(self._roots) else None

    @staticmethod
    def is_generated(filename: str) -> bool:
        """Whether AutoGraph wrote the file."""
        return _GENERATED in filename and os.path.basename(filename).startswith(_GENERATED)

    def origin(self, filename: str, line: int) -> tuple[str, int] | None:
        """The user's path and line that a line comes from; None where it is not the user's."""
        if self.is_generated(filename):
            found = self._origins.get(filename, {}).get(line)
            if found is None:
                return None
            path = self.path(found[0])
            return None if path is None else (path, found[1])
        path = self.path(filename)
        return None if path is None else (path, line)

    def stack(self, frame: Any = None) -> tuple[Frame, ...]:
        """The user's frames, innermost first, from `frame` or from the caller."""
        found: list[Frame] = []
        frame = sys._getframe(1) if frame is None else frame
        while frame is not None and frame.f_code.co_filename != HOST:
            code = frame.f_code
            if code.co_filename not in self._foreign:
                self._append(found, code, frame.f_lineno)
            frame = frame.f_back
        return tuple(found)

    def _append(self, found: list[Frame], code: Any, line: int) -> None:
        place = self.origin(code.co_filename, line)
        if place is not None and not (found and found[-1][:2] == place):
            name = code.co_name
            found.append(Frame(place[0], place[1], name[4:] if name.startswith("tf__") else name))

    def of_error(self, error: BaseException | None) -> tuple[Frame, ...]:
        """The user's frames that an exception came through, innermost first.

        AutoGraph raises errors anew without the frames of the generated code, and keeps those in
        ``ag_error_metadata``; errors of a running graph only mention files in their text.
        """
        best: tuple[Frame, ...] = ()
        seen = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            for frames in (self._raised(error), self._translated(error), self._mentioned(error)):
                if len(frames) > len(best):
                    best = frames
            error = error.__cause__ or error.__context__
        return best

    def _raised(self, error: BaseException) -> tuple[Frame, ...]:
        found: list[Frame] = []
        step = error.__traceback__
        while step is not None:
            self._append(found, step.tb_frame.f_code, step.tb_lineno)
            step = step.tb_next
        if isinstance(error, SyntaxError) and error.filename:
            place = self.origin(error.filename, error.lineno or 1)
            found += [] if place is None else [Frame(place[0], place[1], "<module>")]
        return tuple(reversed(found))

    def _translated(self, error: BaseException) -> tuple[Frame, ...]:
        metadata = getattr(error, "ag_error_metadata", None)
        found: list[Frame] = []
        for step in getattr(metadata, "translated_stack", ()):
            place = self.origin(step.filename, step.lineno)
            if place is not None:
                found.append(Frame(place[0], place[1], step.function_name))
        return tuple(found)

    def _mentioned(self, error: BaseException) -> tuple[Frame, ...]:
        found: list[Frame] = []
        for filename, line, function in _MENTION.findall(text_of(error)):
            place = self.origin(filename, int(line))
            if place is not None:
                found.append(Frame(place[0], place[1], function or "?"))
        return tuple(reversed(found))

    @contextlib.contextmanager
    def following_autograph(self) -> Iterator[None]:
        """Keep the source map of everything that AutoGraph generates in the body."""
        try:
            from tensorflow.python.autograph.pyct import origin_info
        except ImportError:
            yield
            return

        def keeping(original: Any) -> Any:
            def create_source_map(nodes: Any, code: Any, filepath: str) -> Any:
                source_map = original(nodes, code, filepath)
                lines = self._origins.setdefault(filepath, {})
                for location, origin in source_map.items():
                    lines[location.lineno] = (origin.loc.filename, origin.loc.lineno)
                return source_map

            return create_source_map

        with wrapped(origin_info, "create_source_map", keeping):
            yield
