"""The command line: arguments in, a report and an exit status out.

Exit status: 0 clean, 1 findings, 2 a usage, configuration or internal error.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import sleep
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from ..adoption.options import AdoptionError, add_options, adopt, require, spelled
from ..finding import Via
from ..reporters import Paint, coverage, printable, summary, version
from ..reporters.causes import first_steps, most_told, statistics
from ..reporters.formats import module_of
from ..reporters.wrapping import wrapped
from ..settings.config import FORMATS, SEVERITIES, TARGETS, Config, ConfigError, load, rebased, resolve, with_nested
from ..source.discovery import PathError
from .console import (
    PROGRAM,
    Parser,
    UsageError,
    complain,
    deliver,
    end_on_termination,
    file_progress,
    gibibytes,
    ignore_further_interrupts,
    is_colored,
    is_terminal,
    phase_progress,
    print_bytes,
    print_text,
    require_working_folder,
    require_writable,
    seconds,
    split_words,
    width,
)
from .fixing import add_fix_options, fixes_asked_for, require_fixable
from .outputs import Given, Output, pair
from .team import add_team_options, for_teams, require_team, with_team

if TYPE_CHECKING:
    from ...runtime_checks.session import NotebookCode, Request
    from ..finding import Target
    from ..result import Result
    from ..run.fixing import Fixed, Place

_MOST_JOBS = 61
"""Processes; Windows waits for no more at once, and more only wait for each other."""
_COMMANDS = {"check", "rule", "verify", "resume", "server"}
_SHELLS = ("bash", "zsh", "fish")
_WATCHED = 0.5
"""Seconds between two looks at the files of --watch."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; nothing is raised."""
    try:
        try:
            status = _dispatch(list(sys.argv[1:] if argv is None else argv))
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        print_text("")
        return status
    except BrokenPipeError:
        # Whoever read the report has seen enough; closing at exit would write into the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except (UsageError, ConfigError, PathError, AdoptionError) as error:
        complain(str(error))
    except KeyboardInterrupt:
        ignore_further_interrupts()
        complain("interrupted")
    except Exception as error:
        complain(f"internal error: {type(error).__name__}: {error}".replace("\n", " "))
    return 2


def _dispatch(words: list[str]) -> int:
    command, rest = (words[0], words[1:]) if words[:1] and words[0] in _COMMANDS else ("check", words)
    if rest == words and words and re.fullmatch(r"[a-z]+", words[0]) and not os.path.lexists(words[0]):
        from ..source.suppressions import nearest

        if meant := nearest(words[0], _COMMANDS):
            raise UsageError(f"{words[0]}: no such file or folder, and no command{meant}")
    if command == "verify":
        from .verify_command import verify

        return verify(rest)
    if command == "resume":
        from .resume_command import resume

        return resume(rest)
    if command == "server":
        return _serve(rest)
    return _rule(rest) if command == "rule" else _check(rest)


def _serve(words: list[str]) -> int:
    _server_parser().parse_args(words)
    try:
        from .language_server import serve
    except ModuleNotFoundError as error:
        raise UsageError(f"server: {error}: `pip install migrate-lint[lsp]` brings what it needs") from error
    serve()
    return 0


