"""One worker process: start it, watch its phases, and leave nothing of it behind.

The worker tells how far it is through a file that it replaces atomically.
Of that file only ``phase`` (text or null), ``began`` (``time.time()``) and ``done`` are read here.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["JOB", "RESULTS", "STACKS", "TOKEN", "WHERE", "Outcome", "kill_group", "start"]

JOB = "job.json"
"""File in the worker's folder: what it is to do."""
RESULTS = "results.json"
"""File in the worker's folder: how far it is, and what it has found."""
STACKS = "stacks.txt"
"""File in the worker's folder: faulthandler's dumps, which nothing that the model prints can push out."""
WHERE = getattr(signal, "SIGRTMAX", 0) - 3
"""Signal on which a worker dumps its main thread's stack, one that no program uses; negative where there is none."""
TOKEN = "MIGRATE_LINT_RUN"
"""Environment variable whose value marks the worker and all that it starts."""

Ended = Literal["done", "exited", "signal", "timeout", "memory", "not started"]

_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONFAULTHANDLER": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
}
_KEPT_OUTPUT = 16 * 1024
_MOST_STACKS = 1 << 20
_WORDS_SHOWN = 300
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.1
_MEMORY_PAUSE = 0.2
_DUMP_PAUSE = 0.3
"""Seconds that a worker has to say where it is, before it is stopped."""
_GRACE = 2.0
"""Seconds that a worker has to end by itself after it said that it is done."""
_LEAVE = 5.0
"""Seconds spent on killing what the worker started."""
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a worker ended, and what it left.

    ``results`` is the last readable content of its results file, whatever the end was.
    """

    ended: Ended
    status: int | None
    """Exit status, or the number of the signal for ``signal``; None where there is none, or this side ended it."""
    phase: str | None
    """The phase that was running; None before the first, between two, and after the last."""
    seconds: float
    """From the start to the end of the process."""
    peak_memory: int
    """Largest resident set of the worker in bytes, 0 where the system does not say."""
    results: dict[str, Any] | None
    output: str
    """The last 16 KiB of stdout and stderr, without TensorFlow's start-up lines."""
    cause: str
    """Why there is no complete result, in plain words; empty for ``done``."""
    crash_frame: tuple[str, int] | None = None
    """File and line of the innermost frame of the user in a faulthandler dump."""

    @property
    def reason(self) -> str:
        """The cause, and the last line that was written before the worker ended by itself: a reason may stand there."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        if not self.cause or not lines or self.ended not in ("exited", "signal"):
            return self.cause
        return f"{self.cause}; it last wrote: {lines[-1][:_WORDS_SHOWN]}"


def start(
    python: str,
    script: str | Path,
    job: dict[str, Any],
    *,
    timeout: float,
    memory_limit: int | None,
    environment: Mapping[str, str | None],
    on_phase: Callable[[str], None] | None = None,
) -> Outcome:
    """Run `script` with `python` until it ends or breaks a limit; its one argument is the path of the job file.

    `timeout` is in seconds and holds for each phase, and for the time before the first.
    `memory_limit` is in bytes and holds for the worker and its descendants together (Linux).
    `environment` changes this process's own: None takes a variable away.
    `on_phase` hears the name of each phase seen to run; one shorter than the pause between two looks may be missed.
    Whatever happens, also an exception or Ctrl-C, the worker's session, every process that carries its token
    (Linux) and its folder are gone afterwards.
    """
    token = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="migrate-lint-", ignore_cleanup_errors=True) as folder:
        scratch = os.path.join(folder, "tmp")
        os.mkdir(scratch)
        path = os.path.join(folder, JOB)
        Path(path).write_text(json.dumps(job), "utf-8")
        worker = _Worker(
            [python, os.fspath(script), path],
            _environment(environment, token, scratch),
            token,
            _Progress(Path(folder, RESULTS), on_phase),
        )
        return worker.run(timeout, memory_limit)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads its own group, and the group with it where the system has groups."""
    with suppress(OSError):
        if hasattr(os, "killpg"):  # not Popen.kill: it would take the exit status before wait4 can
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _environment(changes: Mapping[str, str | None], token: str, scratch: str) -> dict[str, str]:
    own = {TOKEN: token, "TMPDIR": scratch, "TEMP": scratch, "TMP": scratch}
    merged: dict[str, str | None] = {**os.environ, **_ENVIRONMENT, **changes, **own}
    return {name: value for name, value in merged.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _Stop:
    """Why this side ends the worker."""

    ended: Ended
    phase: str | None
    cause: str


class _Worker:
    def __init__(self, command: list[str], environment: dict[str, str], token: str, progress: _Progress) -> None:
        self.command = command
        self.environment = environment
        self.token = token
        self.progress = progress
        self.process: subprocess.Popen[bytes] | None = None
        self.tail: _Tail | None = None
        self.ended = False
        self.code: int | None = None
        self.peak = 0

    def run(self, timeout: float, memory_limit: int | None) -> Outcome:
        began = time.monotonic()
        try:
            self._launch()
            stop = self._watch(timeout, memory_limit)
            if stop is not None:
                self._ask_where()
            seconds = time.monotonic() - began
        except _LaunchError as error:
            return Outcome("not started", None, None, time.monotonic() - began, 0, None, "", str(error))
        finally:
            self._clear_away()
        self.progress.look()
        return self._outcome(stop, seconds)

    def _launch(self) -> None:
        try:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self.environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise _LaunchError(f"could not be started: {self.command[0]}: {reason}") from error
        assert self.process.stdout is not None
        self.tail = _Tail(self.process.stdout.fileno())

    def _watch(self, timeout: float, memory_limit: int | None) -> _Stop | None:
        """None where the process ended by itself, or was done."""
        meter = _Meter(self, memory_limit) if memory_limit is not None and _PROC.is_dir() else None
        pause = _FIRST_PAUSE
        while not self._reap():
            self.progress.look()
            age = self.progress.age
            if self.progress.done:
                if age > _GRACE:
                    return None
            elif age > timeout:
                return _Stop("timeout", self.progress.phase, self._too_long(timeout))
            elif meter is not None and meter.exceeded():
                size = f"{meter.limit / 2**30:.1f} GiB"
                cause = f"used more than {size} of memory {self.progress.place} and was stopped"
                return _Stop("memory", self.progress.phase, cause)
            time.sleep(pause)
            pause = min(pause * 1.1, _LONGEST_PAUSE)
        return None

    def _ask_where(self) -> None:
        """Let the worker dump its stack; one that has no file for it does not listen, and would end by the signal."""
        if self.process is not None and WHERE > 0 and self.progress.path.with_name(STACKS).exists():
            with suppress(OSError):
                os.kill(self.process.pid, WHERE)
            time.sleep(_DUMP_PAUSE)

    def _too_long(self, timeout: float) -> str:
        if self.progress.phase is not None:
            return f"phase {self.progress.phase} took longer than {timeout:g} s and was stopped"
        return f"the process took longer than {timeout:g} s {self.progress.place} and was stopped"

    def _reap(self) -> bool:
        """Whether the process has ended; reads its status and its peak once."""
        if self.ended or self.process is None:
            return True
        try:
            self.ended, self.code, self.peak = _wait(self.process)
        except ChildProcessError:  # the host ignores SIGCHLD: the system has thrown the status away
            self.ended = True
        if self.ended:
            self.process.returncode = self.code if self.code is not None else 0
        return self.ended

    def _clear_away(self) -> None:
        if self.process is None:
            _kill_members(None, self.token)
            return
        _kill_members(self.process, self.token)
        deadline = time.monotonic() + _LEAVE
        while not self._reap() and time.monotonic() < deadline:
            time.sleep(0.005)
        if self.tail is not None and self.tail.stop() and self.process.stdout is not None:
            self.process.stdout.close()

    def _outcome(self, stop: _Stop | None, seconds: float) -> Outcome:
        output = self.tail.text() if self.tail is not None else ""
        ended, status, phase, cause = self._end(stop)
        ours = (str(Path(self.command[1]).parent), str(self.progress.path.parent))
        return Outcome(
            ended,
            status,
            phase,
            seconds,
            self.peak,
            self.progress.results,
            _without_noise(output),
            cause,
            _crash_frame(self.progress.stacks() or output, ours) if stop or ended == "signal" else None,
        )

    def _end(self, stop: _Stop | None) -> tuple[Ended, int | None, str | None, str]:
        place, code = self.progress.place, self.code
        if self.progress.done:
            return "done", code if code is not None and code >= 0 else None, None, ""
        if stop is not None:
            return stop.ended, None, stop.phase, stop.cause
        if code is not None and code < 0:
            return "signal", -code, self.progress.phase, f"killed by {_signal_name(-code)} {place}"
        if code:
            return "exited", code, self.progress.phase, f"exited with status {code} {place}"
        known = "" if code is None else " with status 0"
        early = ", before its result" if self.progress.results is not None else ""
        return "exited", code, self.progress.phase, f"the process ended{known} {place}{early}"


class _LaunchError(Exception):
    """Carries the cause."""


def _wait(process: subprocess.Popen[bytes]) -> tuple[bool, int | None, int]:
    """Whether it ended, its code as subprocess gives it, its peak in bytes.

    On Linux the peak is never below this process's own: it counts from before the worker's exec.
    """
    if not hasattr(os, "wait4"):
        code = process.poll()
        return code is not None, code, 0
    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    if not pid:
        return False, None, 0
    return True, os.waitstatus_to_exitcode(status), usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Progress:
    """The results file, and how long what it says has lasted."""

    def __init__(self, path: Path, on_phase: Callable[[str], None] | None) -> None:
        self.path = path
        self.results: dict[str, Any] | None = None
        self._on_phase = on_phase
        self._seen: tuple[int, int, int] | None = None
        self._looked = self._since = time.monotonic()

    @property
    def phase(self) -> str | None:
        return None if self.results is None else self.results["phase"]

    @property
    def done(self) -> bool:
        return self.results is not None and self.results["done"]

    @property
    def age(self) -> float:
        """Seconds since the phase began; since the start before the first."""
        return time.monotonic() - self._since

    @property
    def place(self) -> str:
        if self.phase is not None:
            return f"in phase {self.phase}"
        return "before its first phase" if self.results is None else "between two phases"

    def stacks(self) -> str:
        """The worker's dumps, empty where it made none."""
        try:
            with open(self.path.with_name(STACKS), "rb") as file:
                return file.read(_MOST_STACKS).decode("utf-8", "replace")
        except OSError:
            return ""

    def look(self) -> None:
        """Take over new content; keep the old where the new is broken or not ours."""
        now = time.monotonic()
        with suppress(OSError, ValueError, RecursionError):
            mark = self._mark()
            if mark != self._seen:
                content = json.loads(self.path.read_bytes())
                self._seen = mark
                if _is_progress(content):
                    self._take(content, now)
        self._looked = now

    def _mark(self) -> tuple[int, int, int]:
        found = self.path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"not a file: {self.path}")
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _take(self, content: dict[str, Any], now: float) -> None:
        before = self.results
        self.results = content
        if before is not None and all(before[key] == content[key] for key in ("phase", "began", "done")):
            return
        # A clock that the model has changed must not move the limit: what is new began after the last look.
        self._since = now - min(max(time.time() - content["began"], 0.0), now - self._looked)
        if content["phase"] is not None and self._on_phase is not None:
            self._on_phase(content["phase"])


