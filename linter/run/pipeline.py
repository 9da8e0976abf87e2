"""The pipeline of one run: discover, decide the target, analyze, select, suppress, sort; then what a run adds."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..finding import (
    INTERNAL_ERROR,
    PROBE_FAILED,
    PROBE_ONLY_FINDING,
    UNPARSABLE_FILE,
    Conversion,
    Finding,
    FindingKey,
    Severity,
    Target,
    Via,
)
from ..registry import registry
from ..result import Coverage, LintedProject, Result
from ..settings.config import ALWAYS, SEVERITIES, Config, resolve, selected
from ..settings.target import NO_EVIDENCE, decide_target
from ..source.discovery import Discovery, discover, display_path, is_excluded, left_out, matcher
from ..source.suppressions import Suppressions
from . import engine
from .projects import ProjectFolder, project_of

if TYPE_CHECKING:
    from ..source.cells import CellMap

BOTH = "both"
"""In place of a target: every file is linted once for each."""

_LEADS_OUT = "this is a link out of the project, and was not followed: give its name, or that of its target, to lint it"

_OF_A_RUN = frozenset({PROBE_ONLY_FINDING.code, PROBE_FAILED.code})
"""A run sees only what its target reaches, so not finding one of these says nothing of a comment that names it."""


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
    unsaved: Mapping[str, bytes] | None = None,
    fixes: Via | None = None,
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
        unsaved: what is linted in place of what files hold, by their absolute paths.
        fixes: let findings have the fixes that rules offer, or files the one by which they run through compat.v1.

    Raises:
        PathError: if a path cannot be linted at all.
        ConfigError: if the configuration names an unknown rule.
    """
    codes = registry.known()
    active = Selections(config, codes)
    working_folder = os.getcwd()
    overrides = dict(unsaved or {})
    if stdin is None:
        discovery = found_files(paths, config, force_exclude)
        found, empty = discovery.files, discovery.empty
        unreadable = [
            (folder, f"this folder cannot be listed, so nothing in it was linted: {reason}")
            for folder, reason in discovery.unreadable
        ]
        unreadable += [(link, _LEADS_OUT) for link in discovery.outside]
    else:
        name = os.path.abspath(stdin[0])
        overrides.setdefault(name, stdin[1])
        found, unreadable, empty = ((name, ""),), [], ()
        own = config.of(os.path.dirname(name))
        if force_exclude and left_out(name, own.exclude, own.base):
            found = ()
    findings: list[Finding] = []
    hidden: list[Finding] = []
    digests: dict[str, str] = {}
    found_for: dict[FindingKey, frozenset[Target]] = {}
    findings += (UNPARSABLE_FILE.at(display_path(path, working_folder), message) for path, message in unreadable)
    projects = []
    milder = 0
    sources: dict[str, tuple[str, bytes | None]] = {}
    coverage: dict[str, Coverage] = {}
    conversions: dict[str, Conversion] = {}
    done = 0
    read: ProjectFolder | None = None
    contents: dict[str, engine.Content] = {}
    for project, settings, files in _groups(_by_project(found, root), config):
        if project != read:
            read, contents = project, engine.read_contents(project.files(), overrides)
        mentioning = [path for path, content in contents.items() if content.names_legacy_keras]
        targets = _targets(project.home, settings.target, mentioning, overrides, fallback)
        if settings.target_file is not None and settings.target != "auto":
            where = display_path(os.path.abspath(settings.target_file), working_folder)
            targets = {target: f"{reason}, in {where}" for target, reason in targets.items()}
        projects += [LintedProject(project.root, target, reason, len(files)) for target, reason in targets.items()]
        pairs = [(path, display_path(path, working_folder)) for path in files]
        sources.update((display, (path, overrides.get(path))) for path, display in pairs)
        results = {}
        for target in targets:
            results[target] = engine.analyze(
                pairs,
                root=Path(project.root),
                target=target,
                jobs=jobs,
                cache=cache,
                overrides=overrides,
                progress=_shifted(progress, done, len(found) * len(targets)),
                contents=contents,
                fixes=fixes,
            )
            done += len(files)
        for path, display in pairs:
            by_target = {target: made for target, all_made in results.items() if (made := all_made.get(display))}
            if len(by_target) < len(targets):
                findings.append(INTERNAL_ERROR.at(display, "this file was lost on the way: no result came back for it"))
                continue
            linted = {made.digest for made in by_target.values() if made.digest is not None}
            if linted:
                digests[display] = linted.pop() if len(linted) == 1 else ""
            if (understood := next(iter(by_target.values())).coverage) is not None:
                coverage[display] = understood
            if (conversion := next(iter(by_target.values())).conversion) is not None:
                conversions[display] = conversion
            raw, suppressions, cells = _merged(by_target, found_for)
            selection = active.of(path)
            chosen = selection.codes_for(path)
            kept = suppressions.apply(
                display,
                (finding for finding in raw if finding.code in chosen),
                codes=codes,
                judged=partial(selection.is_judged, chosen, tuple(targets)),
            )
            severe = [*filter(selection.is_severe, kept)]
            kept, milder = severe, milder + len(kept) - len(severe)
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
        digests,
        found_for,
        coverage=Coverage.total([Coverage(), *coverage.values()]),
        unread=len({finding.path for finding in (*findings, *hidden) if finding.code == UNPARSABLE_FILE.code}),
        not_followed={path: one.unresolved_calls for path, one in coverage.items() if one.unresolved_calls},
        selected=active.codes_for,
        conversions=conversions,
        milder=milder,
    )