def _check(words: list[str]) -> int:
    options = _parsed(words)
    if options.watch:
        return _watch(words, options)
    stdin_name = _stdin_name(options)
    require_working_folder()
    proves = _to_prove(options)
    target = _runtime_target(options)
    named = target or proves
    paths: Sequence[str] = options.paths or ([named] if named is not None else ["."])
    config = _configured(options, _common_folder([stdin_name] if stdin_name is not None else paths))
    jobs = min(config.jobs or _cores(), _MOST_JOBS)
    outputs = pair(options.outputs, config.output_format)
    if options.show_settings:
        print_text("".join(f"{line}\n" for line in _settings(config, jobs, outputs)))
        return 0
    if options.show_files:
        return _show_files(paths, config, options)
    if options.explain_target:
        return _explain_target(paths, config, jobs, options)
    require(options, config)
    require_fixable(options)
    require_writable(output.file for output in outputs)
    wanted = [(output, module_of(output.format)) for output in outputs]
    require_team(options, [reporter for _, reporter in wanted])
    if options.verbose:
        complain(f"configuration: {_named(config)}")
    from ..run.cache import troubles
    from ..run.pipeline import lint

    root = None
    if target is not None and not options.paths:
        root, paths = _reached(target, config)
    elif proves is not None and not options.paths:
        root, _ = _reached(proves, config)
    data = None if stdin_name is None else (stdin_name, _standard_input())
    cache = None if options.no_cache else _cache_folder()
    fallback = None if options.runtime is None or config.target != "auto" else _interpreters_target(options.python)
    shown = any(getattr(reporter, "SHOWS_FIXES", False) for _, reporter in wanted)
    via = Via(options.via or Via.NATIVE) if fixes_asked_for(options) or shown else None

    def found(unsaved: Mapping[str, bytes], paths: Sequence[str] = paths) -> Result:
        progress = file_progress(options.quiet)
        try:
            return lint(
                paths,
                config,
                jobs=jobs,
                cache=cache,
                force_exclude=options.force_exclude,
                stdin=data,
                progress=progress,
                root=root,
                fallback=fallback,
                unsaved=unsaved,
                fixes=via,
            )
        finally:
            if progress is not None:
                progress.stop()

    def adopted(unsaved: Mapping[str, bytes], paths: Sequence[str] = paths) -> Result:
        return adopt(found(unsaved, paths), options, config, jobs=jobs, cache=cache)[0]

    if fixes_asked_for(options):
        return _fix(options, config, adopted, wanted, stdin_name, proves)
    result = found({})
    if options.runtime is not None:
        result = _run(options, config, result, target)
    result, notes, written = adopt(result, options, config, jobs=jobs, cache=cache)
    for line in (*troubles(), *notes):
        complain(line)
    if options.verbose:
        _tell_configurations(config, [os.path.abspath(path) for path, _ in result.sources.values()])
    _deliver(result, options, config, wanted)
    if not written:
        return 2
    return 0 if options.exit_zero and result.status == 1 else result.status


def _watch(words: list[str], options: argparse.Namespace) -> int:
    """Lint, and again whenever a file or the configuration has changed, until somebody interrupts it."""
    others = {
        "--runtime": options.runtime is not None, "--add-noqa": options.add_noqa is not None,
        "--write-baseline": options.write_baseline, "--prune-baseline": options.prune_baseline,
        "--fix": fixes_asked_for(options), "`-`": "-" in options.paths,
    }  # fmt: skip
    if found := [name for name, given in others.items() if given]:
        raise UsageError(f"--watch lints again and again, and cannot be given with {found[0]}")
    once = [word for word in words if word != "--watch"]
    before: dict[str, int] | None = None
    said = ""
    try:
        while True:
            try:
                now = _stamps(options)
                if now != before:
                    if is_terminal(sys.stdout):
                        print_text("\x1b[2J\x1b[3J\x1b[H")
                    _check(once)
                    complain(f"watching {len(now)} file{'s' if len(now) != 1 else ''}; Ctrl-C ends it")
                before, said = now, ""
            except (ConfigError, PathError) as error:
                if before is None:
                    raise
                if str(error) != said:
                    said = str(error)
                    complain(said)
            sleep(_WATCHED)
    except KeyboardInterrupt:
        return 0


def _stamps(options: argparse.Namespace) -> dict[str, int]:
    """When the files of a run, and its configuration, were last written."""
    from ..run.pipeline import found_files

    paths = options.paths or ["."]
    config = load(_common_folder(paths), file=options.config, isolated=options.isolated)
    if options.config is None and not options.isolated:
        config = with_nested(config, lambda nearer: nearer)
    files = [path for path, _ in found_files(paths, config, options.force_exclude).files]
    settings = [config, *(config.of(os.path.dirname(path)) for path in files)]
    read = (path for one in settings for path in (one.path, *one.extended) if path is not None)
    stamps = {}
    for path in dict.fromkeys((*files, *read)):
        with suppress(OSError):
            stamps[path] = os.stat(path).st_mtime_ns
    return stamps


