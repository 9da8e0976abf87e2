"""The pipeline of one run: discover, decide the target, analyze, select, suppress, sort."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from . import engine, registry
from .config import Config, resolve, selected
from .discovery import discover, display_path, left_out, marked_root, matcher, package_parent, project_files
from .finding import Finding, Severity, Target
from .source import SourceFile, read_source
from .target import decide_target
from .tool_rules import InternalError, UnparsableFile

__all__ = ["Project", "Result", "lint"]


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
    """

    findings: tuple[Finding, ...]
    files: int
    projects: tuple[Project, ...]
    empty: tuple[str, ...] = ()
    sources: Mapping[str, tuple[str, bytes | None]] = field(default_factory=dict, repr=False)

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


def lint(
    paths: Sequence[str],
    config: Config,
    *,
    jobs: int = 1,
    cache: Path | None = None,
    force_exclude: bool = False,
    stdin: tuple[str, bytes] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Lint files and folders.

    Args:
        paths: what was given on the command line; not looked at with `stdin`.
        config: the settings.
        jobs: processes to use.
        cache: where results are kept between runs; None for nowhere.
        force_exclude: leave out files that are given but excluded.
        stdin: a name and bytes to lint in place of files.
        progress: called with the number of files done and of all.

    Raises:
        PathError: if a path cannot be linted at all.
        ConfigError: if the configuration names an unknown rule.
    """
    codes = registry.codes()
    active = _Selection(config, codes)
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
    for folder, reason in unreadable:
        message = f"this folder cannot be listed, so nothing in it was linted: {reason}"
        findings.append(UnparsableFile.at(display_path(folder, working_folder), message))
    projects = []
    sources: dict[str, tuple[str, bytes | None]] = {}
    done = 0
    for root, files in _by_project(found).items():
        project_paths = project_files(Path(root))
        contents = engine.read_contents(project_paths, overrides)
        mentioning = [path for path, content in contents.items() if content.names_legacy_keras]
        target, reason = decide_target(Path(root), config.target, mentioning)
        projects.append(Project(root, target, reason, len(files)))
        pairs = [(path, display_path(path, working_folder)) for path in files]
        sources.update((display, (path, overrides.get(path))) for path, display in pairs)
        results = engine.analyze(
            pairs,
            root=Path(root),
            target=target,
            jobs=jobs,
            cache=cache,
            overrides=overrides,
            progress=_shifted(progress, done, len(found)),
            contents=contents,
        )
        done += len(files)
        for path, display in pairs:
            if (result := results.get(display)) is None:
                findings.append(InternalError.at(display, "this file was lost on the way: no result came back for it"))
                continue
            chosen = active.codes_for(path)
            findings += result.suppressions.apply(
                display,
                (finding for finding in result.findings if finding.code in chosen),
                codes=codes,
                judged=partial(active.is_judged, chosen, target),
            )
    findings.sort(key=lambda finding: finding.sort_key)
    return Result(tuple(_crashes_once(findings)), len(found), tuple(projects), empty, sources)


def _crashes_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Leave out repetitions of a crash: a rule that fails at one site of a file may fail at thousands."""
    seen: set[tuple[str, str]] = set()
    for finding in findings:
        if finding.code == InternalError.code:
            if (finding.path, finding.message) in seen:
                continue
            seen.add((finding.path, finding.message))
        yield finding


def _by_project(found: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Files by their project, or else by what holds their package, or else by the folder that was given."""
    roots: dict[str, str | None] = {}
    projects: dict[str, list[str]] = {}
    for path, given in found:
        folder = os.path.dirname(path)
        if folder not in roots:
            roots[folder] = marked_root(folder) or package_parent(folder)
        projects.setdefault(roots[folder] or given, []).append(path)
    return projects


def _shifted(progress: Callable[[int, int], None] | None, before: int, total: int) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)


class _Selection:
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
        codes = self.everywhere
        for matches, ignored in self.per_file:
            if matches is not None and matches(path):
                codes -= ignored
        return codes

    def is_judged(self, chosen: frozenset[str], target: Target, code: str) -> bool:
        """Whether a rule was looked for in a file; the rules are loaded only if that is asked."""
        if code not in chosen:
            return False
        if self.targets is None:
            self.targets = {rule.code: rule.targets for rule in registry.all_rules()}
        return target in self.targets.get(code, frozenset(Target))
