"""``--prove``: fixes are applied as far as a pair of programs, or a model, stays what it is."""

from __future__ import annotations

import argparse
import ast
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..finding import HARMFUL_FIX, Finding
from ..reporters import printable
from ..settings.config import Config, selected
from ..source.parsing import parse_source
from ..source.reading import read_source
from .console import UsageError, complain, end_on_termination, phase_progress
from .verify_command import Project, pair_request

if TYPE_CHECKING:
    from ...runtime_checks.session import Request
    from ..finding import Target
    from ..result import Result
    from ..run.fixing import AppliedFix, Fixed, Place
    from ..run.proving import Proven
    from ..runtime_report import Attempt, Try

_OF_MODELS = ("inputs", "input_shape", "input_dtype", "call", "batch", "step")


def proven_file(options: argparse.Namespace) -> str:
    """The file that ``--prove`` names.

    Raises:
        UsageError: if it names none, or options say something that does not fit it.
    """
    from ...runtime_checks.locate import LocateError, locate
    from ..source.discovery import marked_root

    try:
        located = locate(options.prove, os.getcwd(), marked_root(os.getcwd()))
    except LocateError as error:
        raise UsageError(f"--prove: {error}") from error
    if located.file is None:
        raise UsageError(f"--prove {options.prove}: this is an installed module, of which nothing can be fixed")
    if located.file.endswith(".ipynb"):
        raise UsageError(f"--prove {options.prove}: a notebook is no pair, and a model in one is not run in a copy")
    options.proves_model = _is_made(located.file, located.attribute)
    given = [name for name in _OF_MODELS if getattr(options, name) is not None]
    if given and not options.proves_model:
        raise UsageError(f"--{given[0].replace('_', '-')}: a pair says itself what it is called with")
    if options.python_tf1 is not None and options.proves_model:
        raise UsageError("--python-tf1: a model has no TF1 side; name a pair")
    return located.file


def _is_made(file: str, dotted: str) -> bool:
    """Whether a name is that of a function or a class, which make models; a pair is a value."""
    source = read_source(Path(file), file)
    tree = source if isinstance(source, Finding) else parse_source(source)
    if isinstance(tree, Finding):
        raise UsageError(f"--prove: {tree.path}:{tree.line}: {tree.message}")
    body: Sequence[ast.AST] = tree.body
    found: ast.AST | None = None
    for name in dotted.split("."):
        made = (one for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == name)
        found = next(made, None)
        body = found.body if isinstance(found, ast.ClassDef) else ()
    return found is not None


def prove_fixes(
    options: argparse.Namespace,
    config: Config,
    file: str,
    model: Callable[[str, Sequence[Target], Sequence[str]], Request],
    fix: Callable[[Sequence[str], frozenset[Place]], Fixed],
) -> Fixed:
    """Apply the fixes that are proven; what is left, and why, is told on standard error and by findings.

    Args:
        options: of the command line.
        config: what is reported.
        file: that of the pair or model.
        model: gives of a text, of targets and of the user's folders the model that is to be run.
        fix: applies to these files, or folders, all fixes but some.

    Raises:
        UsageError: if it cannot be run as it is.
    """
    from ...runtime_checks import proving, session, verifying
    from ..run.proving import prove

    end_on_termination()
    project = Project(file)
    progress = phase_progress(options.quiet)
    found: list[tuple[Attempt, Proven]] = []

    def body(base: Attempt, attempt: Try) -> None:
        paths = options.paths or sorted(base.lines)
        found.append((base, prove(partial(fix, paths), attempt)))

    try:
        if options.proves_model:
            target = project.target()
            roots = [] if project.root is None else [project.root]
            proving.model(model(options.prove, [target] if target else [], roots), progress, body)
        else:
            proving.pair(pair_request(options.prove, project, options), progress, body)
    except (verifying.VerifyUsageError, session.RuntimeUsageError) as error:
        raise UsageError(f"--prove {options.prove}: before any fix, {error}") from error
    finally:
        if progress is not None:
            progress.stop()
    ((base, proven),) = found
    for line in _said(base, proven, options):
        complain(line)
    codes = selected(config.select, config.ignore, config.extend_select, [HARMFUL_FIX.code])
    return replace(proven.fixed, result=_with_harmful(proven.fixed, proven)) if codes else proven.fixed


def _said(base: Attempt, proven: Proven, options: argparse.Namespace) -> Iterator[str]:
    name = printable(options.prove)
    if not base.holds:
        yield f"{name}: before any fix: {base.told or 'it does not run'}"
    for one in proven.unreached:
        yield f"{_place(one)}: the fix of {one.place.code} is not proven and not applied: {name} does not run this line"
    count = len(proven.fixed.applied)
    if proven.why:
        yield f"{name}: nothing is proven, so nothing is fixed: {proven.why}"
    elif count and not options.quiet:
        fixes = "1 fix" if count == 1 else f"{count} fixes"
        what = "runs as before, and no numbers were compared" if options.proves_model else "computes the same"
        runs = "1 run" if proven.runs == 1 else f"{proven.runs} runs"
        yield f"{name}: with {fixes} it {what} ({runs} with fixes)" + (f"; {proven.remark}" if proven.remark else "")


def _place(one: AppliedFix) -> str:
    cell = "" if one.place.cell is None else f"cell {one.place.cell}:"
    return f"{one.place.path}:{cell}{one.place.line}"


def _with_harmful(fixed: Fixed, proven: Proven) -> Result:
    """What is left, with a finding for each fix that is wrong."""
    found: list[Finding] = []
    for harmful in proven.harmful:
        place = harmful.fix.place
        line, column = fixed.now.get(place, (place.line, place.column))
        without = f"; without it: {harmful.without}" if harmful.without else ""
        text = f"the fix of {place.code} here is not applied; with it: {harmful.told}{without}"
        made = HARMFUL_FIX.at(place.path, text, line, column)
        found.append(replace(made, cell=place.cell, origin="runtime"))
    findings = sorted((*fixed.result.findings, *found), key=lambda one: one.sort_key)
    return replace(fixed.result, findings=tuple(findings))
