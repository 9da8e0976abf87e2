"""``migrate-lint verify``: whether two programs compute the same, and what else is done with what they recorded.

Exit status: 0 equal, 1 different, 2 a usage error, 3 vacuous or not comparable, 4 a side crashed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..finding import Finding, Target
from ..settings.config import TARGETS, load
from .console import (
    PROGRAM,
    Parser,
    UsageError,
    complain,
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
from .outputs import Given, Output, pair

if TYPE_CHECKING:
    from ...runtime_checks import verifying
    from ...runtime_checks.comparison.report import Report
    from ...runtime_checks.verifying import Again

_TIMEOUT = 300.0
"""Seconds for a scenario or a training step."""
_MEMORY_LIMIT = 8.0
_TAP_LIMIT = 2.0
"""GiB."""
_STEPS, _SEED, _POLICY = 3, 42, "noise"
_runs = number("number of runs", int, lambda found: found >= 1)
_steps = number("number of steps", int, lambda found: found >= 1)
_RECORDING = (
    "steps", "seed", "device", "precision", "strategy", "target", "python", "python_tf1", "timeout", "memory_limit",
    "tap_limit", "tensorboard", "oracle", "find_cause", "seed_bugs", "budget", "budget_seconds"
)


def verify(words: Sequence[str]) -> int:
    """Run the command with the words behind ``verify``, and return its exit status.

    Raises:
        UsageError: if the words make no sense, or cannot be followed.
    """
    options = parser().parse_intermixed_args(words)
    require_working_folder()
    doing = _doing(options)
    end_on_termination()
    return doing(options)


def parser() -> argparse.ArgumentParser:
    """The parser of the command."""
    from ...runtime_checks.comparison.reporters import FORMATS
    from ...runtime_checks.comparison.rungs import RUNGS

    rungs = ", ".join(rung.name for rung in RUNGS)
    made = Parser(
        prog=f"{PROGRAM} verify",
        usage=f"{PROGRAM} verify [options] PAIR\n"
        f"       {PROGRAM} verify --compare RUN | TF1 TF2\n"
        f"       {PROGRAM} verify --init FILE [--tf1 FILE[:NAME] [--tf2 FILE[:NAME]]]\n"
        f"       {PROGRAM} verify --gen-test RUN [--output FILE]",
        description="Run a TF1 program and the TF2 program that it became, and compare what they compute.",
        epilog="Exit status: 0 equal, 1 different, 2 a usage error, 3 vacuous or not comparable, 4 a side crashed.",
        allow_abbrev=False,
    )
    add = made.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PAIR",
        help="the file with the pair: pair.py or pair.py:name; this executes it and what it imports",
    )
    add("--until", metavar="RUNG", help=f"the last rung to climb, by name or number; all by default: {rungs}")
    add("--policy", metavar="POLICY", help=f"what may differ: guide, noise or a file; {_POLICY} by default")
    report: dict[str, Any] = {"dest": "outputs", "action": Given, "default": ()}
    add("--output-format", choices=FORMATS, help="how the report is shown, text by default; may be repeated", **report)
    written = "write the report of the format before it there; `-` is standard output"
    add("--output-file", metavar="FILE", help=written, **report)
    add("--color", choices=("auto", "always", "never"), default="auto", help="auto colours on a terminal only")
    add("-q", "--quiet", action="store_true", help="show no progress")
    _add_recording(made)
    _add_trying(made)
    _add_other(made)
    return made


def _add_recording(made: argparse.ArgumentParser) -> None:
    from ...runtime_checks.verifying import PRECISIONS

    add = made.add_argument_group("running both sides").add_argument
    add("--steps", metavar="N", type=_steps, help=f"training steps; {_STEPS} by default")
    add("--seed", metavar="N", type=int, help=f"of all randomness; {_SEED} by default")
    add("--oracle", action="store_true", help="also compute both sides in float64: is it rounding?")
    add(
        "--device",
        metavar="DEVICE",
        action="append",
        help="a logical device such as GPU:0: both sides run on the first, and TF2 again on each further one (rung 9a)",
    )
    add(
        "--precision",
        choices=PRECISIONS,
        action="append",
        help="run TF2 again under this policy of Keras, and hold it against float32 (rung 9c); may be repeated",
    )
    add(
        "--strategy",
        metavar="STRATEGY",
        action="append",
        help="train TF2 again under a strategy, such as mirrored:2, and hold it against one device (rung 9b)",
    )
    add("--target", choices=TARGETS, help="the Keras of the TF2 side; auto reads it off the project's requirements")
    add("--python", metavar="PATH", help="the interpreter that has the TF2 side's TensorFlow; this one by default")
    add("--python-tf1", metavar="PATH", help="that of the TF1 side, such as a real TF 1.15; --python by default")
    add(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        help=f"for each scenario and each training step; the default is {_TIMEOUT:g}",
    )
    add(
        "--memory-limit",
        metavar="GIB",
        type=gibibytes,
        help=f"for each side's process, 0 for none; the default is {_MEMORY_LIMIT:g}",
    )
    add(
        "--tap-limit",
        metavar="GIB",
        type=gibibytes,
        help=f"for the layer outputs and taps that a side keeps; the default is {_TAP_LIMIT:g}",
    )
    add(
        "-o",
        "--output",
        metavar="FOLDER",
        help="keep both recordings there: a folder that is new, empty or an earlier run's",
    )
    add(
        "--tensorboard",
        metavar="FOLDER",
        help="also time and trace both sides; write that and summaries there for TensorBoard, a run for each side",
    )


def _add_trying(made: argparse.ArgumentParser) -> None:
    from ...runtime_checks.trying import RUNS, SECONDS

    group = made.add_argument_group("running the TF2 side again, with known differences of TF1 and TF2 changed in it")
    either = group.add_mutually_exclusive_group().add_argument
    either("--find-cause", action="store_true", help="if the pair differs, search for the lines to change, and to what")
    either("--seed-bugs", action="store_true", help="if the pair is equal, say which planted bugs would be caught")
    add = group.add_argument
    add("--budget", metavar="RUNS", type=_runs, help=f"runs of the TF2 side for that; {RUNS} by default")
    add("--budget-seconds", metavar="SECONDS", type=seconds, help=f"seconds for that; {SECONDS:g} by default")


def _add_other(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("instead of running them")
    add = group.add_mutually_exclusive_group().add_argument
    add("--compare", action="store_true", help="compare what was recorded: a run, or the folders of both sides")
    add("--init", metavar="FILE", help="write the beginning of a pair, which runs as it is, into a new file")
    add("--gen-test", metavar="FOLDER", help="write a unit test that repeats a run, to --output or standard output")
    add = group.add_argument
    add("--tf1", metavar="PROGRAM", help="with --init: the TF1 program to read, train.py or train.py:function")
    add("--tf2", metavar="PROGRAM", help="with --init --tf1: what makes the TF2 side, new.py or new.py:model")


def _doing(options: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """What is asked for, once the options fit it."""
    if (options.tf1 and not options.init) or (options.tf2 and not options.tf1):
        raise UsageError("--tf1 is for --init alone, and --tf2 for both of them")
    for name, what in (("compare", _compare), ("init", _init), ("gen_test", _generate)):
        if getattr(options, name):
            _refuse(options, f"--{name.replace('_', '-')}", ("output",) if name == "gen_test" else ())
            return what
    if len(options.paths) != 1:
        given = "no pair" if not options.paths else f"{len(options.paths)} of them"
        raise UsageError(f"verify takes one pair, such as pair.py, and got {given}")
    limits = [name for name in ("budget", "budget_seconds") if getattr(options, name) is not None]
    if limits and not (options.find_cause or options.seed_bugs):
        given = " and ".join(f"--{name.replace('_', '-')}" for name in limits)
        raise UsageError(f"{given}: for --find-cause and --seed-bugs alone")
    return _run


def _refuse(options: argparse.Namespace, option: str, but: Sequence[str]) -> None:
    values = {name: getattr(options, name) for name in (*_RECORDING, "output") if name not in but}
    if option != "--compare":
        values |= {name: getattr(options, name) for name in ("until", "policy")} | {
            "output_format": options.outputs or None
        }
        if options.paths:
            raise UsageError(f"{option} takes no {', '.join(options.paths)}")
    asked = [name for name, value in values.items() if value is not None and value is not False]
    given = [f"--{name.replace('_', '-')}" for name in asked]
    if given:
        raise UsageError(f"{', '.join(given)}: nothing is run with {option}")


# -- a run -------------------------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    from ...runtime_checks import verifying
    from ..source.discovery import marked_root

    (text,) = options.paths
    root = marked_root(os.getcwd())
    outputs = pair(options.outputs, "text")
    require_writable(output.file for output in outputs)
    progress = phase_progress(options.quiet)
    try:
        located, _ = verifying.locate_pair(text, root)
        project = Project(located.file)
        request = replace(
            pair_request(text, project, options),
            until=options.until,
            policy=options.policy or _POLICY,
            steps=options.steps or _STEPS,
            seed=_SEED if options.seed is None else options.seed,
            tap_limit=_TAP_LIMIT if options.tap_limit is None else options.tap_limit,
            output=options.output,
            tensorboard=options.tensorboard,
            oracle=options.oracle,
            devices=tuple(options.device or ()),
            precisions=tuple(options.precision or ()),
            strategies=tuple(options.strategy or ()),
        )
        then = _then(options)
        fields: dict[str, dict[str, Any]] = {} if then is None else {"tf2": {"mutations": []}}
        lint = partial(project.findings, request.target or request.likely)
        report = verifying.run(request, lint, progress, then, fields)
    except verifying.VerifyUsageError as error:
        raise UsageError(str(error)) from error
    finally:
        if progress is not None:
            progress.stop()
    return _show(report, outputs, options)


def pair_request(text: str, project: Project, options: argparse.Namespace) -> verifying.Request:
    """What is asked for by the options that all who run pairs have in common."""
    from ...runtime_checks import verifying
    from ..source.discovery import marked_root

    root = marked_root(os.getcwd())
    return verifying.Request(
        pair=text,
        target=Target(options.target) if options.target in list(Target) else None,
        likely=project.target(),
        because=project.reason,
        python=options.python,
        python_tf1=options.python_tf1,
        timeout=options.timeout or _TIMEOUT,
        memory_limit=_MEMORY_LIMIT if options.memory_limit is None else options.memory_limit or None,
        roots=tuple(dict.fromkeys(found for found in (project.root, root) if found)),
    )


def _then(options: argparse.Namespace) -> Callable[[Report, Again], Report] | None:
    """What is done with the TF2 side once both sides are compared."""
    from ...runtime_checks import trying

    what = trying.find_cause if options.find_cause else trying.seed_bugs if options.seed_bugs else None
    if what is None:
        return None
    return partial(what, runs=options.budget or trying.RUNS, seconds=options.budget_seconds or trying.SECONDS)


class Project:
    """What the project around a file says: the Keras that it is moved to, and the findings of the rules."""

    def __init__(self, file: str | None) -> None:
        from ..registry.registry import configure
        from ..run.imports import root_around

        self._file = file
        self.reason = ""
        """What `target` was read off."""
        self.root = None if file is None else root_around(file)
        self._config = load(os.getcwd() if file is None else os.path.dirname(file))
        configure(self._config, False)

    def target(self) -> Target | None:
        """As it is configured, or read off the requirements; None where nothing speaks for either."""
        from ..settings.target import NO_EVIDENCE, decide_target

        if self.root is None:
            return None
        target, self.reason = decide_target(Path(self.root), self._config.target)
        return None if self.reason == NO_EVIDENCE else target

    def findings(self, target: Target | None, ran: Sequence[str]) -> Sequence[Finding]:
        """In the pair's file, in the project's files that it imports, and in others that `ran`; none of a module."""
        from ..run.cache import default_folder
        from ..run.imports import reached_from
        from ..run.pipeline import lint

        if self._file is None:
            return ()
        config = self._config if target is None else replace(self._config, target=target.value)
        files = dict.fromkeys([self._file, *reached_from(self._file), *filter(os.path.isfile, ran)])
        return lint([*files], config, cache=default_folder(), root=self.root).findings


# -- without a run -----------------------------------------------------------------------------------------------------


def _compare(options: argparse.Namespace) -> int:
    from ...runtime_checks import verifying

    if len(options.paths) not in (1, 2):
        raise UsageError("--compare takes the folder of a run, or those of both sides, the TF1 side's first")
    outputs = pair(options.outputs, "text")
    require_writable(output.file for output in outputs)
    try:
        report = verifying.compare(*options.paths, policy=options.policy or _POLICY, until=options.until)
    except verifying.VerifyUsageError as error:
        raise UsageError(str(error)) from error
    return _show(report, outputs, options)


def _init(options: argparse.Namespace) -> int:
    from ...runtime_checks.pair_template import TEMPLATE

    if os.path.isdir(options.init):
        raise UsageError(f"--init {options.init}: it is a folder: give the name of the file that the pair is to be in")
    if os.path.lexists(options.init):
        raise UsageError(f"--init {options.init}: there is such a file, which is left as it is")
    text, told = (TEMPLATE, []) if options.tf1 is None else _read_programs(options)
    try:
        with open(options.init, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"--init {options.init}: there is such a file, which is left as it is") from error
    except OSError as error:
        raise UsageError(f"--init {options.init}: it cannot be written: {error.strerror or error}") from error
    for line in told:
        complain(line)
    complain(f"{options.init} is written; see what it does with: {PROGRAM} verify {options.init}")
    return 0


def _read_programs(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The text of a pair of the programs that were named, and what is told of it."""
    from ...runtime_checks.unfilled import unfilled_in
    from ..pairs.reading import NotReadError, read_tf1, read_tf2_side
    from ..pairs.writing import written

    try:
        file, name = _place(options.tf1)
        target = Project(file).target() or Target.KERAS3
        found = read_tf1(file, name, target)
        tf2_file, tf2_name = ("", None) if options.tf2 is None else _place(options.tf2)
        tf2 = None if options.tf2 is None else read_tf2_side(tf2_file, tf2_name, target)
    except NotReadError as error:
        raise UsageError(str(error)) from error
    text = written(found, tf2, tf2_file, os.path.abspath(options.init))
    told = [f"{options.tf1}: read as a program of kind {found.kind}, built {found.built}"]
    beside = ([], []) if tf2 is None else (tf2.told, tf2.not_understood)
    told += [f"  found           {line}" for line in [*found.told, *beside[0]]]
    told += [f"  not understood  {line}" for line in [*found.not_understood, *beside[1]]]
    told += [f"  to fill in      {options.init}:{line.removeprefix('line ')}" for line in unfilled_in(text)]
    return text, told