def _deliver(
    result: Result, options: argparse.Namespace, config: Config, wanted: Sequence[tuple[Output, ModuleType]]
) -> None:
    """Show what was found, in every format that was asked for."""
    colored = is_colored(options.color)
    reporters = [reporter for _, reporter in wanted]
    if for_teams(reporters):
        result, problems = with_team(result, options, config)
        for line in problems:
            complain(line)
    if options.verbose or all(reporter.FOR_PROGRAMS for reporter in reporters):
        said = (*summary(result, Paint(False)), *coverage(result)) if options.verbose else _empty_folders(result)
        for line in said:
            complain(line)
    roots = [project.root for project in result.projects]
    for output, reporter in wanted:
        wraps = output.file is None and getattr(reporter, "WRAPS", False)
        paint = Paint(colored and (output.file is None or options.color == "always"), width() if wraps else None)
        if result.team is not None:
            folder = None if output.file is None else os.path.dirname(os.path.abspath(output.file))
            result = replace(result, team=replace(result.team, folder=folder))
        lines = _report(result, reporter, options, paint)
        if paint.width is not None:
            lines = (part for line in lines for part in wrapped(line, paint.width or 0))
        deliver("".join(f"{line}\n" for line in lines), output.file, roots)


def _fix(
    options: argparse.Namespace,
    config: Config,
    lint: Callable[..., Result],
    wanted: Sequence[tuple[Output, ModuleType]],
    stdin_name: str | None,
    proves: str | None,
) -> int:
    """Apply fixes, write or show them, and report what is left."""
    from ..run.cache import troubles
    from ..run.fixing import fix, write
    from .fixing import diff_of, said, selection

    chosen = selection(options, config)
    if proves is None:
        fixed = fix(lint, chosen)
    else:

        from .proving import prove_fixes

        def fixed_but(paths: Sequence[str], without: frozenset[Place]) -> Fixed:
            return fix(partial(lint, paths=paths), replace(chosen, without=without))

        fixed = prove_fixes(options, config, proves, partial(_model, options), fixed_but)
    damage = () if fixed.result.baseline is None else fixed.result.baseline.damage
    for line in (*troubles(), *damage):
        complain(line)
    failed: list[str] = []
    if options.diff:
        print_text("".join(diff_of(fixed, Paint(is_colored(options.color)))))
    elif stdin_name is not None:
        data = fixed.files[0].now if fixed.files else next(iter(fixed.result.sources.values()))[1]
        print_bytes(data or b"")
    else:
        failed = write(fixed)
    reported = not (options.diff or options.fix_only or stdin_name is not None)
    if reported:
        _deliver(fixed.result, options, config, wanted)
    for line in (*failed, *said(fixed, options, len(failed), reported)):
        complain(line)
    status = fixed.result.status
    if failed or status == 2:
        return 2
    if options.diff:
        return int(bool(fixed.files))
    return 0 if (options.exit_zero or options.fix_only) and status == 1 else status


def _to_prove(options: argparse.Namespace) -> str | None:
    """The file of the pair or model with which fixes are proven, None where none is asked for."""
    if options.prove is None or not fixes_asked_for(options):
        if options.python_tf1 is not None:
            raise UsageError("--python-tf1 is about the pair that --prove runs")
        return None
    from .proving import proven_file

    return proven_file(options)


def _parsed(words: list[str]) -> argparse.Namespace:
    """The options; with ``--runtime``, what follows ``--`` is the program's own, else more paths."""
    own = words[: words.index("--")] if "--" in words else words
    options = _check_parser().parse_intermixed_args(spelled(own))
    if options.runtime is None and own != words:
        options = _check_parser().parse_intermixed_args(spelled(words))
        own = words
    options.arguments = words[len(own) + 1 :]
    return options


def _show_files(paths: Sequence[str], config: Config, options: argparse.Namespace) -> int:
    """Print the files of a run, as its report would name them."""
    from ..run.pipeline import found_files
    from ..source.discovery import display_path

    if options.runtime is not None or "-" in paths:
        raise UsageError("--show-files is about files and folders")
    found = found_files(paths, config, options.force_exclude)
    if options.verbose:
        _tell_configurations(config, [path for path, _ in found.files])
    names = (printable(display_path(path, os.getcwd())) for path, _ in found.files)
    print_text("".join(f"{name}\n" for name in names))
    for folder, reason in found.unreadable:
        complain(f"{folder}: this folder cannot be listed: {reason}")
    return 2 if found.unreadable else 0


