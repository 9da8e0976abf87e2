"""Projects that a running process keeps, so that linting one file after another does not read them again.

An editor's linter is asked for the same file at every pause in typing, and pylint for one file of a project after
another. A `Workspace` remembers the content of every file by its status, reads what has changed, and keeps the joined
project for all files whose text is the one that the project was made of.
"""

from __future__ import annotations

import gc
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from tokenize import detect_encoding
from typing import TYPE_CHECKING, Any

from ..analysis.project import Project
from ..finding import INTERNAL_ERROR, Finding, Target, Via
from ..registry import registry
from ..settings.config import Config
from ..settings.target import decide_target
from ..source.discovery import display_path, is_excluded, left_out, matcher, repository_around
from ..source.parsing import SourceFile, parse_source
from ..source.reading import read_source
from ..source.suppressions import Suppressions, find_suppressions
from . import engine
from .cache import Cache, default_folder
from .engine import Content, FileResult
from .pipeline import Selection
from .projects import ProjectFolder, project_of

if TYPE_CHECKING:
    from ..analysis.index import FileIndex

_MOST_KEPT = 4
"""Projects; their summaries take some hundred MB where there are thousands of files."""

_kept: dict[ProjectFolder, Workspace] = {}

_Stamp = tuple[int, int, int, int]


def workspace_of(path: str) -> Workspace:
    """The project around a file, which need not exist, as this process knows it."""
    project = project_of(os.path.dirname(path))
    found = _kept.pop(project, None) or Workspace(project)
    _kept[project] = found
    while len(_kept) > _MOST_KEPT:
        del _kept[next(iter(_kept))]
    return found


@dataclass(frozen=True)
class Settings:
    """What is linted and reported in a folder."""

    config: Config
    selection: Selection

    def excludes(self, path: str) -> bool:
        """Whether a walk leaves out a file, as its configuration, by default or by a `.gitignore` of its repository."""
        if is_excluded(path, matcher(self.config.exclude, self.config.base), self.config.base):
            return True
        return left_out(path, (), repository_around(os.path.dirname(path)))


def findings_of(path: str, data: bytes, settings: Settings, fixes: Via | None = None) -> tuple[Finding, ...]:
    """What is reported of one file with this content, saved or not, in the project as it was last looked at.

    Args:
        path: an absolute one.
        data: what the file is taken to hold.
        settings: those of its folder.
        fixes: the way of the fixes that findings have; None for none.
    """
    project, display = workspace_of(path), display_path(path, os.getcwd())
    target = project.target(path, data, settings.config.target)
    result = project.check(path, data, display, target, fixes)
    chosen = settings.selection.codes_for(path)
    kept: Iterable[Finding] = result.suppressions.apply(
        display,
        (finding for finding in result.findings if finding.code in chosen),
        codes=registry.known(),
        judged=partial(settings.selection.is_judged, chosen, (target,)),
    )
    kept = [one for one in kept if settings.selection.is_severe(one)]
    located = kept if result.cells is None else map(result.cells.located, kept)
    crashes = (INTERNAL_ERROR.at(display, failure.message) for failure in registry.failures())
    found = sorted((*located, *crashes), key=lambda finding: finding.sort_key)
    return tuple({_place(finding): finding for finding in found}.values())


def _place(finding: Finding) -> tuple[Any, ...]:
    """What tells findings apart; a rule that crashes may do so at each of a thousand sites."""
    if finding.code == INTERNAL_ERROR.code:
        return finding.code, finding.message
    return finding.cell, finding.line, finding.column, finding.code, finding.message


def as_declared(data: bytes) -> bytes:
    """A buffer in the encoding that it declares: pylint reads it as UTF-8, whatever its text says."""
    if b"coding" not in data[:8192]:
        return data
    try:
        encoding = detect_encoding(BytesIO(data).readline)[0]
        return data if encoding.startswith("utf-8") else data.decode().encode(encoding, "replace")
    except (SyntaxError, UnicodeError, LookupError):
        return data


