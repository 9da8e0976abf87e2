"""From files to findings: facts of all files, the project, then every rule on every site of each file.

The stages, in the order in which a file goes through them:

1. `Facts`: read, parse with `ast`, summarize (kept by content);
2. `Project`: all summaries together, and where the code of each file leads (kept by content and structure);
3. `check_file`: the file's index again, with its tree, and its sites handed to the rules (kept by content and by the
   cross-file facts that were asked for).
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache as memoized
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..analysis.names import canonical
from ..finding import (
    INTERNAL_ERROR,
    UNPARSABLE_FILE,
    Applicability,
    Consequence,
    Conversion,
    Edit,
    Effort,
    Finding,
    Fix,
    Location,
    Severity,
    Span,
    Statement,
    Target,
    Via,
)
from ..result import Coverage
from ..source.discovery import display_path
from ..source.parsing import NO_MEMORY, SourceFile, parse_source
from ..source.python2 import in_place, installed, readable
from ..source.reading import read_bytes, read_source
from ..source.suppressions import Suppressions, find_suppressions
from .cache import Cache, digest_of

if TYPE_CHECKING:
    from ..analysis.entities import Entity
    from ..analysis.index import FileIndex
    from ..analysis.project import Project
    from ..rule_api.model import File
    from ..rule_api.rule import Diagnostic, Rule
    from ..source.cells import CellMap
    from .facts import Head

LEGACY_KERAS_FLAG = b"TF_USE_LEGACY_KERAS"
_BATCH = 500
Progress = Callable[[int, int], None]
Row = dict[str, Any]
_EMPTY: Row = {"findings": [], "suppressions": [], "key": ""}


@dataclass(frozen=True, slots=True)
class FileResult:
    """Everything that was found in one file, before selection and suppression."""

    findings: tuple[Finding, ...]
    suppressions: Suppressions
    cells: CellMap | None = None
    """Of a notebook, whose findings and suppressions are placed in one module of all cells: where they stand."""
    digest: str | None = None
    """Of the bytes that this was found in, where anything was; empty if they changed meanwhile."""
    coverage: Coverage | None = None
    """Of a file that reaches TensorFlow."""
    conversion: Conversion | None = None
    """Of such a file, where it was asked for."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is remembered of a file's bytes: their digest, empty if unreadable, and what their text mentions."""

    digest: str
    names_legacy_keras: bool

    @classmethod
    def of(cls, data: bytes) -> Content:
        """The content of these bytes."""
        return cls(blake2b(data, digest_size=16).hexdigest(), LEGACY_KERAS_FLAG in data)


def version() -> str:
    """A digest of all rules and of the engine, and of the Python that runs them."""
    from ..registry.registry import state

    return digest_of(installation(), *state())


@memoized
def installation() -> str:
    """A digest of our own rules and engine, and of the Python that runs them."""
    digest = blake2b(f"{sys.version} {installed()}".encode(), digest_size=16)
    top = Path(__file__).resolve().parents[1]
    for folder in (top, top.parent / "rules"):
        for place, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith((".py", ".json")):
                    status = os.stat(os.path.join(place, name))
                    digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def analyze(
    files: Sequence[tuple[Path | str, str]],
    *,
    root: Path,
    target: Target,
    jobs: int = 1,
    cache: Path | None = None,
    overrides: Mapping[Path, bytes] | Mapping[str, bytes] | None = None,
    progress: Progress | None = None,
    contents: Mapping[str, Content] | None = None,
    fixes: Via | None = None,
) -> dict[str, FileResult]:
    """Find everything that every rule says about `files`, each a path with the name it is shown under.

    `root` is the project whose files the analysis may look into; `overrides` hold unsaved contents.
    `contents` are those of the project's files, where they were read before; see `read_contents`.
    With `cache`, facts and findings are kept in that folder. With `fixes`, findings have those that rules
    offer, or files the one by which they run through compat.v1.
    """
    # What a file leaves behind is released by hand: the collector would only walk the summaries again and again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        with Cache(cache, version()) as store:
            return _Run(files, root, target, jobs, store, overrides or {}, progress, contents, fixes).results()
    finally:
        if collecting:
            gc.enable()


