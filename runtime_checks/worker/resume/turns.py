"""Two processes of one training that save into one folder, and take their steps in turns.

While one has its turn the other waits behind a step, so that what changes in the folder is the work of the one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from typing import Any, Dict, NoReturn, Tuple

from .trace import Trace

__all__ = ["RESTARTED", "TOGETHER", "TWO_WRITERS", "Stamps", "Turns", "stamps"]

TWO_WRITERS, RESTARTED = "two-writers", "restarted"
TOGETHER = (TWO_WRITERS, RESTARTED)
"""When the second process begins: as the first does, or when that has saved."""

Stamps = Dict[str, Tuple[int, int, int]]
"""By its path, which file it is, when it was written, in nanoseconds, and its size in bytes."""


def stamps(folder: str) -> Stamps:
    """The files in a folder, and in those within."""
    found: Stamps = {}
    for inside, _, names in os.walk(folder) if folder else ():
        for name in names:
            path = os.path.join(inside, name)
            with contextlib.suppress(OSError):
                status = os.stat(path)
                found[path] = status.st_ino, status.st_mtime_ns, status.st_size
    return found


class Turns:
    """One of the two processes; both are killed behind the step at which each has saved beside the other.

    Args:
        trace: gets what the other one did to files of this one.
        folder: both save into it.
        other: leads to the other process; it is closed where that has ended.
        second: whether this is the process that begins later.
        how: `TWO_WRITERS` or `RESTARTED`.
        at: the number of steps that the first process makes at least.
    """

    def __init__(self, trace: Trace, folder: str, other: socket.socket, second: bool, how: str, at: int) -> None:
        self._trace = trace
        self._folder = folder
        self._other = other.makefile("rwb")
        self._second = second
        self._at = at
        self._shared = second
        """Whether both have begun."""
        self._alone = False
        self._awaited = how == RESTARTED
        """Whether the first process is still to save before the second begins."""
        self._done = 0
        self._saves = 0
        self._saved = False
        """Whether this process has saved beside the other."""
        self._theirs: dict[str, Any] = {"done": 0, "saved": False}
        """What the other one said when it handed over."""
        self._mine: set[str] = set()
        """Files that this process was the last to write."""
        self._files = stamps(folder)

    def begin(self) -> bool:
        """Wait until the second process is to begin; whether it is."""
        self._receive()
        return not self._alone

    def behind(self, done: int, saves: int) -> None:
        """A step is done; the other process has its turn, or both are ended.

        Args:
            done: the number of steps of this process.
            saves: the number of saves that this process made, as far as they are seen.
        """
        self._done = done
        self._look(saves)
        if not self._shared:
            if self._awaited and not self._saved:
                return
            self._shared, self._saved = True, False
        elif self._is_due:
            self._end()
        if not self._alone:
            self._hand_over()

    @property
    def _is_due(self) -> bool:
        """Where both are there, the second process decides, which is then the last one that saved."""
        if self._alone:
            return self._saved and (self._second or self._done >= self._at)
        return self._second and self._saved and self._theirs["saved"] and self._theirs["done"] >= self._at

    def _look(self, saves: int) -> None:
        """What this process wrote in its turn."""
        before, self._files = self._files, stamps(self._folder)
        written = {path for path, stamp in self._files.items() if before.get(path) != stamp}
        self._mine = (self._mine & self._files.keys()) | written
        # A loop may save in a way of its own: then each file that it writes may be a save.
        self._saved = self._saved or (saves > self._saves if saves else bool(written))
        self._saves = saves

    def _hand_over(self) -> None:
        self._send({"done": self._done, "saved": self._saved})
        self._receive()

    def _send(self, message: Any) -> None:
        with contextlib.suppress(OSError):  # it has ended
            self._other.write(json.dumps(message).encode() + b"\n")
            self._other.flush()

    def _receive(self) -> None:
        """Wait for the turn, and see what the other one did to the files of this one."""
        line = b""
        with contextlib.suppress(OSError):
            line = self._other.readline()
        before, self._files = self._files, stamps(self._folder)
        overwritten = [path for path in self._mine if path in self._files and self._files[path] != before[path]]
        deleted = [path for path in self._mine if path not in self._files]
        self._mine.difference_update(overwritten, deleted)
        if overwritten or deleted:
            told = {
                name: sorted(os.path.relpath(path, self._folder) for path in paths)
                for name, paths in (("overwritten", overwritten), ("deleted", deleted))
            }
            self._trace.add("taken", **told)
        if not line:
            self._alone, self._saved = True, False
            return
        self._theirs = json.loads(line)
        if self._theirs.get("end"):
            self._kill()

    def _end(self) -> NoReturn:
        self._send({"end": True})
        self._kill()

    def _kill(self) -> NoReturn:
        self._trace.add("interrupted", how="", step=self._done)
        os.kill(os.getpid(), signal.SIGKILL)
        raise SystemExit  # not reached
