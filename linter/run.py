"""The pipeline of one run: discover, decide the target, analyze, select, suppress, sort; then what a run adds."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from . import engine, registry
from .config import Config, resolve, selected
from .discovery import discover, display_path, left_out, marked_root, matcher, package_parent, project_files
from .finding import Finding, Severity, Target, Verdict
from .runtime import Report, Runtime, WorkerRun, tally
from .source import SourceFile, read_source
from .suppress import Suppressions, find_suppressions
from .target import NO_EVIDENCE, decide_target
from .tool_rules import InternalError, ProbeFailed, ProbeOnlyFinding, UnparsableFile

if TYPE_CHECKING:
    from .baseline import Standing
    from .diff_base import Since
    from .notebooks import CellMap

__all__ = ["BOTH", "Place", "Project", "Result", "Selection", "lint"]

BOTH = "both"
"""In place of a target: every file is linted once for each."""

_OF_A_RUN = frozenset({ProbeOnlyFinding.code, ProbeFailed.code})
"""A run sees only what its target reaches, so not finding one of these says nothing of a comment that names it."""

Place = tuple[str, int, int, str]
"""A finding's path, line, column and code."""


@dataclass(frozen=True, slots=True)
class Project:
    """The files of a run that belong together: one index, one target."""

    root: str
    target: Target
    reason: str
    files: int


@dataclass(frozen=True)
class Result:
    """What a run found, in the order of every report.

    ``files`` counts those that were looked at, failed ones included; ``empty`` are given folders without any.
    ``hidden`` are findings that were not selected or that a comment suppresses.
    ``found_for`` says which targets a finding of a rule, hidden or not, was found for.
    ``runtime`` is what a run of the model told besides its findings, None where none was asked for; so are
    ``baseline`` and ``since`` of what a baseline and a revision hide.
    """

    findings: tuple[Finding, ...]
    files: int
    projects: tuple[Project, ...]
    empty: tuple[str, ...] = ()
    sources: Mapping[str, tuple[str, bytes | None]] = field(default_factory=dict, repr=False)
    hidden: tuple[Finding, ...] = ()
    found_for: Mapping[Place, frozenset[Target]] = field(default_factory=dict, repr=False)
    runtime: Runtime | None = None
    baseline: Standing | None = None
    since: Since | None = None
    selected: Callable[[str], frozenset[str]] = field(
        default=lambda path: frozenset(registry.codes()), repr=False, compare=False
    )
    """The codes that are reported for an absolute path."""

    @property
    def status(self) -> int:
        """0 clean, 1 warnings or errors, 2 if a rule crashed."""
        if any(finding.code == InternalError.code for finding in self.findings):
            return 2
        return int(any(finding.severity is not Severity.INFO for finding in self.findings))

    def source(self, path: str) -> SourceFile | None:
        """The source of a file by its displayed path, if it can be read."""
        if path not in self.sources:
            return None
        source = read_source(Path(self.sources[path][0]), path, self.sources[path][1])
        return source if isinstance(source, SourceFile) else None

    @property
    def runs(self) -> tuple[WorkerRun, ...]:
        """The workers that ran the model."""
        return () if self.runtime is None else self.runtime.runs

    def with_runtime(self, report: Report, trust: bool = False) -> Result:
        """This result with the verdicts of a run, and with what only the run has found.

        The added findings are selected and suppressed like any other.
        With `trust` refuted findings are left out, and only those.
        """
        shown = [one for one in report.findings if not (trust and one.verdict is Verdict.REFUTED)]
        found = {finding.path: os.path.abspath(finding.path) for finding in report.added}
        more = replace(self, sources={display: (path, None) for display, path in found.items()} | dict(self.sources))
        added: list[Finding] = []
        for display in sorted(found):
            codes = self.selected(more.sources[display][0])
            mine = [finding for finding in report.added if finding.path == display and finding.code in codes]
            source = more.source(display)
            comments = Suppressions() if source is None else find_suppressions(source)
            added += comments.without_hidden(mine, codes=registry.codes())
        findings = sorted([*shown, *added], key=lambda finding: finding.sort_key)
        runtime = Runtime(tuple(report.runs), tally(report.findings), trust)
        return replace(more, findings=tuple(findings), runtime=runtime)