class _Run:
    def __init__(
        self,
        files: Sequence[tuple[Path | str, str]],
        root: Path,
        target: Target,
        jobs: int,
        store: Cache,
        overrides: Mapping[Path, bytes] | Mapping[str, bytes],
        progress: Progress | None,
        contents: Mapping[str, Content] | None,
        fixes: Via | None,
    ) -> None:
        self.fixes = fixes
        self.root = os.path.abspath(root)
        self.target = target
        self.jobs = jobs
        self.store = store
        self.progress = progress
        self.overrides = {os.path.abspath(path): data for path, data in overrides.items()}
        self.wanted = {self._key(os.path.abspath(path)): (os.path.abspath(path), display) for path, display in files}
        if contents is None:
            from ..source.discovery import project_files

            contents = read_contents(project_files(root), self.overrides)
        paths = {path for path, _ in self.wanted.values()} - contents.keys()
        self.contents = {**contents, **read_contents(sorted(paths), self.overrides)}
        self.paths = {self._key(path): path for path in self.contents}
        self.done = 0

    def _key(self, path: str) -> str:
        """A file's name within the project: relative to its root where it lies below it."""
        prefix = self.root.rstrip(os.sep) + os.sep
        return path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) else path.replace(os.sep, "/")

    def results(self) -> dict[str, FileResult]:
        digests = {
            key: content.digest for key, path in sorted(self.paths.items()) if (content := self.contents[path]).digest
        }
        todo = sorted(self.wanted)
        run_key = digest_of(self._what, *(f"{key} {digest}" for key, digest in digests.items()))
        kept = self.store.get("run", [run_key]).get(run_key, {})
        rows = self._kept_rows({key: kept[key] for key in todo if key in kept})
        rest = [key for key in todo if key not in rows]
        self._advance(len(rows), len(todo))
        if rest:
            rows |= self._checked(rest, digests)
            names = {key: row["key"] for key in rest if "key" in (row := rows[key])}
            self.store.put("run", {run_key: kept | names})
        found = {}
        for key in todo:
            path, display = self.wanted[key]
            digest = "" if "changed" in rows[key] else self.contents[path].digest
            found[display] = _result(display, rows[key], self._shown, digest)
        return {display: found[display] for display in sorted(found)}

    def _advance(self, count: int, total: int) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(self.done, total)

    def _read(self, key: str, path: str) -> SourceFile | Finding:
        self._advance(0, len(self.wanted))
        display = self.wanted[key][1] if key in self.wanted else key
        return read_source(Path(path), display, self.overrides.get(path))

    def _shown(self, key: str) -> str:
        """The path by which a file of the project is shown."""
        return self.wanted[key][1] if key in self.wanted else display_path(self.paths[key], os.getcwd())

    def _kept_rows(self, keys: Mapping[str, str]) -> dict[str, Row]:
        """Rows by the names under which they are kept; one without anything in it needs no keeping."""
        kept = self.store.get("findings", [name for name in keys.values() if name]) | {"": _EMPTY}
        return {key: kept[name] for key, name in keys.items() if name in kept}

    # -- the slow way ------------------------------------------------------------------------------------------------

    def _checked(self, wanted: Sequence[str], digests: Mapping[str, str]) -> dict[str, Row]:
        from ..analysis.project import Project
        from .facts import Facts

        facts = Facts(self.store, digests, lambda key: self._read(key, self.paths[key]), wanted)
        rows: dict[str, Row] = {}
        new: dict[str, Row] = {}
        for key in wanted:
            head = facts.heads.get(key, {})
            if key not in facts.summaries and "imports" in head and not head.get("problems"):
                rows[key] = _unreached(head)
                self._name(rows[key], digest_of(self._latest(key, digests), "unreached"), new)
        self.store.put("findings", new)
        self._advance(len(rows), len(self.wanted))
        waiting = [key for key in wanted if key not in rows]
        if not waiting:
            return rows
        project = Project(facts.summaries)
        facts.join(project, self.root)
        waiting = [key for key in waiting if not self._still_true(key, digests, project, rows)]
        if self.jobs > 1:
            project.prepare()
            facts.summaries.detach()
        _held.update(facts.held)
        try:
            self._check(waiting, digests, project, rows)
        finally:
            _end()
            facts.summaries.release()
        return rows

    def _still_true(self, key: str, digests: Mapping[str, str], project: Project, rows: dict[str, Row]) -> bool:
        """Whether a file's findings of another run hold: all that it asked the project has the same answer now."""
        from ..analysis.dependency_recorder import answers

        name = self._latest(key, digests)
        latest = self.store.get("findings", [name]).get(name)
        if not latest or answers(project, latest["questions"]) != latest["answers"]:
            return False
        rows[key] = latest["row"]
        self._advance(1, len(self.wanted))
        return True

    def _check(
        self, waiting: Sequence[str], digests: Mapping[str, str], project: Project, rows: dict[str, Row]
    ) -> None:
        from ..registry import registry
        from .pool import ItemFailed, map_ordered

        if registry.has_others():
            registry.all_rules()  # here, where a mistake in them ends the run
            if next(registry.failures(), None) is not None:
                self.store = Cache(None, "")  # what is missing may be there the next time
        made = map_ordered(
            check_item,
            [(key, self.paths[key], self.wanted[key][1], digests.get(key, "")) for key in waiting],
            self.jobs,
            initializer=_begin,
            initargs=(project, self.target, self.overrides, self.store.enabled, registry.in_use(), self.fixes),
            weight=_size,
        )
        new: dict[str, Any] = {}
        for key, outcome in zip(waiting, made, strict=True):
            if isinstance(outcome, ItemFailed):
                display = self.wanted[key][1]
                rows[key] = {"findings": [_row(_worker_died(display, outcome.reason))], "suppressions": None}
            else:
                rows[key], questions, digest = outcome
                if self.store.enabled and key in digests and "changed" not in rows[key]:
                    latest = self._latest(key, digests)
                    self._name(rows[key], digest_of(latest, digest), new)
                    new[latest] = {"questions": questions, "answers": digest, "row": rows[key]}
                if len(new) >= _BATCH:
                    self.store.put("findings", new)
                    new = {}
            self._advance(1, len(self.wanted))
        self.store.put("findings", new)

    @staticmethod
    def _name(row: Row, name: str, new: dict[str, Any]) -> None:
        """Give a row the name under which it will be found again."""
        if row["findings"] or row["suppressions"] or "coverage" in row or "conversion" in row:
            row["key"] = name
            new[name] = row
        else:
            row["key"] = ""

    def _latest(self, key: str, digests: Mapping[str, str]) -> str:
        return digest_of(key, digests.get(key, ""), self._what)

    @property
    def _what(self) -> str:
        return self.target if self.fixes is None else f"{self.target}, {self.fixes} fixes"