def found_files(paths: Sequence[str], config: Config, force_exclude: bool = False) -> Discovery:
    """The files of a run: what the run's own settings exclude is not walked, and each nearer file may exclude more.

    Raises:
        PathError: if a path does not exist.
        ConfigError: if a nearer file cannot be used.
    """
    found = discover(paths, exclude=config.exclude, base=config.base, force_exclude=force_exclude)
    if config.nested is None:
        return found
    given = {os.path.abspath(path) for path in paths if not os.path.isdir(path)} if not force_exclude else set()
    matchers: dict[str, Callable[[str], bool] | None] = {}

    def stays(path: str) -> bool:
        own = config.of(os.path.dirname(path))
        while own.path != config.path and path not in given:
            if own.base not in matchers:
                matchers[own.base] = matcher(own.exclude, own.base)
            if is_excluded(path, matchers[own.base], own.base):
                return False
            own = config.of(os.path.dirname(own.base))
        return True

    return replace(found, files=tuple(file for file in found.files if stays(file[0])))


def _groups(
    projects: Mapping[ProjectFolder, Sequence[str]], config: Config
) -> Iterator[tuple[ProjectFolder, Config, list[str]]]:
    """The files of each project by their target, with settings that say so."""
    for project, files in projects.items():
        by_target: dict[str, tuple[Config, list[str]]] = {}
        for path in files:
            own = config.of(os.path.dirname(path))
            by_target.setdefault(own.target, (own, []))[1].append(path)
        yield from ((project, own, found) for own, found in by_target.values())


def _targets(
    home: Path,
    wanted: str,
    mentioning: Sequence[str],
    unsaved: Mapping[str, bytes],
    fallback: tuple[Target, str] | None,
) -> dict[Target, str]:
    """The targets of a project, each with the reason."""
    if wanted == BOTH:
        return dict.fromkeys(Target, "as asked for")
    target, reason = decide_target(home, wanted, mentioning, unsaved)
    return dict([fallback if fallback is not None and reason == NO_EVIDENCE else (target, reason)])


def _missing(findings: Sequence[Finding], kept: Sequence[Finding]) -> Iterator[Finding]:
    if len(kept) == len(findings) and all(map(operator.is_, findings, kept)):
        return iter(())
    rest = set(kept)
    return (finding for finding in findings if finding not in rest)


