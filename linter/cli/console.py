"""What all commands of the program share: how words are read, and what is written to the terminal and to files."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable
from time import monotonic
from typing import IO, Any, NoReturn, TypeVar

from ..atomic import write_file
from ..reporters import printable
from ..source.discovery import leads_out, trees_around

PROGRAM = "migrate-lint"
_PATIENCE = 0.5
"""Seconds that a run takes in silence, before its progress shows."""
_REDRAWN = 0.1
"""Seconds between two drawings of it."""
_Number = TypeVar("_Number", int, float)


class UsageError(Exception):
    """The command line makes no sense; the text says why."""


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` where argparse would end the program."""

    def error(self, message: str) -> NoReturn:
        """Raise the message, with what may have been meant, and the usage."""
        raise UsageError(f"{message}{self._meant(message)}\n{self.format_usage().strip()}")

    def _meant(self, message: str) -> str:
        """The option or the choice that is spelled most like one that is none."""
        from ..source.suppressions import nearest

        if found := re.match(r"unrecognized arguments: (--[\w-]+)", message):
            return nearest(found[1], self._option_string_actions)
        if found := re.match(r"argument (\S+): invalid choice: '(.*?)' ", message):
            names = found[1].split("/")
            action = next((one for one in self._actions if {*one.option_strings, one.dest} & {*names}), None)
            return nearest(found[2], map(str, action.choices or ()) if action is not None else ())
        return ""


def ignore_further_interrupts() -> None:
    """Let nothing disturb the end that an interrupt has begun."""
    import signal

    with contextlib.suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _write(stream: IO[str], text: str) -> None:
    """Write what the stream's encoding cannot say as escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def print_text(text: str) -> None:
    """Write to standard output, unless whoever started the program closed it."""
    if sys.stdout is None:
        return
    try:
        _write(sys.stdout, text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"standard output cannot be written: {error.strerror or error}") from error


def print_bytes(data: bytes) -> None:
    """Write to standard output as `print_text` does, but what are bytes already."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"standard output cannot be written: {error.strerror or error}") from error


def complain(text: str) -> None:
    """Write to standard error, every line behind the program's name."""
    if sys.stderr is None:
        return
    with contextlib.suppress(OSError):  # there is nowhere left to say so
        _write(sys.stderr, "\n".join(f"{PROGRAM}: {printable(line)}" for line in text.split("\n")) + "\n")


def end_on_termination() -> None:
    """Let SIGTERM and SIGHUP run what ends the model's process: by default they would end this one alone.

    A SIGHUP that is ignored stays so, as nohup wants it.
    """
    import signal

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    with contextlib.suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGTERM, end)
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, end)


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether somebody looks at a stream, which may be closed."""
    return stream is not None and stream.isatty()


def is_interactive() -> bool:
    """Whether somebody can be asked."""
    return is_terminal(sys.stdin) and is_terminal(sys.stdout)


def ask(question: str) -> str:
    """What somebody answers; nothing at the end of the input."""
    print_text(question)
    return "" if sys.stdin is None else sys.stdin.readline().strip()


def require_working_folder() -> None:
    """Raise `UsageError` where the working folder is gone."""
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(f"the working folder is gone: {error.strerror or error}") from error


def require_writable(files: Iterable[str | None]) -> None:
    """Raise `UsageError` where a report has no place to go to, before the work is done whose result it is."""
    for file in files:
        if file is None:
            continue
        folder = os.path.dirname(os.path.realpath(file))
        reason = "there is no such folder" if not os.path.isdir(folder) else ""
        reason = reason or ("this is a folder" if os.path.isdir(file) else "")
        if not reason and not os.path.exists(file) and not os.access(folder, os.W_OK | os.X_OK):
            reason = "nothing may be written in its folder"
        if reason:
            raise UsageError(f"{file}: the report cannot be written: {reason}")


def deliver(text: str, file: str | None, roots: Iterable[str] = ()) -> None:
    """Write a report to a file, or to standard output where there is none.

    Raises:
        UsageError: if it cannot be written, or if a link leads out of one of these projects or that of the working
            folder: whoever wrote the project would choose what is replaced.
    """
    if file is None:
        print_text(text)
        return
    if leads_out(file, trees_around(roots)):
        real = os.path.realpath(file)
        raise UsageError(f"{file}: the report cannot be written: this is a link out of the project, to {real}")
    data = text.encode("utf-8", "backslashreplace")
    try:
        write_file(file, data)
    except OSError as error:
        raise UsageError(f"{file}: the report cannot be written: {error.strerror or error}") from error


class PhaseProgress:
    """What the worker is doing, on the terminal, for as long as it runs."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.task: Any = None

    def __call__(self, phase: str) -> None:
        """Show the phase."""
        if self.bar is None:
            from rich.console import Console
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = SpinnerColumn("line"), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task("")
        self.bar.reset(self.task, description=printable(phase))

    def stop(self) -> None:
        """Take the line away."""
        if self.bar is not None:
            self.bar.stop()