def read_contents(paths: Iterable[str], overrides: Mapping[str, bytes]) -> dict[str, Content]:
    """Read every file once, and keep what runs are compared by."""
    found = {}
    for path in paths:
        data = overrides.get(path)
        try:
            found[path] = Content.of(read_bytes(path) if data is None else data)
        except OSError:
            found[path] = Content("", False)
    return found


# -- one file ----------------------------------------------------------------------------------------------------------

_state: tuple[Project, Target, Mapping[str, bytes], bool, Via | None] | None = None
_held: dict[str, tuple[SourceFile, FileIndex]] = {}
"""Files that are parsed already, of this process or of the one that it was forked from."""


def _begin(
    project: Project,
    target: Target,
    overrides: Mapping[str, bytes],
    keep: bool,
    rule_folders: Sequence[tuple[str, str]] = (),
    fixes: Via | None = None,
) -> None:
    """Set up a process: every file of the run is checked against the same project, by the same rules."""
    global _state  # noqa: PLW0603
    from ..registry.registry import use

    use(rule_folders)
    _state = project, target, overrides, keep, fixes


def _end() -> None:
    """Let go of what `_begin` and the parsed files hold."""
    global _state  # noqa: PLW0603
    _state = None
    _held.clear()


def check_item(item: tuple[str, str, str, str]) -> tuple[dict[str, Any], list[Any], str]:
    """Check one file: ``(key, path, display, digest)`` to its row, its questions and the digest of their answers."""
    assert _state is not None
    project, target, overrides, keep, fixes = _state
    key, path, display, expected = item
    source, index = _held.pop(key, (None, None))
    if source is None:
        read = read_source(Path(path), display, overrides.get(path))
        if isinstance(read, Finding):
            return {"findings": [_row(read)], "suppressions": None}, [], ""
        source = read
    try:
        findings, questions, digest, coverage, conversion = check_file(
            source, key, project, target, keep, index, fixes
        )
    except Exception as error:
        findings, questions, digest, coverage, conversion = [_analysis_crash(display, error)], [], "", None, None
    if source.notebook is not None:
        findings = [*source.notebook.problems, *findings]
    row: Row = {"findings": [_row(f) for f in findings], "suppressions": find_suppressions(source).to_json()}
    if coverage is not None:
        row["coverage"] = coverage
    if conversion is not None:
        row["conversion"] = [_fix_row(conversion.fix), conversion.notes]
    if source.notebook is not None and (row["findings"] or row["suppressions"]):
        row["cells"] = source.notebook.places.to_json()
    if source.digest != expected:
        row["changed"] = True
    return row, questions, digest


