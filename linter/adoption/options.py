"""What a project does that cannot mend everything at once: a baseline, a revision to compare with, written comments."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..result import Result
    from ..settings.config import Config

_ADD_NOQA = "--add-noqa"


class AdoptionError(Exception):
    """The options make no sense, or cannot be followed; the text says why."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to the parser of the command line."""
    group = parser.add_argument_group("known findings", "For projects that cannot mend everything at once.")
    add = group.add_argument
    add("--baseline", metavar="FILE", help="hide the findings that this file holds, and say how many of them are left")
    add("--no-baseline", dest="baseline", action="store_const", const="", help="show those of the configured one, too")
    action = group.add_mutually_exclusive_group()
    action.add_argument("--write-baseline", action="store_true", help="put what is found into the file of --baseline")
    action.add_argument("--prune-baseline", action="store_true", help="take out of it what is not found any more")
    add("--diff-base", metavar="REV", help="report only what is new since a git revision; REV... is where HEAD left it")
    add(
        _ADD_NOQA,
        metavar="REASON",
        help="write a comment that suppresses it to the line of every finding; REASON, behind `=`, says why",
    )


def spelled(words: Sequence[str]) -> list[str]:
    """The words of a command line in which ``--add-noqa`` takes no other word for its reason."""
    return [f"{word}=" if word == _ADD_NOQA else word for word in words]


def require(options: argparse.Namespace, config: Config) -> None:
    """Look at the options before anything is linted.

    Raises:
        AdoptionError: if they make no sense.
    """
    writing = [name for name in ("write_baseline", "prune_baseline") if getattr(options, name)]
    option = f"--{writing[0].replace('_', '-')}" if writing else None
    if option is not None and not _baseline(options, config):
        raise AdoptionError(f"{option}: name the file with --baseline, or with `baseline` in the configuration")
    if options.add_noqa is not None:
        option = option or _ADD_NOQA
    if option is not None and "-" in options.paths:
        raise AdoptionError(f"{option} is about files, and cannot be given with `-`, which reads standard input")
    if options.add_noqa:
        from .suppression_writer import why_no_reason

        if (why := why_no_reason(options.add_noqa)) is not None:
            raise AdoptionError(f"{_ADD_NOQA}: this reason cannot be written: {why}")


def _baseline(options: argparse.Namespace, config: Config) -> str:
    """The file, or nothing."""
    return str((config.baseline if options.baseline is None else options.baseline) or "")


def adopt(
    result: Result, options: argparse.Namespace, config: Config, *, jobs: int = 1, cache: Path | None = None
) -> tuple[Result, list[str], bool]:
    """The result with what is left of its findings, what else is to be said, and whether everything could be written.

    Raises:
        AdoptionError: if the baseline or the revision cannot be used.
    """
    if file := _baseline(options, config):
        from .baseline import KEEP, PRUNE, WRITE, BaselineError, hold

        action = WRITE if options.write_baseline else PRUNE if options.prune_baseline else KEEP
        try:
            result = hold(result, file, action)
        except BaselineError as error:
            raise AdoptionError(str(error)) from error
    if options.diff_base is not None:
        from .diff_base import DiffBaseError, new_since

        try:
            result = new_since(result, options.diff_base, config, jobs=jobs, cache=cache)
        except DiffBaseError as error:
            raise AdoptionError(str(error)) from error
    damage = [] if result.baseline is None else list(result.baseline.damage)
    if options.add_noqa is None:
        return result, damage, True
    from .suppression_writer import suppress_findings

    result, written = suppress_findings(result, options.add_noqa)
    said = f"findings suppressed by comments: {written.findings}; files written: {written.files}"
    return result, [*damage, *written.failed, *written.left, said], not written.failed
