"""One worker process: start it, watch its phases, and leave nothing of it behind.

The worker tells how far it is through a file that it replaces atomically.
Of that file only ``phase`` (text or null), ``began`` (``time.time()``) and ``done`` are read here.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import supervisor
from .supervised import LaunchError, Supervised, Tail, scratch
from .worker.atomic import read_regular, sealed

__all__ = ["ASK", "JOB", "RESULTS", "STACKS", "TOKEN", "WHERE", "Outcome", "start"]

JOB = "job.json"
"""File in the worker's folder: what it is to do."""
RESULTS = "results.json"
"""File in the worker's folder: how far it is, and what it has found."""
STACKS = "stacks.txt"
"""File in the worker's folder: faulthandler's dumps, which nothing that the model prints can push out."""
WHERE = getattr(signal, "SIGRTMAX", 0) - 3
"""Signal on which a worker dumps its main thread's stack, one that no program uses; negative where there is none."""
ASK = "ask"
"""FIFO in the worker's folder, which this side opens to ask for what was seen in a phase that does not end."""
TOKEN = "MIGRATE_LINT_RUN"
"""Environment variable whose value marks the worker and all that it starts."""

Ended = Literal["done", "exited", "signal", "timeout", "memory", "not started", "damaged"]

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
_LONGEST_PHASE = 1000
_MOST_RESULTS = 64 << 20
"""Bytes of a results file; that of ten thousand findings has 3 MB."""
_WORDS_SHOWN = 300
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.1
_MEMORY_PAUSE = 0.2
_DUMP_PAUSE = 0.3
"""Seconds that a worker has to say where it is, before it is stopped."""
_LAST_WORD = 10.0
"""Seconds that a worker has to answer that, if it listens."""
_GRACE = 2.0
"""Seconds that a worker has to end by itself after it said that it is done."""
_LEAVE = 5.0
"""Seconds spent on killing what got away from the supervisor."""
_SILENCE = 60.0
"""Seconds beyond the limit of a phase that a worker goes on while this process says nothing, such as a stopped one."""


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
        if not self.cause or not self.last_words() or self.ended not in ("exited", "signal"):
            return self.cause
        return f"{self.cause}; it last wrote: {self.last_words()}"

    def last_words(self, count: int = 1) -> str:
        """The last lines that were written, of bearable length."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return " / ".join(lines[-count:])[:_WORDS_SHOWN]


def start(
    python: str,
    script: str | Path,
    job: dict[str, Any],
    *,
    timeout: float,
    memory_limit: int | None,
    environment: Mapping[str, str | None],
    on_phase: Callable[[str], None] | None = None,
    folders: Sequence[str] = (),
    working_folder: str | None = None,
) -> Outcome:
    """Run `script` with `python` until it ends or breaks a limit; its one argument is the path of the job file.

    `timeout` is in seconds and holds for each phase, and for the time before the first.
    `memory_limit` is in bytes and holds for the worker and its descendants together (Linux).
    `environment` changes this process's own: None takes a variable away.
    `on_phase` hears the name of each phase seen to run; one shorter than the pause between two looks may be missed.
    Whatever happens, also an exception or Ctrl-C, and also where this process is killed, the worker, every process
    that it started (Linux; elsewhere its group) and its folder are gone afterwards.
    `folders` are gone too if this process is killed. The worker runs in `working_folder`, by default in this process's.
    """
    token, key = uuid.uuid4().hex, secrets.token_bytes(32)
    with scratch() as folder:
        private = os.path.join(folder, "tmp")
        os.mkdir(private)
        path = os.path.join(folder, JOB)
        Path(path).write_text(json.dumps({**job, "key": key.hex()}), "utf-8")
        worker = _Worker(
            [python, os.fspath(script), path],
            _environment(environment, token, private),
            token,
            _Progress(Path(folder, RESULTS), key, on_phase),
            timeout,
            (folder, *folders),
            working_folder,
        )
        try:
            return worker.run(memory_limit)
        finally:
            supervisor.remove(folder)
            worker.leave()


def _environment(changes: Mapping[str, str | None], token: str, private: str) -> dict[str, str]:
    own = {TOKEN: token, "TMPDIR": private, "TEMP": private, "TMP": private}
    merged: dict[str, str | None] = {**os.environ, **_ENVIRONMENT, **changes, **own}
    return {name: value for name, value in merged.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _Stop:
    """Why this side ends the worker."""

    ended: Ended
    phase: str | None
    cause: str


class _Worker:
    def __init__(
        self,
        command: list[str],
        environment: dict[str, str],
        token: str,
        progress: _Progress,
        timeout: float,
        folders: Sequence[str],
        working_folder: str | None,
    ) -> None:
        self.command = command
        self.environment = environment
        self.token = token
        self.progress = progress
        self.timeout = timeout
        self.folders = folders
        self.working_folder = working_folder
        self.process: Supervised | None = None
        self.tail: Tail | None = None

    def run(self, memory_limit: int | None) -> Outcome:
        began = time.monotonic()
        try:
            try:
                process = self._launch()
                stop = self._watch(process, memory_limit)
                if stop is not None:
                    self._ask_where(process)
                if stop is not None and stop.ended == "timeout":
                    self._ask_what(process)
                seconds = time.monotonic() - began
            finally:
                self._clear_away()
        except LaunchError as error:
            cause = f"could not be started: {self.command[0]}: {error}"
            return Outcome("not started", None, None, time.monotonic() - began, 0, None, "", cause)
        self.progress.look()
        return self._outcome(process, stop, seconds)

    def _launch(self) -> Supervised:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        limit = self.timeout + _SILENCE
        self.process = Supervised(
            self.command,
            environment=self.environment,
            streams=streams,
            limit=limit,
            folders=self.folders,
            working_folder=self.working_folder,
        )
        assert self.process.process.stdout is not None
        self.tail = Tail(self.process.process.stdout.fileno(), _KEPT_OUTPUT)
        return self.process

    def _watch(self, process: Supervised, memory_limit: int | None) -> _Stop | None:
        """None where the process ended by itself, or was done."""
        meter = None if memory_limit is None else _Meter(process, self.token, memory_limit)
        pause = _FIRST_PAUSE
        while not process.poll():
            process.beat()
            self.progress.look()
            age = self.progress.age
            if self.progress.done:
                if age > _GRACE:
                    return None
            elif age > self.timeout:
                return _Stop("timeout", self.progress.phase, self._too_long(self.timeout))
            elif meter is not None and meter.exceeded():
                size = f"{meter.limit / 2**30:.1f} GiB"
                cause = f"used more than {size} of memory {self.progress.place} and was stopped (see --memory-limit)"
                return _Stop("memory", self.progress.phase, cause)
            time.sleep(pause)
            pause = min(pause * 1.1, _LONGEST_PAUSE)
        return None

    def _ask_where(self, process: Supervised) -> None:
        """Let the worker dump its stack; one that has no file for it does not listen, and would end by the signal."""
        if WHERE > 0 and self.progress.path.with_name(STACKS).exists():
            process.tell(WHERE)
            time.sleep(_DUMP_PAUSE)

    def _ask_what(self, process: Supervised) -> None:
        """Wait for what the worker has seen in the phase that took too long; a thread of its own answers."""
        try:
            os.close(os.open(self.progress.path.with_name(ASK), os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)))
        except OSError:  # nobody listens
            return
        deadline = time.monotonic() + _LAST_WORD
        while not (process.poll() or self.progress.answered or time.monotonic() > deadline):
            process.beat()
            time.sleep(_LONGEST_PAUSE)
            self.progress.look()

    def _too_long(self, timeout: float) -> str:
        if self.progress.phase is not None:
            return f"phase {self.progress.phase} took longer than {timeout:g} s and was stopped (see --timeout)"
        return f"the process took longer than {timeout:g} s {self.progress.place} and was stopped (see --timeout)"

    def _clear_away(self) -> None:
        if self.process is not None:
            self.process.end()
        _kill_members(self.process, self.token)
        if self.tail is not None and self.tail.stop() and self.process is not None:
            assert self.process.process.stdout is not None
            self.process.process.stdout.close()

    def leave(self) -> None:
        """Let the supervisor go, which would remove the folders."""
        if self.process is not None:
            self.process.close()

    def _outcome(self, process: Supervised, stop: _Stop | None, seconds: float) -> Outcome:
        output = self.tail.text() if self.tail is not None else ""
        ended, status, phase, cause = self._end(process.code, stop)
        ours = (str(Path(self.command[1]).parent), str(self.progress.path.parent))
        return Outcome(
            ended,
            status,
            phase,
            seconds,
            process.peak,
            self.progress.results,
            _without_noise(output),
            cause,
            _crash_frame(self.progress.stacks() or output, ours) if stop or ended == "signal" else None,
        )

    def _end(self, code: int | None, stop: _Stop | None) -> tuple[Ended, int | None, str | None, str]:
        place = self.progress.place
        if self.progress.damage:
            cause = f"the results of the worker are damaged: {self.progress.damage}"
            return "damaged", code if code is not None and code >= 0 else None, self.progress.phase, cause
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


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Progress:
    """The results file, and how long what it says has lasted."""

    def __init__(self, path: Path, key: bytes, on_phase: Callable[[str], None] | None) -> None:
        self.path = path
        self.damage = ""
        """What is wrong with the file as it is now; what was good before is kept."""
        self._key = key
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
    def answered(self) -> bool:
        """Whether the worker was asked in the midst of its phase, and has answered."""
        return self.results is not None and bool(self.results.get("answered"))

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
            return read_regular(self.path.with_name(STACKS), _MOST_STACKS, cut=True).decode("utf-8", "replace")
        except OSError:
            return ""

    def look(self) -> None:
        """Take over new content; keep the old where the new is broken, or was not written by the worker."""
        now = time.monotonic()
        try:
            found = self.path.lstat()
        except OSError:
            self.damage = "its file is gone" if self.results is not None else ""
        else:
            mark = (found.st_ino, found.st_mtime_ns, found.st_size)
            if mark != self._seen:
                self._read(mark, now)
        self._looked = now

    def _read(self, mark: tuple[int, int, int], now: float) -> None:
        try:
            data = read_regular(self.path, _MOST_RESULTS)
            self._seen = mark
            seal, _, body = data.partition(b"\n")
            if not secrets.compare_digest(seal, sealed(self._key, body)):
                raise ValueError("something else than the worker wrote its file")
            content = json.loads(body)
            if not _is_progress(content):
                raise ValueError("its file does not say how far it is")
        except RecursionError:
            self.damage = "its file is nested too deeply"
        except (OSError, ValueError) as error:
            self.damage = str(error)
        else:
            self.damage = ""
            self._take(content, now)

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
        and len(content["phase"] or "") < _LONGEST_PHASE
        and isinstance(content.get("began"), int | float)
        and abs(content["began"]) < 1e12  # neither NaN nor infinite
        and isinstance(content.get("done"), bool)
    )


class _Meter:
    """Whether the worker and its descendants hold more memory than they may; never where there is no /proc."""

    def __init__(self, process: Supervised, token: str, limit: int) -> None:
        self.limit = limit
        self._process = process
        self._token = token
        self._next = 0.0

    def exceeded(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        members = _members(self._process, self._token)
        above = sum(map(_resident, members)) > self.limit
        if above and len(members) > 1:  # pages that forks share count once
            above = sum(_share(pid) for pid in members) > self.limit
        end = time.monotonic()
        self._next = end + max(_MEMORY_PAUSE, 20 * (end - now))
        return above


def _resident(pid: int) -> int:
    fields = supervisor.content(pid, "statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else 0


def _share(pid: int) -> int:
    """Resident bytes, where a page that n processes share counts 1/n; the resident set on an old Linux."""
    found = re.search(rb"^Pss:\s+(\d+) kB", supervisor.content(pid, "smaps_rollup"), re.MULTILINE)
    return int(found[1]) * 1024 if found else _resident(pid)


def _kill_members(process: Supervised | None, token: str) -> None:
    """Kill all that carries the token or stands below the supervisor, until two looks in a row find nothing.

    A supervisor has done that itself, unless something ended it.
    """
    deadline = time.monotonic() + _LEAVE
    quiet = 0
    while quiet < 2 and time.monotonic() < deadline:
        members = _members(process, token)
        for pid in members:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        quiet = 0 if members else quiet + 1
        if members:
            time.sleep(0.01)


def _members(process: Supervised | None, token: str) -> set[int]:
    """Living processes below the supervisor or with the token, and their children; Linux only."""
    mark = f"{TOKEN}={token}".encode()
    above = {os.getpid()} if process is None else {os.getpid(), process.supervisor}
    parents: dict[int, int] = {}
    found: set[int] = set()
    for pid, parent, _, _ in supervisor.processes():
        parents[pid] = parent
        if (process is not None and parent == process.supervisor) or (
            pid not in above and mark in supervisor.content(pid, "environ").split(b"\0")
        ):
            found.add(pid)
    return supervisor.descendants(found, parents) - above


_NOISE = re.compile(
    r"WARNING: All log messages before absl::InitializeLog"
    r"|To enable the following instructions: "
    r"|[IW]0000 00:00:\d+\.\d+ "
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IW] "
    r"|(?:E0000 00:00:\d+\.\d+ |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: E ).*"
    r"(?:Unable to register|already registered|cuInit)"
    r"|Extension modules: .*\(total: \d+\)"
)
_FRAME = re.compile(r'\s+File "([^\0]{1,4096})", line (\d{1,9}) in ')
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