def check_file(
    source: SourceFile,
    key: str,
    project: Project,
    target: Target,
    keep: bool = False,
    index: FileIndex | None = None,
    fixes: Via | None = None,
) -> tuple[list[Finding], list[Any], str, Coverage | None, Conversion | None]:
    """Run every rule over one file of a project.

    Returns:
        The findings; and, to `keep` them, the questions that were asked of the project, with a digest of its answers;
        how far the code was understood; and how the file runs through compat.v1, where that is asked for.
    """
    from ..analysis.dependency_recorder import DependencyRecorder

    if index is None:
        tree = parse_source(source)
        if isinstance(tree, Finding):
            source, tree = readable(source, tree)
        if isinstance(tree, Finding):
            return [tree], [], "", None, None
        from ..analysis.index import FileIndex
        from ..analysis.summary import summarize
        from .facts import mentions_tensorflow

        if key not in project.summaries:
            if mentions_tensorflow(source.text):
                summarize(FileIndex(tree))  # raises again what has kept it out of the project
                raise MemoryError  # there is enough this time
            return in_place(source, []), [], "", None, None  # it does not reach TensorFlow
        index = FileIndex(tree)
    from ..rule_api.model import File
    from .coverage import coverage_of

    recorder = DependencyRecorder(project)
    file = File(source, key, index, recorder, target)
    dispatch = _dispatch()
    diagnostics: list[tuple[Rule, Diagnostic]] = []
    failures: list[Finding] = []
    for rule, function, site in dispatch.visits(file):
        try:
            diagnostics.extend((rule, diagnostic) for diagnostic in function(site))
        except MemoryError:
            raise
        except Exception as error:
            failures.append(_crash(source.display, rule, site, error))
    findings = _findings(source, diagnostics, failures if fixes is Via.NATIVE else None)
    findings = in_place(source, [*findings, *failures])
    coverage = coverage_of(file, project)
    conversion = None
    if fixes is Via.COMPAT_V1 and source.refused is None:
        conversion = _conversion(file)
    file.release()
    questions, digest = recorder.dependencies() if keep else ([], "")
    return findings, questions, digest, coverage, conversion


def _conversion(file: File) -> Conversion:
    from ..fixing.compat_v1 import converted

    if file.source.notebook is not None:
        return Conversion(None, ((1, "a notebook is not converted: it runs as its cells are run"),))
    done = converted(file)
    fix = Fix(Applicability.SAFE, done.edits) if done.edits else None
    return Conversion(fix, tuple((note.line, note.message) for note in done.notes))


def _findings(
    source: SourceFile, diagnostics: Iterable[tuple[Rule, Diagnostic]], failures: list[Finding] | None
) -> list[Finding]:
    """One site, one finding, the most specific: a rule is silent where one that supersedes it speaks.

    With a list for the `failures` of rules that do so, each has its fix.
    """
    placed = [(rule, said, (said.site.line, said.site.column)) for rule, said in diagnostics]
    superseded: dict[tuple[int, int], set[str]] = {}
    for rule, _, place in placed:
        superseded.setdefault(place, set()).update(rule.supersedes)
    findings: dict[tuple[Any, ...], Finding] = {}
    for rule, said, place in placed:
        if said.site.is_dead and (said.severity or rule.severity) is not Severity.INFO:
            continue  # it is for another version than the target's
        if said.site.never_runs or (rule.of_keras and said.site.is_of_private_keras):
            continue
        identity = (rule.code, place, said.message)
        if rule.code not in superseded[place] and identity not in findings:
            finding = _finding(source, rule, said)
            findings[identity] = finding if failures is None else _with_fix(finding, rule, said, failures)
    return sorted(findings.values(), key=lambda finding: finding.sort_key)


def _finding(source: SourceFile, rule: Rule, said: Diagnostic) -> Finding:
    """What a rule said, with what surrounds its site; the paths of related locations are names within the project."""
    from ..analysis.statements import lines_of

    site = said.site
    around = site.statement if source.notebook is None else None
    return Finding(
        path=source.display,
        line=site.line,
        column=site.column,
        end_line=site.end_line,
        end_column=site.end_column,
        code=rule.code,
        slug=rule.slug(),
        severity=said.severity,
        consequence=said.consequence,
        message=said.message,
        statement=None if around is None else lines_of(around),
        function=None if around is None else site.function_span,
        subject=said.subject,
        related=said.related if source.notebook is None else (),
        effort=rule.effort_of(said.subject),
    )