def _named(config: Config) -> str:
    """The file of some settings, and what it extends."""
    return ", which extends ".join((config.path or "none", *config.extended))


def _tell_configurations(config: Config, files: Sequence[str]) -> None:
    """Say which nearer files hold for how many of the files of a run."""
    found: dict[str, int] = {}
    for path in files:
        own = config.of(os.path.dirname(path))
        if own.path is not None and own.path != config.path:
            found[_named(own)] = found.get(_named(own), 0) + 1
    for name, number in sorted(found.items()):
        complain(f"configuration of {number} file{'s' if number != 1 else ''}: {name}")


def _explain_target(paths: Sequence[str], config: Config, jobs: int, options: argparse.Namespace) -> int:
    """Say which target was chosen, and why; standard input and runs have none of their own."""
    if options.runtime is not None or "-" in paths:
        raise UsageError("--explain-target is about the projects of files and folders")
    from .explain_target import explain_target

    cache = None if options.no_cache else _cache_folder()
    print_text("".join(f"{line}\n" for line in explain_target(paths, config, jobs, cache)))
    return 0


_PROOF_OPTIONS = ("inputs", "input_shape", "input_dtype", "call", "batch", "step", "python", "timeout", "memory_limit")
_RUN_OPTIONS = (*_PROOF_OPTIONS, "device", "strategy", "trust_runtime")  # fmt: skip
_MEMORY_LIMIT = 8.0
"""GiB that a worker may take unless told otherwise."""
_PHASE_LIMIT = 120.0
"""Seconds, likewise."""


def _runtime_target(options: argparse.Namespace) -> str | None:
    """The file of what is to be run, None where there is none.

    Raises:
        UsageError: if nothing is to be run and the command line says how, or if it cannot be.
    """
    if options.runtime is None:
        asked = [name for name in _RUN_OPTIONS if options.prove is None or name not in _PROOF_OPTIONS]
        values = {f"--{name.replace('_', '-')}": getattr(options, name) for name in asked}
        given = [name for name, value in values.items() if value is not None and value is not False]
        given += ["--target both"] if options.target == "both" else []
        if given:
            raise UsageError(f"{', '.join(given)}: this is about a run of the model, which only --runtime asks for")
        return None
    if "-" in options.paths:
        raise UsageError("--runtime runs files, and cannot be given with `-`, which reads standard input")
    end_on_termination()
    from ...runtime_checks.session import RuntimeUsageError, locate_target
    from ..source.discovery import marked_root

    try:
        file = locate_target(options.runtime, marked_root(os.getcwd()))
    except RuntimeUsageError as error:
        raise UsageError(str(error)) from error
    if file is None and not options.paths:
        raise UsageError(f"--runtime {options.runtime}: this is an installed module: name the PATH to lint, too")
    return file


def _reached(file: str, config: Config) -> tuple[str, list[str]]:
    """The project of a file, and the file with those of the project that it imports and that are not excluded."""
    from ..run.imports import reached_from, root_around
    from ..source.discovery import left_out

    def stays(path: str) -> bool:
        own = config.of(os.path.dirname(path))
        return not left_out(path, own.exclude, own.base)

    return root_around(file), [file, *filter(stays, reached_from(file))]


def _interpreters_target(python: str | None) -> tuple[Target, str]:
    """The target that an interpreter is made for, and the reason for it."""
    from ...runtime_checks.interpreter import InterpreterError, default_target, describe

    try:
        found = describe(python)
    except InterpreterError as error:
        raise UsageError(str(error)) from error
    if not found.tensorflow:
        return default_target(found), "the interpreter has no TensorFlow"
    return default_target(found), f"TensorFlow {found.tensorflow} of the interpreter"


def _targets_to_run(result: Result, root: str | None) -> tuple[Target, ...]:
    """The targets that the run's own project was linted for, or else any of the others; none where none was."""
    own = {project.target for project in result.projects if project.root == root}
    return tuple(sorted(own or {project.target for project in result.projects}))