def lint(
    paths: Sequence[str],
    config: Config,
    *,
    jobs: int = 1,
    cache: Path | None = None,
    force_exclude: bool = False,
    stdin: tuple[str, bytes] | None = None,
    progress: Callable[[int, int], None] | None = None,
    root: str | None = None,
    fallback: tuple[Target, str] | None = None,
) -> Result:
    """Lint files and folders; for each target in turn where the configured one is `BOTH`.

    Args:
        paths: what was given on the command line; not looked at with `stdin`.
        config: the settings.
        jobs: processes to use.
        cache: where results are kept between runs; None for nowhere.
        force_exclude: leave out files that are given but excluded.
        stdin: a name and bytes to lint in place of files.
        progress: called with the number of files done and of all.
        root: the project of the files below it that are in no marked one and in no package.
        fallback: the target, with the reason, of projects that nothing speaks for.

    Raises:
        PathError: if a path cannot be linted at all.
        ConfigError: if the configuration names an unknown rule.
    """
    codes = registry.known()
    active = Selection(config, codes)
    working_folder = os.getcwd()
    overrides: dict[str, bytes] = {}
    if stdin is None:
        discovery = discover(paths, exclude=config.exclude, base=config.base, force_exclude=force_exclude)
        found, unreadable, empty = discovery.files, discovery.unreadable, discovery.empty
    else:
        name = os.path.abspath(stdin[0])
        overrides[name] = stdin[1]
        found, unreadable, empty = ((name, os.path.dirname(name)),), (), ()
        if force_exclude and left_out(name, config.exclude, config.base):
            found = ()
    findings: list[Finding] = []
    hidden: list[Finding] = []
    found_for: dict[Place, frozenset[Target]] = {}
    for folder, reason in unreadable:
        message = f"this folder cannot be listed, so nothing in it was linted: {reason}"
        findings.append(UnparsableFile.at(display_path(folder, working_folder), message))
    projects = []
    sources: dict[str, tuple[str, bytes | None]] = {}
    done = 0
    for top, files in _by_project(found, root).items():
        project_paths = project_files(Path(top))
        contents = engine.read_contents(project_paths, overrides)
        mentioning = [path for path, content in contents.items() if content.names_legacy_keras]
        targets = _targets(top, config.target, mentioning, fallback)
        projects += [Project(top, target, reason, len(files)) for target, reason in targets.items()]
        pairs = [(path, display_path(path, working_folder)) for path in files]
        sources.update((display, (path, overrides.get(path))) for path, display in pairs)
        results = {}
        for target in targets:
            results[target] = engine.analyze(
                pairs,
                root=Path(top),
                target=target,
                jobs=jobs,
                cache=cache,
                overrides=overrides,
                progress=_shifted(progress, done, len(found) * len(targets)),
                contents=contents,
            )
            done += len(files)
        for path, display in pairs:
            by_target = {target: made for target, all_made in results.items() if (made := all_made.get(display))}
            if len(by_target) < len(targets):
                findings.append(InternalError.at(display, "this file was lost on the way: no result came back for it"))
                continue
            raw, suppressions, cells = _merged(by_target, found_for)
            chosen = active.codes_for(path)
            kept = suppressions.apply(
                display,
                (finding for finding in raw if finding.code in chosen),
                codes=codes,
                judged=partial(active.is_judged, chosen, tuple(targets)),
            )
            left = _missing(raw, kept)
            findings += kept if cells is None else map(cells.located, kept)
            hidden += left if cells is None else map(cells.located, left)
    findings += registry.failures()
    findings.sort(key=lambda finding: finding.sort_key)
    hidden.sort(key=lambda finding: finding.sort_key)
    return Result(
        tuple(_crashes_once(findings)),
        len(found),
        tuple(projects),
        empty,
        sources,
        tuple(hidden),
        found_for,
        selected=active.codes_for,
    )


def _targets(
    root: str, wanted: str, mentioning: Sequence[str], fallback: tuple[Target, str] | None
) -> dict[Target, str]:
    """The targets of a project, each with the reason."""
    if wanted == BOTH:
        return dict.fromkeys(Target, "as asked for")
    target, reason = decide_target(Path(root), wanted, mentioning)
    return dict([fallback if fallback is not None and reason == NO_EVIDENCE else (target, reason)])


def _missing(findings: Sequence[Finding], kept: Sequence[Finding]) -> Iterator[Finding]:
    if len(kept) == len(findings) and all(map(operator.is_, findings, kept)):
        return iter(())
    rest = set(kept)
    return (finding for finding in findings if finding not in rest)