def phase_progress(quiet: bool) -> PhaseProgress | None:
    """What shows phases to somebody who looks at standard error and does not want quiet."""
    return None if quiet or not _is_watched() else PhaseProgress()


class FileProgress:
    """How many files are done, in a line on the terminal.

    It has no thread of its own: the processes of a run are forked only while there is just one.
    """

    def __init__(self) -> None:
        self.clock = monotonic
        self.next = monotonic() + _PATIENCE
        self.read = 0
        self.line = ""

    def __call__(self, done: int, total: int) -> None:
        """Draw the line anew, unless it was drawn just now."""
        self.read += not done
        if (now := self.clock()) < self.next:
            return
        self.next = now + _REDRAWN
        line = f"Linting: {done} of {total} files" if done else f"Reading: {self.read} files"
        self._draw(line[: (_columns_of(sys.stderr) or 80) - 1])

    def stop(self) -> None:
        """Take the line away."""
        self._draw("")

    def _draw(self, line: str) -> None:
        if sys.stderr is None or line == self.line:
            return
        with contextlib.suppress(OSError):
            _write(sys.stderr, f"\r{' ' * len(self.line)}\r{line}")
        self.line = line


def file_progress(quiet: bool) -> FileProgress | None:
    """What shows files to somebody who looks at standard error and does not want quiet."""
    return None if quiet or not _is_watched() else FileProgress()


def _is_watched() -> bool:
    """Whether somebody looks at standard error as it is written: the terminal of a CI server is a log."""
    is_log = os.environ.get("TERM") == "dumb" or os.environ.get("CI", "").lower() not in ("", "0", "false")
    return is_terminal(sys.stderr) and not is_log


def width() -> int | None:
    """The columns of the terminal that standard output goes to, as COLUMNS or it says; None for a pipe or a file."""
    if not is_terminal(sys.stdout):
        return None
    stated = os.environ.get("COLUMNS", "")
    return int(stated) if stated.isascii() and stated.isdigit() and int(stated) else _columns_of(sys.stdout)


def _columns_of(stream: IO[str] | None) -> int | None:
    """How wide the terminal of a stream is, None where that cannot be told."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream is not None else None
    except (OSError, ValueError):
        return None


def split_words(text: str) -> list[str]:
    """An option's words, which commas separate."""
    return [word.strip() for word in text.split(",") if word.strip()]


def number(name: str, read: Callable[[str], _Number], allows: Callable[[_Number], bool]) -> Callable[[str], _Number]:
    """What reads an option's value, which argparse calls `name`: ValueError for one that is not allowed."""

    def value(text: str) -> _Number:
        found = read(text)
        if not allows(found):
            raise ValueError
        return found

    value.__name__ = name
    return value


seconds = number("number of seconds", float, lambda found: 0 < found < float("inf"))
gibibytes = number("number of GiB", float, lambda found: 0 <= found < float("inf"))


def is_colored(option: str) -> bool:
    """Whether standard output gets colours, by the value of ``--color``."""
    if option != "auto":
        return option == "always"
    return is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