def _run(options: argparse.Namespace, config: Config, result: Result, file: str | None) -> Result:
    """The result with the verdicts of a run of the model."""
    from ...runtime_checks.session import RuntimeUsageError, run
    from ..run.imports import root_around
    from ..run.verdicts import with_verdicts

    own = None if file is None else root_around(file)
    roots = ([] if own is None else [own]) + [project.root for project in result.projects]
    request = _model(
        options,
        options.runtime,
        _targets_to_run(result, own),
        roots,
        devices=tuple(dict.fromkeys(options.device or ())),
        strategies=tuple(dict.fromkeys(options.strategy or ())),
        notebook=None if file is None else _notebook(file, options.runtime),
        found_for=result.found_for,
    )
    progress = phase_progress(options.quiet)
    try:
        report = run(request, result.findings, result.hidden, progress)
    except RuntimeUsageError as error:
        raise UsageError(str(error)) from error
    finally:
        if progress is not None:
            progress.stop()
    return with_verdicts(result, report, options.trust_runtime)


def _model(
    options: argparse.Namespace, text: str, targets: Sequence[Target], roots: Sequence[str], **more: Any
) -> Request:
    """The model that a text names, to be run on these targets; the folders are those of the user's files."""
    from ...runtime_checks.session import Request

    memory = _MEMORY_LIMIT if options.memory_limit is None else options.memory_limit
    return Request(
        target=text,
        inputs=options.inputs,
        shapes=tuple(options.input_shape or ()),
        dtypes=tuple(options.input_dtype or ()),
        arguments=tuple(options.arguments),
        method=options.call,
        batch=options.batch,
        step=options.step,
        targets=tuple(targets),
        python=options.python,
        timeout=_PHASE_LIMIT if options.timeout is None else options.timeout,
        memory_limit=memory or None,
        roots=tuple(dict.fromkeys(map(os.path.abspath, roots))),
        **more,
    )


def _notebook(file: str, target: str) -> NotebookCode | None:
    """The code of a notebook that is to be run, None for any other file."""
    from pathlib import Path

    from ..finding import Finding
    from ..source.reading import NOTEBOOK, read_source

    if not file.endswith(NOTEBOOK):
        return None
    from ...runtime_checks.session import NotebookCode

    source = read_source(Path(file), file)
    if isinstance(source, Finding) or source.notebook is None:
        raise UsageError(f"--runtime {target}: {source.message if isinstance(source, Finding) else 'it has no code'}")
    places = source.notebook.places
    return NotebookCode(source.text, tuple(first for _, first in places.cells), places.in_module)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    return sys.stdin.buffer.read()


def _stdin_name(options: argparse.Namespace) -> str | None:
    """The name that standard input is linted under, or None to lint files."""
    if "-" not in options.paths:
        if options.stdin_filename is not None:
            raise UsageError("--stdin-filename names standard input, which is read for the path `-`")
        return None
    if len(options.paths) > 1:
        raise UsageError("`-` reads standard input and cannot be given with other paths")
    return options.stdin_filename or "<stdin>"


def _empty_folders(result: Result) -> Iterator[str]:
    return (f"{folder}: 0 files were found in this folder" for folder in result.empty)


def _report(result: Result, reporter: ModuleType, options: argparse.Namespace, paint: Paint) -> Iterator[str]:
    if options.statistics and not reporter.FOR_PROGRAMS:
        yield from statistics(result)
        if result.findings and not options.quiet:
            yield ""
    else:
        show = getattr(reporter, "in_full", reporter.report) if options.show_info else reporter.report
        yield from show(result, paint)
    if not (reporter.FOR_PROGRAMS or options.quiet):
        yield from first_steps(result, paint)
        yield from summary(result, paint)
        if getattr(reporter, "WRAPS", False) and result.findings:
            yield paint(f"`{PROGRAM} rule {most_told(result.findings)}` says more of a rule.", "dim")


def _common_folder(paths: Sequence[str]) -> str:
    """The folder that holds all paths, where the search for the configuration begins."""
    try:
        common = os.path.commonpath([os.path.abspath(path) for path in paths])
    except ValueError:
        return os.getcwd()
    return common if os.path.isdir(common) else os.path.dirname(common)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cache_folder() -> Any:
    from ..run.cache import default_folder

    return default_folder()