def _is_progress(content: object) -> bool:
    return (
        isinstance(content, dict)
        and isinstance(content.get("phase", 0), str | None)
        and isinstance(content.get("began"), int | float)
        and abs(content["began"]) < 1e12  # neither NaN nor infinite
        and isinstance(content.get("done"), bool)
    )


class _Tail:
    """Reads a pipe on a thread of its own and keeps its end, so that the writer never blocks."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._kept = bytearray()
        self._cut = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, name="migrate-lint-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError):
            for chunk in self._chunks():
                self._kept += chunk
                self._cut = self._cut or len(self._kept) > _KEPT_OUTPUT
                del self._kept[:-_KEPT_OUTPUT]

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
        """Wait briefly for the end of the pipe, which a process that got away may hold open; whether reading ended."""
        self._thread.join(0.5)
        self._stop.set()
        self._thread.join(1.0)
        return not self._thread.is_alive()

    def text(self) -> str:
        kept = bytes(self._kept)
        if self._cut:
            _, newline, rest = kept.partition(b"\n")
            kept = rest if newline else kept
        return kept.decode("utf-8", "replace")


class _Meter:
    """Whether the worker and its descendants hold more memory than they may."""

    def __init__(self, worker: _Worker, limit: int) -> None:
        self.limit = limit
        self._worker = worker
        self._next = 0.0

    def exceeded(self) -> bool:
        now = time.monotonic()
        if now < self._next or self._worker.process is None:
            return False
        members = _members(self._worker.process.pid, self._worker.token)
        above = sum(map(_resident, members)) > self.limit
        if above and len(members) > 1:  # pages that forks share count once
            above = sum(_share(pid) for pid in members) > self.limit
        end = time.monotonic()
        self._next = end + max(_MEMORY_PAUSE, 20 * (end - now))
        return above


def _resident(pid: int) -> int:
    fields = _content(pid, "statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else 0


def _share(pid: int) -> int:
    """Resident bytes, where a page that n processes share counts 1/n; the resident set on an old Linux."""
    found = re.search(rb"^Pss:\s+(\d+) kB", _content(pid, "smaps_rollup"), re.MULTILINE)
    return int(found[1]) * 1024 if found else _resident(pid)


def _content(pid: int, name: str) -> bytes:
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def _kill_members(process: subprocess.Popen[bytes] | None, token: str) -> None:
    """Kill all that carries the token or belongs to the worker, until two looks in a row find nothing."""
    deadline = time.monotonic() + _LEAVE
    quiet = 0
    while quiet < 2 and time.monotonic() < deadline:
        members = _members(process.pid if process is not None else None, token)
        if process is not None:
            kill_group(process)
        for pid in members:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        quiet = 0 if members else quiet + 1
        if members:
            time.sleep(0.01)


def _members(worker: int | None, token: str) -> set[int]:
    """Living processes of the worker's group or session or with its token, and their children; Linux only."""
    mark = f"{TOKEN}={token}".encode()
    parents: dict[int, int] = {}
    found: set[int] = set()
    for pid, parent, group, session in _processes():
        parents[pid] = parent
        if worker in (pid, group, session) or mark in _content(pid, "environ").split(b"\0"):
            found.add(pid)
    return _with_children(found, parents) - {os.getpid()}


