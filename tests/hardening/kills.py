"""Writers that are killed: at every step of writing, and at random moments.

A step is a call that changes a file or a folder: opening to write, half a write, a rename, a removal, a statement of
SQLite. The child counts them and ends itself by SIGKILL before the one that it is told. Whatever the moment, each file
has its earlier content or the new one; and what is left over is gone after the next run, in another process.
"""

from __future__ import annotations

import builtins
import io
import os
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from migrate_lint.runtime_checks.worker.recording.format.reading import RecordingError, read

from ..runtime_checks.verify.programs import Program, record
from .commands import Ran, ran
from .corpus import texts
from .recordings import recorded
from .tally import Tally

WEIGHT = 2.0

_CHANGING = (
    "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "chmod", "chown", "fsync", "truncate", "ftruncate",
    "link",
)  # fmt: skip
_LEFT = ("~", ".part", ".new", ".tmp", "-journal")
"""How names of temporary files end; whatever is called after migrate-lint is one, too."""
_MODEL = "import tensorflow as tf\n\ns = tf.Session()\nx = tf.placeholder(tf.float32)\n"


@dataclass(frozen=True)
class Writer:
    """Something that writes.

    ``prepare`` fills a folder; ``write`` is run in it, and again after each kill; ``files`` must be whole then.
    ``other`` says what else is wrong with a folder that a killed writer left.
    """

    prepare: Callable[[Path], object]
    write: Callable[[], object]
    files: tuple[str, ...] = ()
    other: Callable[[Path], str] = lambda folder: ""


def _project(folder: Path) -> None:
    (folder / "setup.cfg").touch()
    (folder / "m.py").write_text(_MODEL)
    (folder / "n.py").write_text(texts()[0])
    (folder / "old.json").write_text("{}")


def _with_baseline(folder: Path) -> None:
    _project(folder)
    assert ran(*_QUIET, "--baseline", "b.json", "--write-baseline").status == 0
    (folder / "m.py").write_text(_MODEL.replace("s = tf.Session()\n", ""))


def _with_run(folder: Path) -> None:
    """The same run each time: a report tells how long it took."""
    shutil.copytree(folder.parent / _RUN, folder / "run")


_RUN = "run of verify"
_QUIET = ("--no-cache", "--jobs", "1", ".")
_OTHER_FILE = ("--output-file", "new.html")


def _lint(*words: str) -> Callable[[], object]:
    return lambda: ran(*_QUIET, *words)


def _cached() -> Ran:
    return ran("--jobs", "1", "--isolated", "--output-format", "concise", ".")


def _cache_holds(folder: Path) -> str:
    """What a run says beside the cache that is left must be what one without says."""
    one, other = _cached(), ran("--no-cache", "--jobs", "1", "--isolated", "--output-format", "concise", ".")
    return "" if (one.output, one.errors) == (other.output, "") else f"with the cache that is left: {one}"


def _readable(folder: Path) -> str:
    try:
        found = read(folder / "rec")
        for scenario in found.scenarios.values():
            for one in scenario.records:
                if one.kept:
                    one.value  # noqa: B018
    except RecordingError as error:
        if (folder / "rec" / "record.json").exists():
            return f"the recording cannot be read: {error}"
    return ""


WRITERS: Mapping[str, Writer] = {
    "cache": Writer(_project, _cached, other=_cache_holds),
    "noqa": Writer(_project, _lint("--add-noqa"), ("m.py", "n.py")),
    "baseline": Writer(_project, _lint("--baseline", "b.json", "--write-baseline"), ("b.json",)),
    "pruned baseline": Writer(_with_baseline, _lint("--baseline", "b.json", "--prune-baseline"), ("b.json",)),
    "reports": Writer(
        _project,
        _lint("--output-format", "sarif", "--output-file", "old.json", "--output-format", "html", *_OTHER_FILE),
        ("old.json", "new.html"),
    ),
    "generated tests": Writer(
        _with_run,
        lambda: (Path("t.py").unlink(missing_ok=True), ran("verify", "--gen-test", "run", "--output", "t.py")),
        ("t.py",),
    ),
    "verify reports": Writer(
        _with_run,
        lambda: ran("verify", "--compare", "run", "--output-format", "json", "--output-file", "v.json"),
        ("v.json",),
    ),
    "recordings": Writer(_project, lambda: record(Program(steps=1), Path("rec")), other=_readable),
}