def _configured(options: argparse.Namespace, start: str) -> Config:
    """The configuration file's settings, and those of folders with a nearer one, under those of the command line."""
    config = _under_options(_with_rules(load(start, file=options.config, isolated=options.isolated), options), options)
    if options.config is not None or options.isolated:
        return config

    def adapted(nearer: Config) -> Config:
        for key in nearer.of_runs:
            complain(f"{key} is about a whole run, and counts only where the run's configuration says it")
        return _under_options(nearer, options)

    return with_nested(config, adapted)


def _under_options(config: Config, options: argparse.Namespace) -> Config:
    """Settings of a file under those of the command line."""
    from ..registry.registry import known as known_codes

    known = known_codes()
    where = config.path or "configuration"
    config = replace(
        config,
        select=resolve(config.select, known, where),
        ignore=resolve(config.ignore, known, where),
        extend_select=resolve(config.extend_select, known, where),
    )
    for _, names in config.per_file_ignores:
        resolve(names, known, where)
    if options.select is not None:
        # A selection on the command line starts anew, as in ruff: what the file ignores may be what is asked for.
        config = replace(config, select=resolve(options.select, known, "--select"), ignore=(), extend_select=())
    return replace(
        config,
        ignore=(*config.ignore, *resolve(options.ignore or (), known, "--ignore")),
        extend_select=(*config.extend_select, *resolve(options.extend_select or (), known, "--extend-select")),
        exclude=(*config.exclude, *(rebased(glob, os.getcwd()) for glob in options.exclude or ())),
        target=options.target or config.target,
        target_file=None if options.target else config.target_file,
        min_severity=options.min_severity or config.min_severity,
        link_template=config.link_template if options.link_template is None else options.link_template,
        jobs=config.jobs if options.jobs is None else options.jobs,
    )


def _with_rules(config: Config, options: argparse.Namespace) -> Config:
    """Take in the project's own rules, or say that they are left out."""
    from ..registry.registry import configure

    left_out = configure(config, options.allow_project_rules)
    if left_out is not None:
        complain(left_out)
    return config


def _settings(config: Config, jobs: int, outputs: Sequence[Output]) -> Iterator[str]:
    from ..registry.registry import codes, in_use
    from ..settings.config import selected

    yield f"configuration: {printable(_named(config))}"
    yield f"base: {printable(config.base)}"
    yield f"selected: {', '.join(sorted(selected(config.select, config.ignore, config.extend_select, codes())))}"
    yield f"rules: {printable(', '.join(folder for _, folder in in_use())) or 'none'}"
    yield f"exclude: {printable(', '.join(config.exclude)) or 'none'}"
    for glob, names in config.per_file_ignores:
        yield f"per-file-ignores: {printable(glob)} = {printable(', '.join(names))}"
    yield f"fixable: {', '.join(config.fixable)}"
    yield f"unfixable: {', '.join(config.unfixable) or 'none'}"
    yield f"target: {config.target}"
    yield f"min-severity: {config.min_severity}"
    yield f"baseline: {printable(config.baseline or 'none')}"
    yield f"link-template: {printable(config.link_template or 'none')}"
    yield f"output-format: {', '.join(output.format for output in outputs)}"
    yield f"jobs: {jobs}"
    yield f"cache: {printable(str(_cache_folder()))}"


def _jobs(text: str) -> int:
    number = 0 if text == "auto" else int(text)
    if number < 0 or (number == 0 and text != "auto"):
        raise ValueError
    return number


_jobs.__name__ = "number of processes"


