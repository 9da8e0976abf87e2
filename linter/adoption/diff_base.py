"""Only what is new since a git revision: the files of that revision are linted too, and what was found there is known.

The repository is only read: the revision's files are written from git's objects to a temporary folder, and nothing is
checked out.

Nothing that a repository names in its configuration, attributes or hooks runs. Most of what git-config(1),
gitattributes(5) and githooks(5) let it name is out of reach: no command used here converts or shows files
(``filter.*``, ``diff.*``), merges, commits, signs or opens an editor. Whether a file has changed its bytes tell here.
The rest, hooks of an index and the transports that would fetch a missing object, is turned off for every command.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from ..finding import PYTHON2_SOURCE, UNPARSABLE_FILE, Finding
from ..result import Result, RevisionStatus
from ..run.pipeline import BOTH, lint
from ..settings.config import ALWAYS, Config
from ..source.discovery import LINTED, marked_root
from ..source.reading import read_bytes
from .known import Known, known_as, match, scopes

_BESIDES = frozenset({"pyproject.toml", "setup.cfg", "setup.py", ".gitignore"})
"""Files that say where a project begins and which files are its own."""

_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""What git tells its hooks of a repository; any other folder than the hook's would be mistaken for it."""

_NOTHING_RUNS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.alternateRefsCommand": "",
    "core.askPass": "",
    "core.gitProxy": "",
    "core.sshCommand": "false",
    "credential.helper": "",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    # A folder of the tree can look like a bare repository, with a configuration that nobody has cloned.
    "safe.bareRepository": "explicit",
}
"""What a repository may not set."""

_NO_FETCH = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
"""The first is known from git 2.45 on and to some earlier ones; no transport is allowed by the second."""

_AT_ONCE = 500
"""Files that are held in memory."""

_LINK, _SUBMODULE = "120000", "160000"


class DiffBaseError(Exception):
    """The revision cannot be compared with; the text says why."""


def new_since(result: Result, revision: str, config: Config, *, jobs: int = 1, cache: Path | None = None) -> Result:
    """The result without the findings that a revision had already; those are hidden.

    Files are followed where git sees a rename. Both sides are linted with the configuration and the targets of the
    result. That a file could not be looked at (TF900, TF902) is known only of one that has not changed at all, and
    what only a run of the model finds is always new: the revision is not run.

    Args:
        result: of the files as they are now.
        revision: anything that names a commit; with ``...`` at its end, where the current branch left it.
        config: the settings of the run.
        jobs: processes to use.
        cache: where results are kept between runs; None for nowhere.

    Raises:
        DiffBaseError: without git, outside a repository, or if there is no such revision.
    """
    if not result.sources:
        return result
    top = _top(os.path.commonpath([os.path.dirname(path) for path, _ in result.sources.values()]))
    commit = _commit(top, revision)
    with tempfile.TemporaryDirectory(prefix="migrate-lint-") as folder:
        tree = _Tree(os.path.realpath(folder), top)
        tree.add(top, commit, "")
        return _Comparison(result, tree, config, jobs, cache).narrowed(revision, commit)