def _merged(
    by_target: Mapping[Target, engine.FileResult], found_for: dict[Place, frozenset[Target]]
) -> tuple[Sequence[Finding], Suppressions, CellMap | None]:
    """One file's findings for all targets; `found_for` is told which targets each is of.

    Of a place that several targets are told of, the findings of the most severe one stand; of Keras 3 in a draw.
    """
    suppressions = next(iter(by_target.values())).suppressions
    cells = next((result.cells for result in by_target.values() if result.cells is not None), None)
    if len(by_target) == 1:
        ((target, result),) = by_target.items()
        if cells is None:  # nothing of a notebook is run
            found_for |= dict.fromkeys(map(_place, result.findings), frozenset({target}))
        return result.findings, suppressions, cells
    places: dict[Place, dict[Target, list[Finding]]] = {}
    for target, result in by_target.items():
        for finding in result.findings:
            places.setdefault(_place(finding), {}).setdefault(target, []).append(finding)
    merged: list[Finding] = []
    for place, found in places.items():
        if cells is None:
            found_for[place] = frozenset(found)
        merged += max((found[target] for target in sorted(found, reverse=True)), key=_weight)
    return merged, suppressions, cells


def _place(finding: Finding) -> Place:
    return finding.path, finding.line, finding.column, finding.code


def _weight(findings: Iterable[Finding]) -> int:
    ranks = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}
    return max(ranks[finding.severity] for finding in findings)


def _crashes_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Leave out repetitions of a crash: a rule that fails at one site of a file may fail at thousands."""
    seen: set[tuple[str, str]] = set()
    for finding in findings:
        if finding.code == InternalError.code:
            if (finding.path, finding.message) in seen:
                continue
            seen.add((finding.path, finding.message))
        yield finding


def _by_project(found: Iterable[tuple[str, str]], loose: str | None) -> dict[str, list[str]]:
    """Files by their project, or else by what holds their package, or else by `loose` or the folder that was given."""
    roots: dict[str, str | None] = {}
    projects: dict[str, list[str]] = {}
    for path, given in found:
        folder = os.path.dirname(path)
        if folder not in roots:
            around = (
                loose
                if loose is not None and f"{folder}{os.sep}".startswith(f"{loose.rstrip(os.sep)}{os.sep}")
                else None
            )
            roots[folder] = marked_root(folder) or around or package_parent(folder)
        projects.setdefault(roots[folder] or given, []).append(path)
    return projects


def _shifted(progress: Callable[[int, int], None] | None, before: int, total: int) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)


class Selection:
    """Which codes are reported, file by file."""

    def __init__(self, config: Config, codes: Mapping[str, str]) -> None:
        where = config.path or "command line"
        select = resolve(config.select, codes, where)
        extend_select = resolve(config.extend_select, codes, where)
        self.everywhere = selected(select, resolve(config.ignore, codes, where), extend_select, codes)
        self.base = config.base
        self.per_file = []
        for glob, selectors in config.per_file_ignores:
            matches = matcher([glob], config.base)
            if matches is not None and glob.endswith(("/", "\\")):
                matches = partial(self._is_below, matches)
            ignored = selected(["ALL"], resolve(selectors, codes, where), (), codes)
            self.per_file.append((matches, frozenset(codes) - ignored))
        self.targets: dict[str, frozenset[Target]] | None = None

    def _is_below(self, matches: Callable[[str], bool], path: str) -> bool:
        """Whether a path lies in a folder that matches."""
        while len(path) > len(self.base) and (folder := os.path.dirname(path)) != path:
            if matches(folder):
                return True
            path = folder
        return False

    def codes_for(self, path: str) -> frozenset[str]:
        """The codes that are reported for an absolute path."""
        codes = self.everywhere
        for matches, ignored in self.per_file:
            if matches is not None and matches(path):
                codes -= ignored
        return codes

    def is_judged(self, chosen: frozenset[str], targets: Sequence[Target], code: str) -> bool:
        """Whether a rule was looked for in a file; the rules are loaded only if that is asked."""
        if code not in chosen or code in _OF_A_RUN:
            return False
        if self.targets is None:
            self.targets = {rule.code: rule.targets for rule in registry.all_rules()}
        if code in registry.unloaded():
            return False
        return not self.targets.get(code, frozenset(Target)).isdisjoint(targets)