def _check_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [check] [options] [PATH ...]\n"
        f"       {PROGRAM} --runtime FILE.py:NAME [options] [PATH ...] [-- ARGUMENTS]\n"
        f"       {PROGRAM} rule [CODE | --all]\n"
        f"       {PROGRAM} verify [options] PAIR\n"
        f"       {PROGRAM} resume [options] FILE.py:FUNCTION\n"
        f"       {PROGRAM} server",
        description="Find what breaks, and what silently changes, when a TensorFlow 1 program moves to TensorFlow 2.",
        epilog="Exit status: 0 clean, 1 findings, 2 a usage, configuration or internal error.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    rules: dict[str, Any] = {"metavar": "RULES", "type": split_words, "action": "extend"}
    add("paths", nargs="*", metavar="PATH", help="files and folders, `-` for standard input; the default is `.`")
    add("--select", help="rules to report, in place of those configured: codes, prefixes, slugs or ALL", **rules)
    add("--ignore", help="rules to leave out, besides those configured", **rules)
    add("--extend-select", help="rules to report, besides those selected", **rules)
    add(
        "--target",
        choices=(*TARGETS, "both"),
        help="which TF2 is moved to; auto reads it off the project's requirements; both is for --runtime",
    )
    explained = "say which target was chosen, by what evidence, and what the other would change, and stop"
    add("--explain-target", action="store_true", help=explained)
    report: dict[str, Any] = {"dest": "outputs", "action": Given, "default": ()}
    add("--output-format", choices=FORMATS, help="how findings are shown, text by default; may be repeated", **report)
    written = "write the report of the format before it there; `-` is standard output"
    add("--output-file", metavar="FILE", help=written, **report)
    add("--show-info", action="store_true", help="show every info in the text format, which tells of most in brief")
    add("--statistics", action="store_true", help="count findings by rule, cause, folder, consequence and effort")
    add("--min-severity", choices=SEVERITIES, help="report nothing less severe, nor count it for the exit status")
    add("--exclude", metavar="GLOBS", type=split_words, action="extend", help="files and folders to leave out of walks")
    add("--force-exclude", action="store_true", help="leave out excluded files even where they are given")
    add("--config", metavar="FILE", help="the configuration file of all folders, instead of the nearest ones")
    add("--isolated", action="store_true", help="read no configuration file")
    _add_allow(parser)
    add("--watch", action="store_true", help="lint again whenever a file has changed, until it is interrupted")
    add("--show-files", action="store_true", help="print the files that would be linted and stop")
    add("--show-settings", action="store_true", help="print the settings of this run and stop")
    add("--stdin-filename", metavar="NAME", help="the name that standard input is linted under")
    add("--exit-zero", action="store_true", help="exit with 0 also when there are findings")
    add("--no-cache", action="store_true", help="neither read nor write results of earlier runs")
    add("--jobs", metavar="N", type=_jobs, help="processes to use; auto, the default, is one a core")
    add("--color", choices=("auto", "always", "never"), default="auto", help="auto colours on a terminal only")
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="print findings only")
    loudness.add_argument("-v", "--verbose", action="store_true", help="also say on standard error what was decided")
    add("--completion", action=_Completion, choices=_SHELLS, help="print what a shell reads to complete words here")
    add("--version", action=_Version, nargs=0, help="print the version of the program and of its rules, and stop")
    add_options(parser)
    add_fix_options(parser)
    add_team_options(parser)
    _add_runtime(parser)
    return parser


def _add_allow(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-project-rules",
        action="store_true",
        help="load the rules in the folders that the configuration names, which runs that code",
    )


