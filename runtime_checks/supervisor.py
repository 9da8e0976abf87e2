"""The process between this program and a model's: ``supervisor.py CHANNEL LIMIT COUNT FOLDER ... COMMAND ...``.

It is the parent of the command, and on Linux of each descendant that loses its own, so that none can get away: not by
a session, an environment or a second fork of its own, nor by outliving its parent.
All of them are ended when the command has ended, when the host says so, and when the host is gone: however a process
ends, its end of the channel is closed. In the last case the folders are removed too.

The channel is a socket. The host writes bytes: `BEAT` while it lives, `END`, the number of a signal for the command,
and `LEAVE`, when it has seen to the folders itself.
Back come lines: ``errno N`` where the command cannot be run, and ``exit CODE PEAK`` when nothing of it is left.
A host that says nothing for LIMIT seconds, 0 for ever, counts as gone for the command, but not for the folders.
This file is also a module: the host looks at processes and removes folders in the same way.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

__all__ = ["BEAT", "END", "LEAVE", "content", "descendants", "processes", "remove"]

BEAT, LEAVE, END = 0, 254, 255
PROC = "/proc"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
"""Of <sys/prctl.h>."""
_LOOK = 1.0
"""Seconds between two looks at who the parent is: a fork of the host may hold the channel open."""
_LEAVE = 60.0
"""Seconds spent on killing what cannot be killed, as it waits for a device."""
_BAD_COMMAND = 127


def processes() -> Iterator[tuple[int, int, int, int]]:
    """Number, parent, group and session of every process that has not ended; Linux only."""
    try:
        names = os.listdir(PROC)
    except OSError:
        return
    for pid in map(int, filter(str.isdecimal, names)):
        # The name, in brackets, may hold anything; then come state, parent, group, session.
        fields = content(pid, "stat").rpartition(b")")[2].split()
        if len(fields) > 3 and fields[0] not in (b"Z", b"X"):
            yield pid, int(fields[1]), int(fields[2]), int(fields[3])


def content(pid: int, name: str) -> bytes:
    """A file of a process in /proc, empty where it cannot be read."""
    try:
        with open(f"{PROC}/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def descendants(found: set[int], parents: dict[int, int]) -> set[int]:
    """Processes, and all that stand below them."""
    while more := {pid for pid, parent in parents.items() if parent in found and pid not in found}:
        found = found | more
    return found


def remove(folder: str) -> None:
    """Remove a folder with all that is in it, as far as that is possible: read-only folders, and however deep they go.

    What lies deeper is moved up first: no path gets longer than the system allows, and nothing here is recursive.
    """
    moved = 0
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        names: list[str] = []
        with suppress(OSError):
            os.chmod(place, 0o700)
            names = os.listdir(place)
        for path in (os.path.join(place, name) for name in names):
            with suppress(OSError):
                if os.path.islink(path) or not os.path.isdir(path):
                    _unlink(path)
                    continue
                moved += 1
                there = path if place == folder else os.path.join(folder, f"~{os.getpid()}-{moved}")
                waiting.append(_moved(path, there))
        with suppress(OSError):
            if place != folder:
                os.rmdir(place)
    with suppress(OSError):
        os.rmdir(folder)


def _moved(path: str, there: str) -> str:
    os.chmod(path, 0o700)  # a folder that may not be written to may not be moved
    os.rename(path, there)
    return there


def _unlink(path: str) -> None:
    if os.name == "nt":  # a file that is read-only there cannot be removed
        os.chmod(path, 0o600)
    os.unlink(path)


class _Supervisor:
    def __init__(self, channel: int, limit: float | None) -> None:
        self.channel = channel
        self.limit = limit
        self.host = os.getppid()
        self.command = 0
        self.code: int | None = None
        self.peak = 0
        self.told = False
        """Whether a signal has told this process to end."""
        self.deserted = False
        self.dismissed = False

    def run(self, command: list[str]) -> bool:
        """Run a command to its end, and tell the host; whether that was gone before it had seen to the folders."""
        control = _control()
        control(_PR_SET_CHILD_SUBREAPER, 1)
        own = os.getpid()
        woken, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self._tell)
        self.command = os.fork()
        if not self.command:
            self._become(command, own, control)
        _let_go_of_streams()
        self._watch(woken)
        self._end_all()
        self._say(b"exit %s %d\n" % (b"-" if self.code is None else b"%d" % self.code, self.peak))
        while not (self.deserted or self.dismissed):
            self._listen(woken)
        return not self.dismissed

    def _become(self, command: list[str], parent: int, control: Any) -> None:
        try:
            os.setsid()
            control(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(_BAD_COMMAND)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, which exec would pass on
                signal.signal(number, signal.SIG_DFL)
            os.execvp(command[0], command)
        except OSError as error:
            self._say(b"errno %d\n" % (error.errno or 0))
        finally:
            os._exit(_BAD_COMMAND)

    def _tell(self, *_: object) -> None:
        self.told = True

    def _watch(self, woken: int) -> None:
        """Return when the command has ended or is to end."""
        heard = time.monotonic()
        with suppress(ChildProcessError):
            while not (self._reap() or self.told or self.deserted):
                said = self._listen(woken)
                if END in said or self.dismissed:
                    return
                if said:
                    heard = time.monotonic()
                elif self.limit is not None and time.monotonic() - heard > self.limit:
                    return
                for number in set(said) - {BEAT}:
                    with suppress(OSError):
                        os.kill(self.command, number)

    def _listen(self, woken: int) -> bytes:
        """What the host has said; waits for a while."""
        ready, _, _ = select.select([self.channel, woken], [], [], _LOOK)
        self.deserted = self.deserted or os.getppid() != self.host
        if woken in ready:
            os.read(woken, 4096)
        if self.channel not in ready:
            return b""
        said = b""
        with suppress(OSError):
            said = os.read(self.channel, 4096)
        self.deserted = self.deserted or not said
        self.dismissed = self.dismissed or LEAVE in said
        return said

    def _reap(self) -> bool:
        """Take the status of every child that has ended; whether the command has.

        Raises:
            ChildProcessError: where there is no child any more.
        """
        while True:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                return self.code is not None
            if pid == self.command:
                self.code = os.waitstatus_to_exitcode(status)
                self.peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    def _end_all(self) -> None:
        """Kill all that stands below this process, until it has no child."""
        deadline = time.monotonic() + _LEAVE
        pause = 0.001
        while time.monotonic() < deadline:
            parents = {pid: parent for pid, parent, _, _ in processes()}
            with suppress(OSError):
                if not parents:
                    os.killpg(self.command, signal.SIGKILL)
            for pid in descendants({os.getpid()}, parents) - {os.getpid()}:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            try:
                self._reap()
            except ChildProcessError:
                return
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def _say(self, line: bytes) -> None:
        with suppress(OSError):
            os.write(self.channel, line)


def _control() -> Any:
    """The system call ``prctl``; a function that does nothing where there is none."""
    try:
        import ctypes

        return ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return lambda *_: None


def _let_go_of_streams() -> None:
    """Hold none of the command's open: whoever reads them waits for their end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)


def main(words: list[str]) -> None:
    """Supervise the command that the words describe."""
    channel, limit, count = os.dup(int(words[0])), float(words[1]), int(words[2])  # a copy is not inherited
    os.close(int(words[0]))
    if _Supervisor(channel, limit or None).run(words[3 + count :]):
        for folder in words[3 : 3 + count]:
            remove(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
