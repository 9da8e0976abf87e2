"""Which report goes where: ``--output-format`` and ``--output-file`` as they follow each other on the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from .console import UsageError

_FORMAT, _FILE = "--output-format", "--output-file"


class OutputError(UsageError):
    """The options make no sense together; the text says why."""


class Output(NamedTuple):
    """A report; without a file it goes to standard output, which ``-`` stands for on the command line."""

    format: str
    file: str | None


class Given(argparse._AppendAction):
    """Collects both options with their values, in their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Append the option and its value."""
        setattr(namespace, self.dest, (*getattr(namespace, self.dest), (self.option_strings[0], values)))


def pair(given: Sequence[tuple[str, str]], configured: str) -> tuple[Output, ...]:
    """The reports to write, in order.

    A single format and a single file belong together in either order; a lone file takes the configured format.
    Of several formats each takes the file that follows it, and at most one goes without.

    Args:
        given: options with their values, as collected by `Given`.
        configured: the format where none is given.

    Raises:
        OutputError: if it is not clear what goes where.
    """
    if (_FILE, "") in given:
        raise OutputError(f"{_FILE}: name a file, or - for standard output")
    formats = [value for option, value in given if option == _FORMAT]
    files = [value for option, value in given if option == _FILE]
    if len(formats) <= 1 and len(files) <= 1:
        return (Output(formats[0] if formats else configured, _named(files[0]) if files else None),)
    outputs: list[Output] = []
    for option, value in given:
        if option == _FORMAT:
            outputs.append(Output(value, None))
        elif not outputs or outputs[-1].file is not None:
            raise OutputError(f"{_FILE} {value}: with several reports each file follows the {_FORMAT} it is for")
        else:
            outputs[-1] = Output(outputs[-1].format, _named(value))
    _require_apart(outputs)
    return tuple(outputs)


def _named(file: str) -> str | None:
    return None if file == "-" else file


def _require_apart(outputs: Sequence[Output]) -> None:
    loose = [output.format for output in outputs if output.file is None]
    if len(loose) > 1:
        reason = "only one report can go to standard output"
        raise OutputError(f"{_FORMAT} {', '.join(loose)}: {reason}: give each other one a file with {_FILE}")
    seen: set[str] = set()
    for output in outputs:
        if output.file is not None:
            path = os.path.realpath(output.file)
            if path in seen and not _is_stream(path):
                raise OutputError(f"{_FILE} {output.file}: two reports cannot go to one file")
            seen.add(path)


def _is_stream(path: str) -> bool:
    """A terminal or another device that takes one report after the other."""
    return os.path.exists(path) and not os.path.isfile(path)
