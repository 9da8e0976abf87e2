"""``migrate-lint resume``: whether a training loop that was interrupted goes on as if it had not been.

Exit status: 0 equal, 1 something was lost, 2 a usage error, 3 not compared, 4 the loop could not be run.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from ..finding import Target
from ..settings.config import TARGETS
from .console import (
    PROGRAM,
    Parser,
    UsageError,
    deliver,
    end_on_termination,
    gibibytes,
    is_colored,
    number,
    phase_progress,
    require_working_folder,
    require_writable,
    seconds,
)
from .outputs import Given, pair

_TIMEOUT = 300.0
"""Seconds for a run of the loop."""
_MEMORY_LIMIT = 8.0
"""GiB."""
_HOW = "exception"
_STATUS = "Exit status: 0 equal, 1 something was lost, 2 a usage error, 3 not compared, 4 the loop could not be run."
_steps = number("number of steps", int, lambda found: found >= 1)


def resume(words: Sequence[str]) -> int:
    """Run the command with the words behind ``resume``, and return its exit status.

    Raises:
        UsageError: if the words make no sense, or cannot be followed.
    """
    options = parser().parse_intermixed_args(words)
    require_working_folder()
    if len(options.paths) != 1:
        given = "no loop" if not options.paths else f"{len(options.paths)} of them"
        raise UsageError(f"resume takes one loop, such as train.py:loop, and got {given}")
    end_on_termination()
    return _run(options)


def parser() -> argparse.ArgumentParser:
    """The parser of the command."""
    from ...runtime_checks.resuming import HOWS

    made = Parser(
        prog=f"{PROGRAM} resume",
        usage=f"{PROGRAM} resume [options] LOOP",
        description="Interrupt a training loop, resume it in a new process, and name the state that it lost.",
        epilog=_STATUS,
        allow_abbrev=False,
    )
    add = made.add_argument
    add(
        "paths",
        nargs="*",
        metavar="LOOP",
        help="the function that trains, saves and restores: train.py:loop; this executes it and what it imports",
    )
    add("--every", metavar="K", type=_steps, help="interrupt behind every K-th step; a quarter of the run by default")
    how = f"how to interrupt, {_HOW} by default; `saving` kills in the middle of a save; may be repeated"
    add("--how", choices=HOWS, action="append", help=how)
    add("--steps", metavar="N", type=_steps, help="end every run behind N steps; by default where the loop ends")
    other = "another loop, as of a changed model, that goes on from the checkpoints: what it restores of them is told"
    add("--resume-with", metavar="LOOP", help=other)
    add("--target", choices=TARGETS, help="the Keras of the loop; auto reads it off the project's requirements")
    add("--python", metavar="PATH", help="the interpreter that has the loop's TensorFlow; this one by default")
    add("--timeout", metavar="SECONDS", type=seconds, help=f"for each run of the loop; the default is {_TIMEOUT:g}")
    limit = f"for the process that runs it, 0 for none; the default is {_MEMORY_LIMIT:g}"
    add("--memory-limit", metavar="GIB", type=gibibytes, help=limit)
    report: dict[str, Any] = {"dest": "outputs", "action": Given, "default": ()}
    shown = "how the report is shown, text by default; may be repeated"
    add("--output-format", choices=("text", "json"), help=shown, **report)
    written = "write the report of the format before it there; `-` is standard output"
    add("--output-file", metavar="FILE", help=written, **report)
    add("--color", choices=("auto", "always", "never"), default="auto", help="auto colours on a terminal only")
    add("-q", "--quiet", action="store_true", help="show no progress")
    return made


def _run(options: argparse.Namespace) -> int:
    from ...runtime_checks import resuming
    from ..source.discovery import marked_root
    from .verify_command import Project

    (text,) = options.paths
    root = marked_root(os.getcwd())
    outputs = pair(options.outputs, "text")
    require_writable(output.file for output in outputs)
    progress = phase_progress(options.quiet)
    try:
        located = resuming.locate_loop(text, root)
        project = Project(located.file)
        request = resuming.Request(
            loop=text,
            every=options.every,
            hows=tuple(dict.fromkeys(options.how or (_HOW,))),
            steps=options.steps,
            resume_with=options.resume_with,
            target=Target(options.target) if options.target in list(Target) else None,
            likely=project.target(),
            python=options.python,
            timeout=options.timeout or _TIMEOUT,
            memory_limit=_MEMORY_LIMIT if options.memory_limit is None else options.memory_limit or None,
            roots=tuple(dict.fromkeys(found for found in (project.root, root) if found)),
        )
        report = resuming.run(request, progress)
    except resuming.ResumeUsageError as error:
        raise UsageError(str(error)) from error
    finally:
        if progress is not None:
            progress.stop()
    from ...runtime_checks.comparison.resume.rendering import render

    colored = is_colored(options.color)
    for output in outputs:
        paint = colored and (output.file is None or options.color == "always")
        deliver(render(output.format, report, paint), output.file)
    return report.status