class Workspace:
    """One project in memory: the content of its files, and what is known of it as a whole."""

    def __init__(self, folder: ProjectFolder) -> None:
        self.root = folder.root
        self._members = folder
        self._stamps: dict[str, _Stamp] = {}
        self._contents: dict[str, Content] = {}
        self._targets: dict[tuple[str, tuple[str, ...], bytes], Target] = {}
        self._project: Project | None = None
        self._draft: tuple[str, str, Project] | None = None
        """The file with an unsaved text that was asked for last, what others see of it, and the project with it."""
        self._used: set[str] = set()

    def refresh(self) -> None:
        """Look which files there are now, and read those that are new or have another status."""
        stamps = {path: stamp for path in self._members.files() if (stamp := _stamp(path)) is not None}
        changed = [path for path, stamp in stamps.items() if self._stamps.get(path) != stamp]
        contents = {path: self._contents[path] for path in stamps if self._stamps.get(path) == stamps[path]}
        contents |= engine.read_contents(changed, {})
        if contents != self._contents:
            self._project = self._draft = None
        self._stamps, self._contents = stamps, contents
        self._targets = {}
        self._used = set()

    def target(self, path: str, data: bytes, wanted: str) -> Target:
        """The TF2 that the project is moved to; `wanted` is the configured one, or ``auto``."""
        contents = self._contents | {path: Content.of(data)}
        mentioning = tuple(sorted(name for name, content in contents.items() if content.names_legacy_keras))
        unsaved = {path: data} if path in mentioning else {}
        key = wanted, mentioning, unsaved.get(path, b"")
        if key not in self._targets:
            self._targets[key] = decide_target(self._members.home, wanted, mentioning, unsaved)[0]
        return self._targets[key]

    def check(self, path: str, data: bytes, display: str, target: Target, fixes: Via | None = None) -> FileResult:
        """Everything that the rules say of one file with this content, saved or not; with the fixes of rules or not."""
        content = Content.of(data)
        is_saved = self._contents.get(path) == content
        # The first file of a project is often the only one, and may have been linted before: that is kept on disk.
        if self._used - {path} or (self._used and not is_saved) or fixes is not None:
            return self._checked_within(path, data, display, target, fixes)
        self._used.add(path)
        found = engine.analyze(
            [(path, display)],
            root=Path(self.root),
            target=target,
            cache=_folder(),
            overrides={} if is_saved else {path: data},
            contents=self._contents | {path: content},
        )
        return found[display]

    def _checked_within(self, path: str, data: bytes, display: str, target: Target, fixes: Via | None) -> FileResult:
        self._used.add(path)
        source = read_source(Path(path), display, data)
        if not isinstance(source, SourceFile):
            return FileResult((source,), Suppressions())
        own = self._key(path)

        def shown(key: str) -> str:
            return display if key == own else display_path(os.path.join(self.root, key), os.getcwd())

        with _uncollected():
            project, index = self._around(path, data, source)
            findings, *_ = engine.check_file(source, own, project, target, index=index, fixes=fixes)
        suppressions, problems = find_suppressions(source), () if source.notebook is None else source.notebook.problems
        cells = None if source.notebook is None else source.notebook.places
        return FileResult(tuple(engine.shown_at(one, shown) for one in (*problems, *findings)), suppressions, cells)

    def _around(self, path: str, data: bytes, source: SourceFile) -> tuple[Project, FileIndex | None]:
        """The project with this text of a file; and its index, where it had to be made.

        An edit within functions leaves what other files see of one as it is, and all that is known of them with it.
        """
        if self._project is None:
            self._project = self._joined()
        if self._contents.get(path) == Content.of(data):
            return self._project, None
        tree = parse_source(source)
        if isinstance(tree, Finding):
            return self._project, None  # half a line, as often as not: nothing is asked of the project
        from ..analysis.index import FileIndex
        from ..analysis.summary import structure, summarize

        key, index = self._key(path), FileIndex(tree)
        summary = summarize(index)
        seen = json.dumps(structure(summary))
        if self._draft is None or self._draft[:2] != (path, seen):
            known = key in self._project.summaries
            project = self._project.with_code(key, summary) if known else self._joined({path: data})
            self._draft = path, seen, project
        elif key in self._draft[2].summaries:
            project = self._draft[2].with_code(key, summary)
        else:
            project = self._draft[2]
        return project, index if key in project.summaries else None  # else it does not reach TensorFlow

    def _joined(self, unsaved: Mapping[str, bytes] | None = None) -> Project:
        """The project as it lies on disk but for unsaved texts, with all that its rules may ask for in memory."""
        from .facts import Facts

        texts = unsaved or {}
        contents = self._contents | {path: Content.of(data) for path, data in texts.items()}
        paths = {self._key(path): path for path, content in contents.items() if content.digest}
        digests = {key: contents[path].digest for key, path in sorted(paths.items())}
        with Cache(_folder(), engine.version()) as store:
            facts = Facts(store, digests, lambda key: read_source(Path(paths[key]), key, texts.get(paths[key])), ())
            project = Project(facts.summaries)
            facts.join(project, self.root)
            facts.summaries.detach()
        return project

    def _key(self, path: str) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")


def _stamp(path: str) -> _Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


@contextmanager
def _uncollected() -> Iterator[None]:
    """The collector would only walk the trees of pylint, again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@cache
def _folder() -> Path:
    """The user's cache folder, or one for this process where that cannot be used."""
    folder = default_folder()
    with Cache(folder, "") as store:
        if store.enabled:
            return folder
    return Path(_own_folder().name)


@cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="migrate-lint-")