def _git(folder: str, *words: str, data: bytes | None = None, apart: str | None = None) -> bytes:
    """What a git command prints; with `apart` it writes objects and an index there, and not in the repository."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"} | _NO_FETCH
    if apart is not None:
        places = {"GIT_INDEX_FILE": "index", "GIT_OBJECT_DIRECTORY": "objects"}
        environment |= {name: os.path.join(apart, place) for name, place in places.items()}
    settings = [word for name, value in _NOTHING_RUNS.items() for word in ("-c", f"{name}={value}")]
    command = [_program(), "-C", folder, "--no-pager", *settings, *words]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=True, env=environment)
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        if "promisor remote" in said or "lazy fetching" in said:
            hint = "this clone is partial: fetch the rest of it (git fetch --refetch --no-filter)"
            raise _GitError(f"--diff-base: git lacks an object of that revision, {hint}") from error
        first = said.partition("\n")[0]
        raise _GitError(f"--diff-base: git {words[0]}: {first}") from error
    return done.stdout


def _program() -> str:
    """The git that is installed, not one in the working folder, where Windows looks first."""
    found = shutil.which("git", path=os.pathsep.join(filter(os.path.isabs, os.get_exec_path())))
    if found is None or not os.path.isabs(found):
        raise DiffBaseError("--diff-base needs git, which is not installed")
    return found


class _GitError(DiffBaseError):
    pass


def _top(folder: str) -> str:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        top = _git(folder, "rev-parse", "--show-toplevel")
    except _GitError as error:
        if "not a git repository" not in str(error):
            raise
        raise DiffBaseError(f"--diff-base: {folder} is in no git repository") from error
    found = os.path.realpath(os.fsdecode(top).removesuffix("\n"))
    if not os.path.join(os.path.realpath(folder), "").startswith(os.path.join(found, "")):
        raise DiffBaseError(f"--diff-base: the repository around {folder} says that its files lie in {found}")
    return found


def _commit(top: str, revision: str) -> str:
    """The full name of a commit."""
    name, fork = revision.removesuffix("..."), revision.endswith("...")
    what = f"there is no revision {name or repr(name)}"
    try:
        if name.startswith("-") or not name:
            raise _GitError
        commit = _git(top, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
        what = f"there is no common ancestor of HEAD and {name}"
        return _git(top, "merge-base", commit, "HEAD").decode().strip() if fork else commit
    except _GitError as error:
        hint = ""
        with suppress(_GitError):
            if _git(top, "rev-parse", "--is-shallow-repository").strip() == b"true":
                hint = ": this clone is shallow, fetch more of its history (git fetch --unshallow; fetch-depth: 0)"
        raise DiffBaseError(f"--diff-base {revision}: {what}{hint}") from error


class _Tree:
    """The files of a revision that matter, in a folder, and what became of them since.

    Paths are relative to the top of the repository, with ``/``.
    """

    def __init__(self, folder: str, top: str) -> None:
        self.folder = folder
        self.top = top
        self.files: set[str] = set()
        self.changed: set[str] = set()
        """Of the revision's files those that are not the same now."""
        self.renamed: dict[str, str] = {}
        """The name of a file then, and now."""

    def add(self, repository: str, commit: str, prefix: str) -> None:
        """Write the files of a commit, and of the submodules that are there."""
        blobs: dict[str, str] = {}
        links: dict[str, str] = {}
        for mode, name, path in self._listing(repository, commit):
            if mode == _SUBMODULE:
                self._add_submodule(repository, name, prefix, path)
            elif _matters(path):
                (links if mode == _LINK else blobs)[path] = name
        paths = list(blobs)
        for some in (paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE)):
            contents = self._contents(repository, [blobs[path] for path in some])
            for path in some:
                self._write(f"{prefix}{path}", contents[blobs[path]])
        targets = self._contents(repository, list(links.values()))
        for path, name in links.items():
            self._link(f"{prefix}{path}", os.fsdecode(targets[name]))
        if marked_root(repository) == repository:
            os.makedirs(os.path.join(self.folder, prefix, ".git"), exist_ok=True)
        self._compare(_Present(repository, blobs | links), blobs, prefix)

    def _add_submodule(self, repository: str, commit: str, prefix: str, path: str) -> None:
        folder = os.path.join(repository, path)
        if not _is_safe(path) or not os.path.lexists(os.path.join(folder, ".git")):
            return
        try:
            _git(folder, "cat-file", "-e", f"{commit}^{{commit}}")
        except _GitError as error:
            reason = f"the submodule {path} lacks its commit {commit[:12]} of that revision: fetch it"
            raise DiffBaseError(f"--diff-base: {reason}") from error
        self.add(folder, commit, f"{prefix}{path}/")

    @staticmethod
    def _listing(repository: str, commit: str) -> Iterator[tuple[str, str, str]]:
        """Mode, object and path of every file."""
        for line in _git(repository, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            if line:
                head, _, path = line.partition(b"\t")
                mode, _, name = head.decode().split()
                yield mode, name, os.fsdecode(path)

    @staticmethod
    def _contents(repository: str, objects: Sequence[str]) -> dict[str, bytes]:
        """Objects by their names."""
        names = sorted(set(objects))
        data = _git(repository, "cat-file", "--batch", data="".join(f"{name}\n" for name in names).encode())
        contents = {}
        start = 0
        for name in names:
            end = data.index(b"\n", start)
            size = data[start:end].split()[-1]
            if not size.isdigit():
                raise DiffBaseError(f"--diff-base: git lacks the object {name}")
            contents[name] = data[end + 1 : end + 1 + int(size)]
            start = end + 2 + int(size)
        return contents

    def _write(self, path: str, content: bytes) -> None:
        file = os.path.join(self.folder, path)
        try:
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "wb") as output:
                output.write(content)
        except OSError as error:
            raise DiffBaseError(f"--diff-base: {path} of that revision cannot be written: {error.strerror}") from error
        self.files.add(path)

    def _link(self, path: str, target: str) -> None:
        """What a link to another of the files leads to; links that lead elsewhere have no content then."""
        target = os.path.normpath(os.path.join(os.path.dirname(path), target)).replace(os.sep, "/")
        if target in self.files:
            with open(os.path.join(self.folder, target), "rb") as content:
                self._write(path, content.read())

    def _compare(self, present: _Present, blobs: Mapping[str, str], prefix: str) -> None:
        self.changed |= {f"{prefix}{path}" for path, name in present.then.items() if present.now.get(path) != name}
        gone = {path: name for path, name in blobs.items() if path not in present.now}
        self.renamed |= {f"{prefix}{old}": f"{prefix}{new}" for old, new in present.renames(gone)}


