"""Commands of which nothing is left, whatever becomes of them and of this process: see `supervisor`."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from . import supervisor

__all__ = ["LaunchError", "Supervised", "Tail", "scratch"]

_PROGRAM = supervisor.__file__
_HAS_SESSIONS = os.name == "posix"
_PREFIX = "migrate-lint-run-"
_LEAVE = 90.0
"""Seconds given to a supervisor to end what it started; longer than it takes itself, unless it was ended."""
_DRAIN = 10.0
"""Seconds given to what was written before the end; all but processes that got away hold no pipe then."""


class LaunchError(Exception):
    """A command cannot be run; the text is the reason."""


class Supervised:
    """A command and all that it starts, in a session of its own.

    Where the system has no sessions only the command itself is ended, and it outlives this process.

    Args:
        command: the program and its words.
        environment: by default this process's.
        streams: ``stdin``, ``stdout`` and ``stderr``, as `subprocess.Popen` has them.
        limit: seconds after which the command is ended if `beat` is not called; None for no limit.
        folders: are removed if this process ends before `close`.
        working_folder: of the command, by default this process's.

    Raises:
        LaunchError: if it cannot be run; where there is a supervisor, `poll` may raise it later.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        streams: Mapping[str, Any],
        limit: float | None = None,
        folders: Sequence[str] = (),
        working_folder: str | None = None,
    ) -> None:
        self.code: int | None = None
        """As `subprocess` gives it; None before the end, and where it is not known."""
        self.peak = 0
        """Largest resident set of the command in bytes, 0 where the system does not say."""
        self._ended = False
        self._error = 0
        self._heard = b""
        self._channel: socket.socket | None = None
        other: socket.socket | None = None
        if _HAS_SESSIONS and sys.executable:
            self._channel, other = socket.socketpair()
            words = [str(other.fileno()), str(limit or 0.0), str(len(folders)), *folders, *command]
            command = [sys.executable, "-I", "-S", _PROGRAM, *words]
        try:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                command,
                env=environment,
                cwd=working_folder,
                start_new_session=True,
                pass_fds=() if other is None else (other.fileno(),),
                **streams,
            )
        except (OSError, ValueError) as error:
            if self._channel is not None:
                self._channel.close()
            raise LaunchError(_reason(error)) from error
        finally:
            if other is not None:
                other.close()
        if self._channel is not None:
            self._channel.setblocking(False)

    @property
    def supervisor(self) -> int:
        """The process above the command, which is not to be killed as long as something is below it."""
        return self.process.pid

    def poll(self) -> bool:
        """Whether the command has ended, and nothing of it is left.

        Raises:
            LaunchError: when it has ended, if it could not be run.
        """
        if self._channel is None:
            self.code = self.process.poll()
            return self.code is not None
        while not self._ended:
            try:
                said = self._channel.recv(4096)
            except BlockingIOError:
                return False
            except OSError:
                said = b""
            self._heard += said
            *lines, self._heard = self._heard.split(b"\n")
            self._ended = not said
            for line in lines:
                self._take(line.split())
        if self._error:
            raise LaunchError(os.strerror(self._error))
        return True

    def _take(self, words: list[bytes]) -> None:
        if words[0] == b"errno":
            self._error = int(words[1])
            return
        self._ended = True
        self.code = None if words[1] == b"-" else int(words[1])
        self.peak = int(words[2])

    def wait(self, limit: float) -> bool:
        """Whether the command ends within so many seconds.

        Raises:
            LaunchError: if it could not be run.
        """
        deadline = time.monotonic() + limit
        while not self.poll():
            rest = deadline - time.monotonic()
            if rest <= 0:
                return False
            time.sleep(min(rest, 0.01))
        return True

    def beat(self) -> None:
        """Say that this process lives."""
        self.tell(supervisor.BEAT)

    def tell(self, byte: int) -> None:
        """Say something to the supervisor; the number of a signal goes on to the command."""
        if self._channel is not None:
            with suppress(OSError):  # it has ended, or has not listened for a while
                self._channel.send(bytes([byte]))

    def end(self) -> None:
        """Kill the command and all that it started, and wait until they are gone."""
        if self._channel is None:
            self.process.kill()
            self.process.wait()
            return
        self.tell(supervisor.END)
        with suppress(LaunchError):
            self.wait(_LEAVE)

    def close(self) -> None:
        """Let the supervisor go, which removes no folder then."""
        if self._channel is not None:
            self.tell(supervisor.LEAVE)
            self._channel.close()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_LEAVE)
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


class Tail:
    """Reads a pipe on a thread of its own and keeps its end, so that the writer never blocks.

    Args:
        pipe: a descriptor, which is not closed.
        size: bytes that are kept, at most.
    """

    def __init__(self, pipe: int, size: int) -> None:
        self._pipe = pipe
        self._size = size
        self._kept = bytearray()
        self._cut = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, name="migrate-lint-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError):
            for chunk in self._chunks():
                self._kept += chunk
                self._cut = self._cut or len(self._kept) > self._size
                del self._kept[: -self._size]

    def _chunks(self) -> Iterator[bytes]:
        if sys.platform == "win32":  # no selector takes a pipe there
            while chunk := os.read(self._pipe, 65536):
                yield chunk
            return
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while not self._stop.is_set():
                if selector.select(0.1):
                    if not (chunk := os.read(self._pipe, 65536)):
                        return
                    yield chunk

    def stop(self) -> bool:
        """Wait for the end of the pipe, which a process that got away may hold open; whether reading ended."""
        self._thread.join(_DRAIN)
        self._stop.set()
        self._thread.join(_DRAIN)
        return not self._thread.is_alive()

    def text(self) -> str:
        """What was kept, from the start of a line."""
        kept = bytes(self._kept)
        if self._cut:
            _, newline, rest = kept.partition(b"\n")
            kept = rest if newline else kept
        return kept.decode("utf-8", "replace")


# -- folders -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A new temporary folder, which is gone afterwards; folders that killed processes have left go first.

    A process holds a lock on its folder as long as it lives.
    """
    _clear()
    while True:
        folder = tempfile.mkdtemp(prefix=_PREFIX)
        lock = _lock(folder, wait=True)
        if os.path.isdir(folder):
            break
        _unlock(lock)  # another process cleared it before it was locked
    try:
        yield folder
    finally:
        supervisor.remove(folder)
        _unlock(lock)


def _clear() -> None:
    """Remove the folders of this user that no process holds."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _clear_one(entry)


def _clear_one(entry: os.DirEntry[str]) -> None:
    lock = None
    if hasattr(os, "geteuid") and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
        lock = _lock(entry.path, wait=False)
    if lock is not None:
        supervisor.remove(entry.path)
        _unlock(lock)


def _lock(folder: str, wait: bool) -> int | None:
    """A descriptor that holds the folder; None where another process does, or the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(lock)
        return None
    return lock


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)