def _place(text: str) -> tuple[str, str | None]:
    from ...runtime_checks import verifying
    from ..source.discovery import marked_root

    try:
        located, name = verifying.locate_pair(text, marked_root(os.getcwd()))
    except verifying.VerifyUsageError as error:
        raise UsageError(str(error)) from error
    if located.file is None:
        raise UsageError(f"{text}: there is no such file")
    return located.file, name


def _generate(options: argparse.Namespace) -> int:
    from ...runtime_checks import verifying

    output = options.output
    if output is not None and os.path.lexists(output):
        raise UsageError(f"--output {output}: there is such a file, which is left as it is")
    try:
        text = verifying.generated_test(options.gen_test, os.path.dirname(os.path.abspath(output)) if output else None)
    except verifying.VerifyUsageError as error:
        raise UsageError(f"--gen-test {options.gen_test}: {error}") from error
    deliver(text, output)
    return 0


# -- reports -----------------------------------------------------------------------------------------------------------


def _show(report: Report, outputs: Sequence[Output], options: argparse.Namespace) -> int:
    from ...runtime_checks.comparison.reporters import render

    colored = is_colored(options.color)
    for output in outputs:
        paint = colored and (output.file is None or options.color == "always")
        deliver(render(output.format, report, paint), output.file)
    return report.status
