"""Runs the command line with ``--runtime`` on projects, a few at once, each in a process and a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

MARK = "MIGRATE_LINT_TEST_CASE"
_AT_ONCE = 2
_WAITING = 3
_SECONDS = 900


@dataclass(frozen=True)
class Case:
    """A project and how it is run.

    ``prepare`` may change the project's folder once it is written; ``cwd`` lies in it. One that only ``waits`` for most
    of its time, until it is ended, does so beside all others.
    """

    files: Mapping[str, str | bytes]
    target: str = "model.py:build"
    options: Sequence[str] = ()
    cwd: str = "."
    prepare: Callable[[Path], object] | None = None
    waits: bool = False


@dataclass(frozen=True)
class Ran:
    """How a run ended, and what it left: living processes, names in its temporary folder, new files of the project.

    ``folder`` is the case's, around project and temporary folder; the environment variable `MARK` names it.
    """

    folder: Path
    status: int
    report: dict[str, Any]
    errors: str
    living: list[str]
    temporary: list[str]
    written: list[str]

    @property
    def left(self) -> list[str]:
        return [*self.living, *self.temporary, *self.written]

    def found(self, code: str) -> list[dict[str, Any]]:
        return [finding for finding in self.report["findings"] if finding["code"] == code]

    def places(self, code: str) -> list[tuple[str, int]]:
        return [(finding["path"], finding["line"]) for finding in self.found(code)]

    def verdicts(self, code: str) -> list[tuple[str, int, str]]:
        return [(finding["path"], finding["line"], finding["verdict"]) for finding in self.found(code)]

    @property
    def run(self) -> dict[str, Any]:
        """The only run of the report."""
        (run,) = self.report["summary"]["runtime"]["runs"]
        return dict(run)

    @property
    def phases(self) -> dict[str, tuple[str, str]]:
        """Outcome and detail by name."""
        return {phase["name"]: (phase["outcome"], phase["detail"]) for phase in self.run["phases"]}


Runs = Callable[[str], Ran]


@contextmanager
def running(
    cases: Mapping[str, Case], request: pytest.FixtureRequest, folders: pytest.TempPathFactory
) -> Iterator[Runs]:
    """Begin the runs that the selected tests of a module name by their parameter ``name``; the body waits for each."""
    specs = (getattr(item, "callspec", None) for item in request.session.items if item.path == request.path)
    chosen = dict.fromkeys(spec.params["name"] for spec in specs if spec is not None)
    with ThreadPoolExecutor(_AT_ONCE) as pool, ThreadPoolExecutor(_WAITING) as beside:
        begun = {
            name: (beside if cases[name].waits else pool).submit(execute, folders.mktemp("case"), cases[name])
            for name in chosen
        }
        yield lambda name: begun[name].result()


def execute(folder: Path, case: Case) -> Ran:
    """The command line on a case, in an empty folder; standard input is an open pipe."""
    project, scratch = folder / "project", folder / "tmp"
    scratch.mkdir()
    for name, content in case.files.items():
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    if case.prepare is not None:
        case.prepare(project)
    before = {*project.rglob("*")}
    words = ["--runtime", case.target, "--output-format", "json", "--no-cache", "--isolated", *case.options]
    ended = subprocess.run(
        [sys.executable, "-m", "migrate_lint", *words],
        cwd=project / case.cwd,
        env={**os.environ, MARK: str(folder), "TMPDIR": str(scratch)},
        stdin=subprocess.PIPE,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    return Ran(
        folder,
        ended.returncode,
        json.loads(ended.stdout or b"{}"),
        ended.stderr.decode(),
        list(living(str(folder))),
        os.listdir(scratch),
        [str(file) for file in {*project.rglob("*")} - before],
    )


def living(mark: str) -> Iterator[str]:
    """Processes with the mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                yield entry.name


def wait_for(seen: Callable[[], bool], seconds: float = 300.0) -> bool:
    """Whether something is seen in time; it is not asked for again, since it may pass."""
    deadline = time.monotonic() + seconds
    while not seen():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def line_of(text: str, mark: str) -> int:
    """The line that ends in a comment of one word."""
    return next(number for number, line in enumerate(text.split("\n"), 1) if line.rstrip().endswith(f"# {mark}"))