def _with_fix(finding: Finding, rule: Rule, said: Diagnostic, failures: list[Finding]) -> Finding:
    """A finding with the fix that its rule has for it, or with a failure of the rule to make one."""
    from ..fixing.fixes import fix_of

    try:
        return replace(finding, fix=fix_of(rule, said.site))
    except MemoryError:
        raise
    except Exception as error:
        failures.append(_crash(finding.path, rule, said.site, error))
        return finding


def _analysis_crash(display: str, error: Exception) -> Finding:
    if isinstance(error, MemoryError):
        return UNPARSABLE_FILE.at(display, NO_MEMORY)
    return INTERNAL_ERROR.at(
        display,
        f"the analysis of this file crashed at {_where(error)}: {type(error).__name__}: {error}; "
        "it was not linted, and the other files were",
    )


def _where(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace is not None else "?"


def _crash(display: str, rule: Rule, site: Any, error: Exception) -> Finding:
    line = getattr(site, "line", 1)
    return INTERNAL_ERROR.at(
        display,
        f"{rule.code} ({rule.slug()}) crashed at {_where(error)}: {type(error).__name__}: {error}; "
        "the other rules went on",
        line=line if isinstance(line, int) else 1,
    )


def _worker_died(display: str, reason: str) -> Finding:
    return UNPARSABLE_FILE.at(display, f"the process that read this file died ({reason}); it was not linted")


class _Dispatch:
    """Which rules want to see which sites."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        from ..rule_api.rule import Rule

        self.calls = _Gate({rule: rule.calls for rule in rules})
        self.references = _Gate({rule: rule.references for rule in rules})
        self.imports = _Gate({rule: rule.imports for rule in rules})
        self.methods: dict[str, list[Rule]] = {}
        self.creators: dict[str, list[Rule]] = {}
        for rule in rules:
            for method in rule.methods:
                self.methods.setdefault(method, []).append(rule)
            for kind in rule.creates:
                self.creators.setdefault(kind, []).append(rule)

        def overriding(name: str) -> list[Rule]:
            return [rule for rule in rules if getattr(type(rule), name) is not getattr(Rule, name)]

        self.on_assignment: dict[str, list[Rule]] = {}
        for rule in overriding("on_assignment"):
            for kind in rule.assigns:
                self.on_assignment.setdefault(kind, []).append(rule)
        self.on_class = overriding("on_class")
        self.on_function = overriding("on_function")
        self.on_file = overriding("on_file")

    def visits(self, file: File) -> Iterator[tuple[Rule, Callable[[Any], Iterator[Diagnostic]], Any]]:
        """Every rule call that a file is worth, in a fixed order."""
        target = file.target

        def wanted(rules: Iterable[Rule]) -> Iterator[Rule]:
            return (rule for rule in rules if target in rule.targets)

        for rule in wanted(self.on_file):
            yield rule, rule.on_file, file
        for statement in file.imports:
            for rule in wanted(self.imports.wanting(statement.names)):
                yield rule, rule.on_import, statement
        for cls in file.classes if self.on_class else ():
            for rule in wanted(self.on_class):
                yield rule, rule.on_class, cls
        for function in file.functions if self.on_function else ():
            for rule in wanted(self.on_function):
                yield rule, rule.on_function, function
        for call in file.calls_of(self._may_want, self.methods):
            for rule in wanted(self._call_rules(call)):
                yield rule, rule.on_call, call
        for reference in file.references_to(self.references.wanting):
            for rule in wanted(self.references.wanting(reference.names)):
                yield rule, rule.on_reference, reference
        for assignment in file.assignments if self.on_assignment else ():
            for rule in wanted(self.on_assignment.get(assignment.kind, ())):
                yield rule, rule.on_assignment, assignment

    def _may_want(self, called: Sequence[Entity]) -> bool:
        """Whether some rule may want a call: most are never looked at as a `Call`."""
        return any(e.kind == "class" or (e.kind == "external" and self.calls.wants(canonical(e.text))) for e in called)

    def _call_rules(self, call: Any) -> list[Rule]:
        rules = self.calls.wanting(call.names)
        if call.method in self.methods:
            rules = [*rules, *(rule for rule in self.methods[call.method] if rule not in rules)]
        for entity in call.found:
            if entity.kind == "class":
                for kind in sorted(call.creates):
                    rules = [*rules, *(rule for rule in self.creators.get(kind, ()) if rule not in rules)]
        return rules


class _Gate:
    """Canonical names, and prefixes ending in ``.*``, to the rules that want them."""

    def __init__(self, wanted: Mapping[Rule, Sequence[str]]) -> None:
        self._exact: dict[str, list[Rule]] = {}
        self._prefix: dict[str, list[Rule]] = {}
        for rule, names in wanted.items():
            for name in names:
                if name.endswith(".*"):
                    self._prefix.setdefault(name[:-2], []).append(rule)
                else:
                    self._exact.setdefault(name, []).append(rule)
        self._memo: dict[str, list[Rule]] = {}

    def wants(self, name: str) -> bool:
        return bool(self._of(name))

    def wanting(self, names: Sequence[Any]) -> list[Rule]:
        if len(names) == 1:
            return self._of(names[0].canonical)
        return list(dict.fromkeys(rule for name in names for rule in self._of(name.canonical)))

    def _of(self, name: str) -> list[Rule]:
        known = self._memo.get(name)
        if known is None:
            found = list(self._exact.get(name, ()))
            head = name
            while "." in head:
                head = head.rpartition(".")[0]
                found.extend(rule for rule in self._prefix.get(head, ()) if rule not in found)
            known = self._memo[name] = found
        return known


def _dispatch() -> _Dispatch:
    from ..registry.registry import all_rules

    return _dispatch_to(all_rules())


@memoized
def _dispatch_to(rules: tuple[Rule, ...]) -> _Dispatch:
    return _Dispatch(rules)


# -- rows: findings as JSON, without the path, which is the reader's affair --------------------------------------------


def _row(finding: Finding) -> list[Any]:
    return [
        finding.line, finding.column, finding.end_line, finding.end_column, finding.code, finding.slug,
        str(finding.severity), str(finding.consequence), finding.message,
        finding.statement, finding.function, finding.subject, finding.related, str(finding.effort),
        _fix_row(finding.fix),
    ]  # fmt: skip


def _fix_row(fix: Fix | None) -> list[Any] | None:
    return None if fix is None else [str(fix.applicability), [astuple(edit) for edit in fix.edits], fix.reason]


def _from_row(path: str, row: Sequence[Any]) -> Finding:
    line, column, end_line, end_column, code, slug, severity, effect, message, *more = row
    statement, function, subject, related, effort, fix = more
    return Finding(
        *(path, line, column, end_line, end_column, code, slug, Severity(severity), Consequence(effect), message),
        statement=Statement(*statement) if statement else None,
        function=Span(*function) if function else None,
        subject=subject,
        related=tuple(Location(*values) for values in related),
        effort=Effort(effort),
        fix=_fix_from(fix),
    )


def _fix_from(row: Sequence[Any] | None) -> Fix | None:
    return Fix(Applicability(row[0]), tuple(Edit(*edit) for edit in row[1]), row[2]) if row else None


def shown_at(finding: Finding, shown: Callable[[str], str]) -> Finding:
    """A finding as it is shown: of the files of its related locations only the names within the project were known."""
    if not finding.related:
        return finding
    return replace(finding, related=tuple(one._replace(path=shown(one.path)) for one in finding.related))


def _unreached(head: Head) -> Row:
    """The row of a file that is Python but does not reach TensorFlow."""
    if not (comments := head.get("suppressions")):
        return _EMPTY
    row: Row = {"findings": [], "suppressions": comments}
    return row | {"cells": head["cells"]} if "cells" in head else row


def _result(display: str, row: Row, shown: Callable[[str], str], digest: str | None) -> FileResult:
    if row is _EMPTY:
        return _NOTHING
    findings = tuple(shown_at(_from_row(display, values), shown) for values in row["findings"])
    conversion = None
    if "conversion" in row:
        fix, notes = row["conversion"]
        conversion = Conversion(_fix_from(fix), tuple((line, text) for line, text in notes))
    digest = digest if findings or conversion else None
    coverage = Coverage(*row["coverage"]) if "coverage" in row else None
    kept = row["suppressions"]
    suppressions = Suppressions.from_json(kept) if kept is not None else Suppressions()
    if "cells" not in row:
        return FileResult(findings, suppressions, None, digest, coverage, conversion)
    from ..source.cells import CellMap

    return FileResult(findings, suppressions, CellMap.from_json(row["cells"]), digest, coverage, conversion)


_NOTHING = FileResult((), Suppressions())


def _size(item: tuple[str, str, str, str]) -> int:
    try:
        return os.stat(item[1]).st_size
    except OSError:
        return 0
