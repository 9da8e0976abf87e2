"""Processes that the model started and that neither group, session nor environment ties to the worker (Linux).

A daemon that forks twice, with a session and an environment of its own, would outlive the run unseen.
"""

from __future__ import annotations

import contextlib
import os
import signal

__all__ = ["adopt", "end"]

_ADOPT = 36
"""PR_SET_CHILD_SUBREAPER of <sys/prctl.h>."""
_ROUNDS = 100


def adopt() -> None:
    """Become the parent of every descendant that loses its own: the host ends what stands below this process."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)


def end() -> None:
    """Kill the children that the host could not find once this process is gone; theirs become ours, and come next."""
    for _ in range(_ROUNDS):
        found = _strays()
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if not found:
            return


def _strays() -> list[int]:
    """The living children in other sessions whose environment is not a copy of ours."""
    token = "MIGRATE_LINT_RUN={}".format(os.environ.get("MIGRATE_LINT_RUN")).encode()
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if not name.isdigit():
            continue
        # The name of a process, in brackets, may hold anything; then come state, parent, group, session.
        fields = _read(name, "stat").rpartition(b")")[2].split()
        is_child = len(fields) > 3 and fields[0] != b"Z" and int(fields[1]) == os.getpid()
        if is_child and int(fields[3]) != os.getsid(0) and token not in _read(name, "environ").split(b"\0"):
            found.append(int(name))
    return found


def _read(pid: str, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