class _Present:
    """The files of a repository that matter and that git keeps, by the names that git would give their content.

    A file whose lines end otherwise than in the revision, as git writes them on Windows, is as it was.
    """

    def __init__(self, repository: str, then: Mapping[str, str]) -> None:
        self.repository = repository
        self.then = then
        self.now: dict[str, str] = {}
        self.new: dict[str, str] = {}
        """Of those the ones that the revision has not, and that are no links."""
        for line in _git(repository, "ls-files", "--stage", "-t", "-z").split(b"\0"):
            head, _, name = line.partition(b"\t")
            path = os.fsdecode(name)
            if not line or not _matters(path):
                continue
            tag, mode, kept, _ = head.decode().split()
            if mode != _SUBMODULE:
                self._look(path, kept, is_left_out=tag == "S")

    def _look(self, path: str, kept: str, *, is_left_out: bool) -> None:
        """Note a file; one that a sparse checkout leaves out is what git keeps of it."""
        file = os.path.join(self.repository, path)
        is_link = os.path.islink(file)
        try:
            data = b"" if is_left_out else os.fsencode(os.readlink(file)) if is_link else read_bytes(file)
        except OSError:
            if os.path.lexists(file):
                self.now[path] = "unreadable"
            return
        names = [kept] if is_left_out else [_name(data, len(kept)), _name(data.replace(b"\r\n", b"\n"), len(kept))]
        then = self.then.get(path)
        self.now[path] = then if then is not None and then in names else names[0]
        if then is None and not is_link:
            self.new[path] = names[0]

    def renames(self, gone: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Pairs of paths, of those that are gone and those that are new, that git takes for one file.

        Git compares two trees, which are written elsewhere: it would run filters on what lies in a working tree.
        """
        if not gone or not self.new:
            return
        with tempfile.TemporaryDirectory(prefix="migrate-lint-") as folder:
            own = _git(self.repository, "rev-parse", "--git-path", "objects").removesuffix(b"\n")
            os.makedirs(os.path.join(folder, "objects", "info"))
            with open(os.path.join(folder, "objects", "info", "alternates"), "wb") as alternates:
                alternates.write(os.path.join(os.fsencode(self.repository), own) + b"\n")
            for path in self.new:
                self._keep(os.path.join(self.repository, path), self.new[path], os.path.join(folder, "objects"))
            trees = [self._tree(files, folder) for files in (gone, self.new)]
            options = ("-r", "-z", "-M", "--diff-filter=R", "--name-status")
            words = os.fsdecode(_git(self.repository, "diff-tree", *options, *trees, apart=folder)).split("\0")
        yield from zip(words[1::3], words[2::3], strict=True)

    @staticmethod
    def _keep(file: str, name: str, objects: str) -> None:
        """Write a file as an object of git."""
        try:
            data = read_bytes(file)
        except OSError:
            return
        os.makedirs(os.path.join(objects, name[:2]), exist_ok=True)
        with open(os.path.join(objects, name[:2], name[2:]), "wb") as output:
            output.write(zlib.compress(b"blob %d\0" % len(data) + data, 1))

    def _tree(self, files: Mapping[str, str], folder: str) -> str:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, "index"))
        entries = b"".join(b"100644 %s\t%s\0" % (files[path].encode(), os.fsencode(path)) for path in files)
        _git(self.repository, "update-index", "-z", "--index-info", data=entries, apart=folder)
        return _git(self.repository, "write-tree", "--missing-ok", apart=folder).decode().strip()


def _name(data: bytes, length: int) -> str:
    """What git calls a content, in a repository whose names have `length` digits."""
    made = hashlib.new("sha1" if length == 40 else "sha256", usedforsecurity=False)
    made.update(b"blob %d\0" % len(data) + data)
    return made.hexdigest()


def _matters(path: str) -> bool:
    return _is_safe(path) and (path.endswith(LINTED) or path.rpartition("/")[2] in _BESIDES)


def _is_safe(path: str) -> bool:
    """Whether a path stays below its folder; git's own tools write no other ones."""
    parts = path.split("/")
    if os.name == "nt" and ":" in path:  # a drive or a stream
        return False
    return not any(part in {"", ".", ".."} or part.lower() == ".git" or "\\" in part for part in parts)


class _Comparison:
    def __init__(self, result: Result, tree: _Tree, config: Config, jobs: int, store: Path | None) -> None:
        self.result = result
        self.tree = tree
        self.config = config
        self.jobs = jobs
        self.store = store
        self.places = {display: self._place(path) for display, (path, _) in result.sources.items()}
        self.displays = {place: display for display, place in self.places.items()}

    def narrowed(self, revision: str, commit: str) -> Result:
        """The result with the new findings alone."""
        findings = self.result.findings
        before = self._before()
        now = known_as(findings, self.result.source, lambda path: self.places.get(path, path))
        found = match(before, now, judged=self._judged, scopes_of=cache(self._scopes_of))
        old = {index for index in found.values() if findings[index].code not in ALWAYS}
        old |= {index for index, finding in enumerate(findings) if self._is_untouched(finding)}
        hidden = [*self.result.hidden, *(findings[index] for index in old)]
        return replace(
            self.result,
            findings=tuple(finding for index, finding in enumerate(findings) if index not in old),
            hidden=tuple(sorted(hidden, key=lambda finding: finding.sort_key)),
            since=RevisionStatus(revision, commit, len(findings) - len(old), len(old)),
        )

    def _place(self, path: str) -> str:
        """A file's path from the top of the repository."""
        folder, name = os.path.split(path)
        return os.path.relpath(os.path.join(os.path.realpath(folder), name), self.tree.top).replace(os.sep, "/")

    def _is_untouched(self, finding: Finding) -> bool:
        """Whether a finding says that a file was not looked at which is as it was."""
        place = self.places.get(finding.path, "")
        if finding.code not in {UNPARSABLE_FILE.code, PYTHON2_SOURCE.code}:
            return False
        _, unsaved = self.result.sources.get(finding.path, ("", None))
        return unsaved is None and place in self.tree.files and place not in self.tree.changed

    def _judged(self, one: Known) -> bool:
        return one.path in self.displays or not os.path.lexists(os.path.join(self.tree.top, one.path))

    def _scopes_of(self, place: str) -> frozenset[str] | None:
        if place in self.displays:
            return scopes(self.result.source(self.displays[place]))
        return frozenset() if os.path.lexists(os.path.join(self.tree.top, place)) else None

    def _before(self) -> list[Known]:
        """What the revision's files say, under the names that they have now."""
        known: list[Known] = []
        for target, places in self._by_target().items():
            paths = [os.path.join(self.tree.folder, place) for place in places]
            result = lint(paths, self._config(target), jobs=self.jobs, cache=self.store)
            known += known_as(result.findings, result.source, partial(self._then, result.sources))
        return [one._replace(path=self.tree.renamed.get(one.path, one.path)) for one in known]

    def _then(self, sources: Mapping[str, tuple[str, bytes | None]], display: str) -> str:
        path, _ = sources.get(display, (display, None))
        return os.path.relpath(path, self.tree.folder).replace(os.sep, "/")

    def _wanted(self) -> set[str]:
        """The revision's files that have changed or that have findings now."""
        names = {new: old for old, new in self.tree.renamed.items()}
        places = {self.places.get(finding.path, "") for finding in self.result.findings}
        wanted = {names.get(place, place) for place in places} | self.tree.changed
        return {place for place in wanted & self.tree.files if place.endswith(LINTED)}

    def _by_target(self) -> dict[str, list[str]]:
        """The wanted files by the target that their project is linted for now."""
        targets: dict[str, set[str]] = defaultdict(set)
        for project in self.result.projects:
            targets[f"{self._place(os.path.join(project.root, 'x'))[:-1]}"].add(project.target.value)
        files: dict[str, list[str]] = defaultdict(list)
        for place in sorted(self._wanted()):
            around = max((root for root in targets if place.startswith(root)), key=len, default=None)
            wanted = self.config.of(os.path.dirname(os.path.join(self.tree.top, place))).target
            own = targets[around] if around is not None else {wanted}
            own = {wanted} if wanted in own else own
            files[BOTH if len(own) > 1 else next(iter(own))].append(place)
        return files

    def _config(self, target: str) -> Config:
        """The settings, with globs that are about the revision's folder; its files are judged by those of today."""
        now = self.config.aimed_at(target)

        def nested(folder: str) -> Config:
            return self._moved(now.of(os.path.join(self.tree.top, os.path.relpath(folder, self.tree.folder))))

        return replace(self._moved(now), nested=None if now.nested is None else nested)

    def _moved(self, config: Config) -> Config:
        below = os.path.relpath(os.path.realpath(config.base), self.tree.top)
        inside = below != os.pardir and not below.startswith(os.pardir + os.sep)
        base = os.path.normpath(os.path.join(self.tree.folder, below)) if inside else config.base
        return replace(config, base=base)
