"""What a page for a team shows besides the findings: owners, addresses, what fixes mend, and reports of verify."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType

from ..reporters.ci import Repository
from ..result import Result, Team, VerifyReport
from ..settings.config import Config
from .console import UsageError
from .fixing import fixable


def add_team_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to the parser of the command line."""
    add = parser.add_argument_group("the HTML report", "Owners are those of the repository's CODEOWNERS.").add_argument
    add(
        "--link-template",
        metavar="ADDRESS",
        help="where a finding is opened, such as vscode://file/{absolute}:{line}:{column}, or an address with {path}",
    )
    add(
        "--verify-report",
        metavar="FILE",
        action="append",
        help="a JSON or HTML report of `migrate-lint verify`, which findings that it speaks of link; may be repeated",
    )


def for_teams(reporters: Iterable[ModuleType]) -> bool:
    """Whether a format shows what this is about."""
    return any(getattr(reporter, "FOR_TEAMS", False) for reporter in reporters)


def require_team(options: argparse.Namespace, reporters: Iterable[ModuleType]) -> None:
    """Look at the options before anything is linted, and read the reports of verify.

    Raises:
        UsageError: if they make no sense.
    """
    given = {"--link-template": options.link_template, "--verify-report": options.verify_report}
    if not for_teams(reporters):
        if word := next((name for name, value in given.items() if value is not None), None):
            raise UsageError(f"{word} is about the HTML report, which --output-format html writes")
    if options.verify_report:
        from ..run.verify_reports import VerifyReportError, read_report

        try:
            options.verify_report = [read_report(file) for file in options.verify_report]
        except VerifyReportError as error:
            raise UsageError(f"--verify-report {error}") from error
    if options.link_template:
        from ..settings.link_template import LinkTemplateError, require_template

        try:
            require_template(options.link_template)
        except LinkTemplateError as error:
            raise UsageError(f"--link-template {options.link_template}: {error}") from error


def with_team(result: Result, options: argparse.Namespace, config: Config) -> tuple[Result, list[str]]:
    """The result with what a page for a team shows of it, and what is to be said of the file with the owners."""
    from ..source.owners import owners_in

    repository = Repository()
    problems: list[str] = []
    owners, file = None, ""
    try:
        read = owners_in(repository.root)
    except OSError as error:
        problems.append(f"the owners cannot be read: {error}")
        read = None
    if read is not None:
        problems += read.problems
        file = read.file
        paths = {finding.path: repository.relative(finding.path) for finding in result.findings}
        owners = {path: () if inside is None else read.of(inside) for path, inside in paths.items()}
    reports: tuple[VerifyReport, ...] = ()
    if options.verify_report:
        from ..run.verify_reports import concerning

        reports = tuple(concerning(report, result) for report in options.verify_report)
    team = Team(owners, file, config.link_template, reports, _left_to_hand(result, config))
    return replace(result, team=team), problems


def _left_to_hand(result: Result, config: Config) -> frozenset[tuple[str, str]]:
    """Path and code of findings whose fixes the configuration leaves out."""
    allowed: dict[str | None, frozenset[str]] = {}
    left = set()
    for finding in result.findings:
        if finding.fix is not None:
            own = config.of(os.path.dirname(os.path.abspath(finding.path)))
            if own.path not in allowed:
                allowed[own.path] = fixable(own)
            if finding.code not in allowed[own.path]:
                left.add((finding.path, finding.code))
    return frozenset(left)