def _merged(
    by_target: Mapping[Target, engine.FileResult], found_for: dict[FindingKey, frozenset[Target]]
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
    places: dict[FindingKey, dict[Target, list[Finding]]] = {}
    for target, result in by_target.items():
        for finding in result.findings:
            places.setdefault(_place(finding), {}).setdefault(target, []).append(finding)
    merged: list[Finding] = []
    for place, found in places.items():
        if cells is None:
            found_for[place] = frozenset(found)
        merged += max((found[target] for target in sorted(found, reverse=True)), key=_weight)
    return merged, suppressions, cells


def _place(finding: Finding) -> FindingKey:
    return finding.path, finding.line, finding.column, finding.code


def _weight(findings: Iterable[Finding]) -> int:
    ranks = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}
    return max(ranks[finding.severity] for finding in findings)


def _crashes_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Leave out repetitions of a crash: a rule that fails at one site of a file may fail at thousands."""
    seen: set[tuple[str, str]] = set()
    for finding in findings:
        if finding.code == INTERNAL_ERROR.code:
            if (finding.path, finding.message) in seen:
                continue
            seen.add((finding.path, finding.message))
        yield finding


def _by_project(found: Iterable[tuple[str, str]], loose: str | None) -> dict[ProjectFolder, list[str]]:
    """Files by their project."""
    known: dict[tuple[str, str], ProjectFolder] = {}
    projects: dict[ProjectFolder, list[str]] = {}
    for path, given in found:
        place = os.path.dirname(path), given
        if place not in known:
            known[place] = project_of(*place, loose)
        projects.setdefault(known[place], []).append(path)
    return projects


def _shifted(progress: Callable[[int, int], None] | None, before: int, total: int) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)


class Selections:
    """Which codes are reported where, by the settings of each folder."""

    def __init__(self, config: Config, codes: Mapping[str, str]) -> None:
        self.config = config
        self.codes = codes
        self.known: dict[str | None, Selection] = {config.path: Selection(config, codes)}

    def of(self, path: str) -> Selection:
        """The selection for an absolute path."""
        config = self.config.of(os.path.dirname(path))
        if config.path not in self.known:
            self.known[config.path] = Selection(config, self.codes)
        return self.known[config.path]

    def codes_for(self, path: str) -> frozenset[str]:
        """The codes that are reported for an absolute path."""
        return self.of(path).codes_for(path)


class Selection:
    """Which codes are reported, file by file, where the same settings hold."""

    def __init__(self, config: Config, codes: Mapping[str, str]) -> None:
        where = config.path or "command line"
        select = resolve(config.select, codes, where)
        extend_select = resolve(config.extend_select, codes, where)
        self.everywhere = selected(select, resolve(config.ignore, codes, where), extend_select, codes)
        self.base = config.base
        self.mildest = SEVERITIES.index(config.min_severity)
        self.per_file = []
        for glob, selectors in config.per_file_ignores:
            matches = matcher([glob], config.base)
            if matches is not None and glob.endswith(("/", "\\")):
                matches = partial(self._is_below, matches, "" if os.path.isabs(glob) else self.base)
            ignored = selected(["ALL"], resolve(selectors, codes, where), (), codes)
            self.per_file.append((matches, frozenset(codes) - ignored))
        self.targets: dict[str, frozenset[Target]] | None = None

    @staticmethod
    def _is_below(matches: Callable[[str], bool], top: str, path: str) -> bool:
        """Whether a path lies in a folder that matches, below the one at the top."""
        while len(path) > len(top) and (folder := os.path.dirname(path)) != path:
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

    def is_severe(self, finding: Finding) -> bool:
        """Whether a finding is severe enough to be reported; what could not be looked at always is."""
        return SEVERITIES.index(finding.severity) <= self.mildest or finding.code in ALWAYS

    def is_judged(self, chosen: frozenset[str], targets: Sequence[Target], code: str) -> bool:
        """Whether a rule was looked for in a file; the rules are loaded only if that is asked."""
        if code not in chosen or code in _OF_A_RUN:
            return False
        if self.targets is None:
            self.targets = {rule.code: rule.targets for rule in registry.all_rules()}
        if code in registry.unloaded():
            return False
        return not self.targets.get(code, frozenset(Target)).isdisjoint(targets)