def _with_children(found: set[int], parents: Mapping[int, int]) -> set[int]:
    while more := {pid for pid, parent in parents.items() if parent in found and pid not in found}:
        found |= more
    return found


def _processes() -> Iterator[tuple[int, int, int, int]]:
    """Number, parent, group and session of every process that has not ended."""
    try:
        names = os.listdir(_PROC)
    except OSError:
        return
    for pid in map(int, filter(str.isdecimal, names)):
        # The name, in brackets, may hold anything; then come state, parent, group, session.
        fields = _content(pid, "stat").rpartition(b")")[2].split()
        if len(fields) > 3 and fields[0] not in (b"Z", b"X"):
            yield pid, int(fields[1]), int(fields[2]), int(fields[3])


_NOISE = re.compile(
    r"WARNING: All log messages before absl::InitializeLog"
    r"|To enable the following instructions: "
    r"|[IW]0000 00:00:\d+\.\d+ "
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IW] "
    r"|(?:E0000 00:00:\d+\.\d+ |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: E ).*"
    r"(?:Unable to register|already registered|cuInit)"
    r"|Extension modules: .*\(total: \d+\)"
)
_FRAME = re.compile(r'\s+File "(.+)", line (\d+) in ')
_LIBRARY = re.compile(
    r"^<|[/\\](?:site|dist)-packages[/\\]|/lib(?:64)?/(?:python|pypy)\d\.\d+t?/"
    r"|^[a-z]:(?:\\.*)?\\python[\d.]*\\lib\\|[/\\]python\d+\.zip[/\\]",
    re.IGNORECASE,
)


def _without_noise(output: str) -> str:
    """`output` without the lines that TensorFlow's C++ prints as it starts, and faulthandler's list of modules."""
    return "\n".join(line for line in output.split("\n") if not _NOISE.match(line))


def _crash_frame(output: str, ours: Iterable[str]) -> tuple[str, int] | None:
    """The innermost frame in the user's files of the thread that crashed, else of the main thread."""
    threads: list[tuple[bool, list[tuple[str, int]]]] = []
    for line in output.split("\n"):
        if line.endswith("(most recent call first):"):
            threads.append((line.startswith("Current thread 0x"), []))
        elif threads and (match := _FRAME.match(line)):
            threads[-1][1].append((match[1], int(match[2])))
    crashed = [frames for current, frames in threads if current] or [frames for _, frames in threads[-1:]]
    prefixes = tuple(folder + os.sep for folder in ours)
    for path, line_number in crashed[-1] if crashed else ():
        if not _LIBRARY.search(path) and not path.startswith(prefixes):
            return path, line_number
    return None