class _Steps:
    """Counts the steps of this process, and ends it before one of them."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.taken = 0

    def step(self) -> None:
        self.taken += 1
        if self.taken == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """Put the count before everything in this process that changes files."""
        for name in _CHANGING:
            if hasattr(os, name):
                setattr(os, name, self._counted(getattr(os, name)))
        os_open, opened = os.open, builtins.open

        def low(path: Any, flags: int, *more: Any, **options: Any) -> int:
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self.step()
            return os_open(path, flags, *more, **options)

        def high(file: Any, mode: str = "r", *more: Any, **options: Any) -> Any:
            found = opened(file, mode, *more, **options)
            return self._halving(found) if set(mode) & set("wax+") else found

        os.open = low  # type: ignore[assignment]
        builtins.open = io.open = high  # type: ignore[assignment]
        steps = self

        class Connection(sqlite3.Connection):
            def execute(self, *words: Any) -> sqlite3.Cursor:
                steps.step()
                return super().execute(*words)

            def executemany(self, sql: str, rows: Any, /) -> sqlite3.Cursor:
                def counted() -> Iterator[Any]:
                    for row in rows:
                        steps.step()
                        yield row

                return super().executemany(sql, counted())

            def close(self) -> None:
                steps.step()
                super().close()

        connect = sqlite3.connect
        sqlite3.connect = lambda *words, **options: connect(*words, factory=Connection, **options)  # type: ignore[assignment,misc]

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*words: Any, **options: Any) -> Any:
            self.step()
            return function(*words, **options)

        return counted

    def _halving(self, file: Any) -> Any:
        """Write in two halves, with a step before each."""
        write = file.write

        def halves(data: Any) -> int:
            self.step()
            middle = len(data) // 2
            write(data[:middle])
            file.flush()
            self.step()
            write(data[middle:])
            return len(data)

        try:
            file.write = halves
        except AttributeError:
            return _Halves(file, halves)
        return file


class _Halves:
    """A file whose own `write` cannot be replaced."""

    def __init__(self, file: Any, write: Callable[[Any], int]) -> None:
        self._file = file
        self.write = write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Halves:
        self._file.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._file.__exit__(*error)

    def __iter__(self) -> Any:
        return iter(self._file)


def killed(function: Callable[[], object], folder: Path, step: int = 0, moment: float | None = None) -> bool:
    """Run a function in a process of its own, which is killed before a step or after some seconds; whether it was."""
    process = os.fork()
    if not process:
        status = 1
        try:
            os.chdir(folder)
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1)
            os.dup2(null, 2)
            _Steps(step).watch()
            function()
            status = 0
        finally:
            os._exit(status)
    if moment is not None:
        time.sleep(moment)
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    assert status == 0, f"the process ended with {status}"
    return False


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """Every step of every writer in turn, then random moments, and all of it again."""
    random = Random(seed)
    top = Path(tempfile.mkdtemp(prefix="kills-"))
    recorded(top / _RUN)
    while True:
        for name, writer in WRITERS.items():
            case = _Case(tally, name, writer, top, random)
            for step in case.steps():
                if until():
                    return
                case.at(step)


class _Case:
    def __init__(self, tally: Tally, name: str, writer: Writer, top: Path, random: Random) -> None:
        self.tally = tally
        self.name = name
        self.writer = writer
        self.folder = top / "p"
        self.random = random
        self._prepare()
        self.old = self._contents()
        began = time.monotonic()
        killed(writer.write, self.folder)
        self.seconds = time.monotonic() - began
        self.new = self._contents()
        assert not writer.files or self.old != self.new

    def _prepare(self) -> None:
        os.chdir("/")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        os.environ["XDG_CACHE_HOME"] = str(self.folder / ".cache")
        killed(lambda: self.writer.prepare(self.folder), self.folder)

    def _contents(self) -> dict[str, bytes | None]:
        paths = {name: self.folder / name for name in self.writer.files}
        return {name: path.read_bytes() if path.exists() else None for name, path in paths.items()}

    def steps(self) -> Iterator[int]:
        """The numbers of all steps, then -1 as often for random moments."""
        step = 0
        self.ended = False
        while not self.ended:
            step += 1
            yield step
        yield from [-1] * (step // 2)

    def at(self, step: int) -> None:
        """Kill once, and look at what is left."""
        self._prepare()
        moment = None if step > 0 else self.random.random() * self.seconds
        if not killed(self.writer.write, self.folder, max(step, 0), moment):
            self.ended = True
            return
        self.tally.tried(f"kill: {self.name}")
        where = f"step {step}" if moment is None else f"after {moment:.4f} s"
        if problem := self._problem():
            left = sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))
            self.tally.failed(f"kill: {self.name}", f"{where}: {problem}", "\n".join(left).encode())

    def _problem(self) -> str:
        for name, data in self._contents().items():
            if data not in (self.old[name], self.new[name]):
                return f"{name} is neither what it was nor what it was to be: {data!r}"
        os.chdir(self.folder)
        if problem := self.writer.other(self.folder):
            return problem
        killed(self.writer.write, self.folder)
        for name, data in self._contents().items():
            if data != self.new[name]:
                return f"{name} is not what it was to be after the next run: {data!r}"
        left = [
            path.name for path in self.folder.rglob("*") if path.name.endswith(_LEFT) or ".migrate-lint-" in path.name
        ]
        return f"left after the next run: {left}" if left else ""