def _add_runtime(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group(
        "running the model",
        "This executes the target and what it imports; nothing but --runtime asks for it. "
        "What follows `--` are the program's own arguments.",
    ).add_argument
    every: dict[str, Any] = {"action": "append"}
    add(
        "--runtime",
        metavar="TARGET",
        help="run what model.py:build or package.module:build names, and give every finding a verdict; "
        "without PATH its file and the project's files that it imports are linted",
    )
    add("--inputs", metavar="FILE:NAME", help="sample inputs of the model, or a function that makes them")
    add("--input-shape", metavar="SHAPE", help="of an input, such as 2,28,28,1 or ?,28,28,1; may be repeated", **every)
    add("--input-dtype", metavar="DTYPE", help="of an input, such as float32; may be repeated", **every)
    add("--call", metavar="METHOD", help="call this method of the model, in place of the model itself")
    add("--batch", metavar="FILE:NAME", help="what a training step gets, or a function that makes it")
    add("--step", metavar="FILE:NAME", help="a training step of a loop of your own, which is called with the batch")
    add(
        "--device",
        metavar="DEVICES",
        type=split_words,
        action="extend",
        help="where to run, such as CPU:0 or GPU:0; may be repeated; the default is CPU:0",
    )
    add(
        "--strategy",
        metavar="STRATEGIES",
        type=split_words,
        action="extend",
        help="run under a strategy: one:CPU:0, mirrored:N, multiworker:N, ps:W+P or tpu; may be repeated",
    )
    add("--python", metavar="PATH", help="the interpreter that has the model's TensorFlow; the default is this one")
    add("--timeout", metavar="SECONDS", type=seconds, help=f"for each phase; the default is {_PHASE_LIMIT:g}")
    add(
        "--memory-limit",
        metavar="GIB",
        type=gibibytes,
        help=f"for the model's process, 0 for none; the default is {_MEMORY_LIMIT:g}",
    )
    add("--print-scopes", action=_Scopes, nargs=0, help="print the guides' scopes as a module for Python 3.7 and later")
    add("--trust-runtime", action="store_true", help="leave out the findings that the run refutes, and only those")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from ..registry.registry import rule_sets

        lines = [f"{PROGRAM} {version()}"]
        for rules in rule_sets():
            count = f"{rules.rules} rule" if rules.rules == 1 else f"{rules.rules} rules"
            lines.append(f"rule set {rules.digest}: {count} of {printable(rules.origin)}")
        print_text("".join(f"{line}\n" for line in lines))
        parser.exit()


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of every command, by its name."""
    from .resume_command import parser as resume_parser
    from .verify_command import parser as verify_parser

    own = {"check": _check_parser(), "rule": _rule_parser(), "server": _server_parser()}
    return own | {"verify": verify_parser(), "resume": resume_parser()}


class _Completion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: object, *__: object) -> NoReturn:
        from ..registry.registry import codes
        from .completion import script

        print_text(script(str(shell), parsers(), codes()))
        parser.exit()


class _Scopes(argparse.Action):
    """The module stands alone, so that tests can use it where the program itself cannot be installed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.resources import files

        module = files("migrate_lint.runtime_checks.worker").joinpath("scopes.py")
        head = f"# Printed by `{PROGRAM} --print-scopes`, version {version()}.\n"
        print_text(head + module.read_text("utf-8"))
        parser.exit()


def _server_parser() -> argparse.ArgumentParser:
    """A parser without options: editors give none, and the configuration of each file's project holds."""
    words = "Answer an editor on standard input and output, in the Language Server Protocol."
    return Parser(prog=f"{PROGRAM} server", description=words, allow_abbrev=False)


def _rule_parser() -> argparse.ArgumentParser:
    parser = Parser(prog=f"{PROGRAM} rule", description="Explain a rule.", allow_abbrev=False)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("code", nargs="?", metavar="CODE", help="a code or a slug; without one all rules are listed")
    which.add_argument("--all", action="store_true", help="explain every rule")
    parser.add_argument("--output-format", choices=("text", "json", "markdown"), default="text", help="text by default")
    parser.add_argument("--config", metavar="FILE", help="the configuration file, instead of the nearest one")
    parser.add_argument("--isolated", action="store_true", help="read no configuration file")
    _add_allow(parser)
    return parser


def _rule(words: list[str]) -> int:
    options = _rule_parser().parse_args(words)
    require_working_folder()
    _with_rules(load(os.getcwd(), file=options.config, isolated=options.isolated), options)

    from ..registry.registry import failures
    from ..reporters import explain
    from ..reporters.ci import documented_rules

    rules = documented_rules()
    for failure in failures():
        complain(f"{failure.path}:{failure.line}: {failure.message}")
    if options.code is not None:
        known = {rule.code: rule.slug() for rule in rules}
        (code,) = resolve([options.code], known, "rule")
        if code not in known:
            raise UsageError(f"rule: {options.code} is not the code of one rule")
        rules = [rule for rule in rules if rule.code == code]
    elif not options.all and options.output_format == "text":
        print_text("".join(f"{line}\n" for line in explain.listing(rules)))
        return 0
    formats: dict[str, Callable[..., Iterator[str]]] = {
        "text": explain.text,
        "json": explain.json,
        "markdown": explain.markdown,
    }
    print_text("".join(f"{line}\n" for line in formats[options.output_format](rules)))
    return 0
