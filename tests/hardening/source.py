"""Source files: mutations of real programs, linted in this process, without a cache."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType

from migrate_lint.linter.finding import INTERNAL_ERROR, UNPARSABLE_FILE, Finding
from migrate_lint.linter.reporters import Paint, summary
from migrate_lint.linter.reporters.causes import statistics
from migrate_lint.linter.reporters.formats import module_of
from migrate_lint.linter.result import Result
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import FORMATS, Config

from .mutations import mutated
from .tally import Tally

WEIGHT = 10.0

TOO_SLOW = 10.0
"""Seconds of a processor that an input below `LARGE` bytes may take."""
LARGE = 100_000
_BATCH = 300
_HANGING = 30.0
_RECORD = 0.3
AGAIN, SHOW = "again", "show"
_MORE = ((AGAIN,), (SHOW,), (), (), (), (), (), ())
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
Input = tuple[str, str, bytes]
"""Kind, name of the file, content; what has no kind lies beside the inputs."""


class HangsError(BaseException):
    """No `except Exception` catches it."""


@contextmanager
def limited() -> Iterator[None]:
    """Raise `HangsError` after `_HANGING` seconds of the processor."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise HangsError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, _HANGING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Linting:
    """Lints inputs in a folder of its own, and says what is wrong with how that went."""

    def __init__(self, tally: Tally, target: str = "auto") -> None:
        self.tally = tally
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="inputs-"))
        self.config = Config(base=self.folder, target=target)
        self.formats = [module_of(name) for name in FORMATS]

    def judge(self, inputs: Sequence[Input], *more: str) -> None:
        """Lint inputs together, and one by one where that falls or is slow; all are counted.

        `more` may be `AGAIN`, so that a second run must say the same, and `SHOW`, so that every format is rendered.
        """
        for kind in filter(None, (kind for kind, _, _ in inputs)):
            self.tally.tried(kind)
        began = time.process_time()
        problem = self._problem(inputs, more)
        took = time.process_time() - began
        known = max((seconds for seconds, _ in self.tally.slowest.values()), default=0.0)
        if problem or took > max(_RECORD * len(inputs) ** 0.5, known):
            if not self._halves(inputs, more) and problem:
                self._fall(inputs, f"together: {problem}")

    def _halves(self, inputs: Sequence[Input], more: Sequence[str]) -> bool:
        """Look for the inputs that fall or are slow; whether one fell."""
        if len(inputs) == 1:
            began = time.process_time()
            problem = self._problem(inputs, more)
            took = (time.process_time() - began) / (1 + (AGAIN in more))
            kind, _, data = inputs[0]
            self.tally.took(kind, took, f"{len(data)} bytes, {data[:60]!r}")
            if not problem and took > TOO_SLOW and len(data) < LARGE:
                problem = f"{took:.1f} s of a processor for {len(data)} bytes"
            if problem:
                self._fall(inputs, problem)
            return bool(problem)
        middle, found = len(inputs) // 2, False
        for half in (inputs[:middle], inputs[middle:]):
            began = time.process_time()
            problem = self._problem(half, more)
            if problem or time.process_time() - began > _RECORD:
                fell = self._halves(half, more)
                if problem and not fell:
                    self._fall(half, f"together: {problem}")
                found = found or fell or bool(problem)
        return found

    def _fall(self, inputs: Sequence[Input], problem: str) -> None:
        kinds = "+".join(sorted({kind for kind, _, _ in inputs if kind}))
        if len(inputs) == 1:
            text = inputs[0][2]
        else:
            text = b"".join(b"=== %s\n%s\n" % (name.encode(), data) for _, name, data in inputs)
        self.tally.failed(kinds, problem, text)

    def _problem(self, inputs: Sequence[Input], more: Sequence[str]) -> str:
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        Path(self.folder, "setup.cfg").touch()  # the project's root is here, wherever this folder lies
        os.chdir(self.folder)
        for _, name, data in inputs:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try:
            with limited():
                result = lint(["."], self.config)
                problem = wrong(result) or (unrendered(self.formats, result) if SHOW in more else "")
                if AGAIN in more and not problem and lint(["."], self.config).findings != result.findings:
                    problem = "a second run says something else"
        except HangsError:
            return f"over {_HANGING:g} s of a processor"
        except Exception as error:
            return described(error)
        if not problem and (missing := {name for kind, name, _ in inputs if kind} - result.sources.keys()):
            problem = f"not looked at: {sorted(missing)}"
        return problem


def described(error: Exception) -> str:
    """The error, and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(error).__name__}: {str(error)[:300]}{where}"


def wrong(result: Result) -> str:
    """What a result says that no input may make it say."""
    lengths: dict[tuple[str, int | None], list[int]] = {}
    for finding in result.findings:
        if finding.code == INTERNAL_ERROR.code or "internal error" in finding.message:
            return finding.message
        if finding.code == UNPARSABLE_FILE.code and "the process that read" in finding.message:
            return finding.message
        if problem := _misplaced(finding, result, lengths):
            return f"{finding}: {problem}"
    return ""


def _misplaced(finding: Finding, result: Result, lengths: dict[tuple[str, int | None], list[int]]) -> str:
    """Where a finding lies outside its file."""
    if (finding.end_line, finding.end_column) < (finding.line, finding.column):
        return "it ends before it begins"
    if min(finding.line, finding.column) < 1:
        return "lines and columns begin with 1"
    if finding.path not in result.sources:
        return "its file was not linted"
    if (finding.path, finding.cell) not in lengths:
        source = result.source(finding.path)
        texts = {} if source is None else source.texts
        if source is not None and finding.cell not in texts and source.notebook is None:
            return "it has no such cell"
        found = texts.get(finding.cell)
        lengths[finding.path, finding.cell] = [] if found is None else list(map(len, found))
    known = lengths[finding.path, finding.cell]
    if not known:
        return ""
    for line, column in ((finding.line, finding.column), (finding.end_line, finding.end_column)):
        if line > len(known):
            return f"there is no line {line}"
        if column > known[line - 1] + 2:
            return f"line {line} has no column {column}"
    return ""


def unrendered(formats: Sequence[object], result: Result) -> str:
    """Render every format; what a line must not hold."""
    plain = Paint(False)
    for reporter in formats:
        for line in reporter.report(result, plain):  # type: ignore[attr-defined]
            if _CONTROL.search(line):
                return f"{reporter}: {line!r}"
    for line in (*summary(result, plain), *statistics(result)):
        if _CONTROL.search(line):
            return line
    return ""


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """Batches of small files."""
    random = Random(seed)
    sys.setrecursionlimit(5000)
    both = [Linting(tally, target) for target in ("keras3", "keras2")]
    number = 0
    while not until():
        inputs = []
        for index in range(_BATCH):
            kind, data = mutated(random)
            inputs.append((f"source: {kind}", f"m{index}.py{random.choice(('', '', '', '', 'i'))}", data))
        both[number % 2].judge(inputs, *_MORE[number % len(_MORE)])
        number += 1
