"""From files to findings: facts of all files, the project, then every rule on every site of each file.

The stages, in the order in which a file goes through them:

1. `_facts`: read, parse with `ast`, summarize (kept by content);
2. `Project`: all summaries together;
3. `check_file`: the file's index again, with its tree, and its sites handed to the rules (kept by content and by the
   cross-file facts that were asked for).
"""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache as memoized
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .cache import Cache
from .finding import Consequence, Finding, Severity, Target
from .names import canonical
from .pool import ItemFailed, map_ordered
from .source import SourceFile, parse_source, read_source
from .suppress import Suppressions, find_suppressions
from .tool_rules import InternalError, UnparsableFile

if TYPE_CHECKING:
    from .index import CallFact
    from .model import File
    from .project import Project
    from .rule import Report, Rule
    from .summary import Summary

_MARKERS = ("tensorflow", "keras", "tf_slim", "sonnet")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FileResult:
    """Everything that was found in one file, before selection and suppression."""

    findings: tuple[Finding, ...]
    suppressions: Suppressions


@memoized
def version() -> str:
    """A digest of this installation's rules and engine, and of the Python that runs them."""
    digest = blake2b(sys.version.encode(), digest_size=16)
    top = Path(__file__).resolve().parent
    for folder in (top, top.parent / "rules"):
        for place, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith((".py", ".json")):
                    status = os.stat(os.path.join(place, name))
                    digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def analyze(
    files: Sequence[tuple[Path, str]],
    *,
    root: Path,
    target: Target,
    jobs: int = 1,
    cache: Path | None = None,
    overrides: Mapping[Path, bytes] | None = None,
    progress: Progress | None = None,
    project_paths: Sequence[str] | None = None,
) -> dict[str, FileResult]:
    """Find everything that every rule says about `files`, each a path with the name it is shown under.

    `root` is the project whose files the analysis may look into; `overrides` hold unsaved contents.
    With `cache`, facts and findings are kept in that folder.
    """
    # What a file leaves behind is released by hand: the collector would only walk the summaries again and again.
    collecting = gc.isenabled()
    gc.disable()
    try:
        with Cache(cache, version()) as store:
            return _Run(files, root, target, jobs, store, overrides or {}, progress, project_paths).results()
    finally:
        if collecting:
            gc.enable()


class _Run:
    def __init__(
        self,
        files: Sequence[tuple[Path, str]],
        root: Path,
        target: Target,
        jobs: int,
        store: Cache,
        overrides: Mapping[Path, bytes],
        progress: Progress | None,
        project_paths: Sequence[str] | None,
    ) -> None:
        self.root = os.path.abspath(root)
        self.target = target
        self.jobs = jobs
        self.store = store
        self.progress = progress
        self.overrides = {os.path.abspath(path): data for path, data in overrides.items()}
        self.wanted = {self._key(os.path.abspath(path)): (os.path.abspath(path), display) for path, display in files}
        self.paths = {self._key(path): path for path in (project_paths if project_paths is not None else self._project())}
        for key, (path, _) in self.wanted.items():
            self.paths.setdefault(key, path)
        self.done = 0

    def _project(self) -> list[str]:
        from .discovery import project_files

        return project_files(Path(self.root))

    def _key(self, path: str) -> str:
        """A file's name within the project: relative to its root where it lies below it."""
        prefix = self.root.rstrip(os.sep) + os.sep
        return path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) else path.replace(os.sep, "/")

    def results(self) -> dict[str, FileResult]:
        sources, digests, failed = self._digests()
        found: dict[str, FileResult] = {
            display: FileResult((failed[key],), Suppressions()) for key, (_, display) in self.wanted.items() if key in failed
        }
        todo = [key for key in sorted(self.wanted) if key not in failed]
        run_key = _digest(self.target, *(f"{key} {digests[key]}" for key in sorted(digests)))
        kept = self.store.get("run", [run_key]).get(run_key, {})
        rows = self._kept_rows({key: kept[key] for key in todo if key in kept})
        rest = [key for key in todo if key not in rows]
        self._advance(len(rows), len(todo))
        if rest:
            rows |= self._checked(rest, sources, digests)
            self.store.put("run", {run_key: kept | {key: row["key"] for key, row in rows.items() if row.get("key")}})
        for key in todo:
            display = self.wanted[key][1]
            found[display] = _result(display, rows[key])
        return {display: found[display] for display in sorted(found)}

    def _advance(self, count: int, total: int) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(self.done, total)

    def _digests(self) -> tuple[dict[str, SourceFile], dict[str, str], dict[str, Finding]]:
        """Read every file of the project once; texts are only held for the files that are asked for."""
        sources: dict[str, SourceFile] = {}
        digests: dict[str, str] = {}
        failed: dict[str, Finding] = {}
        for key, path in sorted(self.paths.items()):
            source = self._read(key, path)
            if isinstance(source, Finding):
                if key in self.wanted:
                    failed[key] = source
                continue
            digests[key] = source.digest
        return sources, digests, failed

    def _read(self, key: str, path: str) -> SourceFile | Finding:
        display = self.wanted[key][1] if key in self.wanted else key
        return read_source(Path(path), display, self.overrides.get(path))

    def _kept_rows(self, keys: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        kept = self.store.get("findings", list(keys.values()))
        return {name: kept[key] for name, key in keys.items() if key in kept}

    # -- the slow way ------------------------------------------------------------------------------------------------

    def _checked(
        self, rest: Sequence[str], sources: Mapping[str, SourceFile], digests: Mapping[str, str]
    ) -> dict[str, dict[str, Any]]:
        from .project import Project
        from .view import answers

        project = Project(self._summaries(digests))
        rows: dict[str, dict[str, Any]] = {}
        candidates = self.store.get("findings", [self._latest(key, digests[key]) for key in rest])
        waiting: list[str] = []
        for key in rest:
            latest = candidates.get(self._latest(key, digests[key]))
            if latest and answers(project, latest["questions"]) == latest["answers"]:
                rows[key] = latest["row"]
                self._advance(1, len(self.wanted))
            else:
                waiting.append(key)
        items = [(key, self.paths[key], self.wanted[key][1]) for key in waiting]
        overrides = {path: data for path, data in self.overrides.items()}
        made = map_ordered(
            check_item,
            items,
            self.jobs,
            initializer=_begin,
            initargs=(project.summaries, self.target, overrides, self.store.enabled),
            weight=_size,
        )
        new: dict[str, Any] = {}
        _begin(project.summaries, self.target, overrides, self.store.enabled, project)
        for (key, path, display), outcome in zip(items, made, strict=True):
            if isinstance(outcome, ItemFailed):
                rows[key] = {"findings": [_row(_worker_died(display, outcome.reason))], "suppressions": None}
            else:
                row, questions, digest = outcome
                name = _digest(self._latest(key, digests[key]), digest)
                row["key"] = name
                new[name] = row
                new[self._latest(key, digests[key])] = {"questions": questions, "answers": digest, "row": row}
                rows[key] = row
            self._advance(1, len(self.wanted))
        self.store.put("findings", new)
        return rows

    def _latest(self, key: str, digest: str) -> str:
        return _digest(key, digest, self.target)

    def _summaries(self, digests: Mapping[str, str]) -> dict[str, Summary]:
        """Summaries of all files that reach TensorFlow, directly or through files of the project."""
        facts = self._facts(digests, sorted(digests), facts_of, "facts")
        reaching = _reaching(facts)
        unmarked = [key for key in reaching if "summary" not in facts[key]]
        facts.update(self._facts(digests, unmarked, summary_of, "summary"))
        return {key: facts[key]["summary"] for key in reaching}

    def _facts(
        self, digests: Mapping[str, str], keys: Sequence[str], make: Callable[[SourceFile], dict[str, Any]], kind: str
    ) -> dict[str, dict[str, Any]]:
        """Facts of files, kept by content; a file that cannot be parsed has none."""
        kept = self.store.get("facts", [f"{kind} {digests[key]}" for key in keys])
        facts: dict[str, dict[str, Any]] = {}
        new: dict[str, Any] = {}
        for key in keys:
            fact = kept.get(f"{kind} {digests[key]}")
            if fact is None:
                source = self._read(key, self.paths[key])
                fact = {} if isinstance(source, Finding) else make(source)
                new[f"{kind} {digests[key]}"] = fact
            if fact:
                facts[key] = fact
        self.store.put("facts", new)
        return facts


def facts_of(source: SourceFile) -> dict[str, Any]:
    """What is kept of every file: its summary if it mentions TensorFlow, else only what it imports.

    Empty if it does not parse.
    """
    if any(marker in source.text for marker in _MARKERS):
        return summary_of(source)
    from .summary import imported

    tree = parse_source(source)
    return {} if isinstance(tree, Finding) else {"imports": imported(tree)}


def summary_of(source: SourceFile) -> dict[str, Any]:
    """The summary of a file that reaches TensorFlow; empty if it does not parse."""
    from .index import FileIndex
    from .summary import summarize

    tree = parse_source(source)
    if isinstance(tree, Finding):
        return {}
    index = FileIndex(tree)
    try:
        return {"summary": summarize(index)}
    finally:
        index.release()


def _reaching(facts: Mapping[str, dict[str, Any]]) -> list[str]:
    """The files that mention TensorFlow, and those that import from such a file, to any depth."""
    by_tail: dict[str, list[str]] = {}
    for key in facts:
        plain = key.removesuffix("/__init__.py").removesuffix(".py")
        by_tail.setdefault(plain.rpartition("/")[2], []).append(key)
    kept = {key for key, fact in facts.items() if "summary" in fact}
    importers: dict[str, set[str]] = {}
    for key, fact in facts.items():
        if key in kept:
            continue
        for absolute in fact["imports"]:
            for part in absolute.split("."):
                for other in by_tail.get(part, ()):
                    importers.setdefault(other, set()).add(key)
    queue = sorted(kept)
    while queue:
        for importer in sorted(importers.get(queue.pop(), ())):
            if importer not in kept:
                kept.add(importer)
                queue.append(importer)
    return sorted(kept)


# -- one file ------------------------------------------------------------------------------------------------------------

_state: tuple[Project, Target, Mapping[str, bytes], bool] | None = None


def _begin(
    summaries: Mapping[str, Summary],
    target: Target,
    overrides: Mapping[str, bytes],
    keep: bool,
    project: Project | None = None,
) -> None:
    """Set up a worker: every file of the run is checked against the same project."""
    global _state  # noqa: PLW0603
    from .project import Project

    if _state is not None and project is None and _state[0].summaries is summaries:
        return
    _state = (project or Project(summaries), target, overrides, keep)


def check_item(item: tuple[str, str, str]) -> tuple[dict[str, Any], list[Any], str]:
    """Check one file: ``(key, path, display)`` to its row, the questions it asked and the digest of the answers."""
    assert _state is not None
    project, target, overrides, keep = _state
    key, path, display = item
    source = read_source(Path(path), display, overrides.get(path))
    if isinstance(source, Finding):
        return {"findings": [_row(source)], "suppressions": None}, [], ""
    findings, questions, digest = check_file(source, key, project, target, keep)
    suppressions = find_suppressions(source)
    return {"findings": [_row(f) for f in findings], "suppressions": suppressions.to_json()}, questions, digest


def check_file(
    source: SourceFile, key: str, project: Project, target: Target, keep: bool = False
) -> tuple[list[Finding], list[Any], str]:
    """Run every rule over one file of a project.

    Returns:
        The findings; and, to `keep` them, the questions that were asked of the project, with a digest of its answers.
    """
    from .view import View

    tree = parse_source(source)
    if isinstance(tree, Finding):
        return [tree], [], ""
    if key not in project.summaries:
        return [], [], ""  # it does not reach TensorFlow
    from .index import FileIndex
    from .model import File

    view = View(project)
    file = File(source, key, FileIndex(tree), view, target)
    dispatch = _dispatch()
    reports: list[tuple[Rule, Report]] = []
    failures: list[Finding] = []
    for rule, function, site in dispatch.visits(file):
        try:
            reports.extend((rule, report) for report in function(site))
        except Exception as error:
            failures.append(_crash(source.display, rule, site, error))
    findings = [*_findings(source.display, reports), *failures]
    file.release()
    questions, digest = view.dependencies() if keep else ([], "")
    return findings, questions, digest


def _findings(display: str, reports: Iterable[tuple[Rule, Report]]) -> list[Finding]:
    """One site, one finding, the most specific: a rule is silent where one that it yields to speaks."""
    placed = [(rule, report, (report.site.line, report.site.column)) for rule, report in reports]
    codes: dict[tuple[int, int], set[str]] = {}
    for rule, _, place in placed:
        codes.setdefault(place, set()).add(rule.code)
    findings: dict[tuple[Any, ...], Finding] = {}
    for rule, report, place in placed:
        others = codes[place] - {rule.code}
        if any(code in others or (code == "*" and others) for code in rule.yields_to):
            continue
        finding = Finding(
            path=display,
            line=place[0],
            column=place[1],
            end_line=report.site.end_line,
            end_column=report.site.end_column,
            code=rule.code,
            slug=rule.slug(),
            severity=report.severity,
            consequence=rule.consequence,
            message=report.message,
        )
        findings.setdefault((rule.code, place, report.message), finding)
    return sorted(findings.values(), key=lambda finding: finding.sort_key)


def _crash(display: str, rule: Rule, site: Any, error: Exception) -> Finding:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace is not None else "?"
    line = getattr(site, "line", 1)
    return InternalError.at(
        display,
        f"{rule.code} ({rule.slug()}) crashed at {where}: {type(error).__name__}: {error}; the other rules went on",
        line=line if isinstance(line, int) else 1,
    )


def _worker_died(display: str, reason: str) -> Finding:
    return UnparsableFile.at(display, f"the process that read this file died ({reason}); it was not linted")


class _Dispatch:
    """Which rules want to see which sites."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        from .rule import Rule

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

        self.on_assignment = overriding("on_assignment")
        self.on_class = overriding("on_class")
        self.on_function = overriding("on_function")
        self.on_file = overriding("on_file")

    def visits(self, file: File) -> Iterator[tuple[Rule, Callable[[Any], Iterator[Report]], Any]]:
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
        for fact in file.index.calls:
            if self._calls_gate(file, fact):
                call = file.call_of(fact)
                for rule in wanted(self._call_rules(call)):
                    yield rule, rule.on_call, call
        for fact in file.index.references:
            rules = self.references.wanting(file.names(fact.scope, fact.path))
            if rules:
                reference = file.reference_of(fact)
                for rule in wanted(rules):
                    yield rule, rule.on_reference, reference
        for assignment in file.assignments if self.on_assignment else ():
            for rule in wanted(self.on_assignment):
                yield rule, rule.on_assignment, assignment

    def _calls_gate(self, file: File, fact: CallFact) -> bool:
        """Whether some rule may want a call: most are never looked at as a `Call`."""
        func = fact.node.func
        if isinstance(func, ast.Attribute) and func.attr in self.methods:
            return True
        entities = file.entities(fact.scope, fact.path)
        return any(
            e.kind == "class" or (e.kind == "external" and self.calls.wants(canonical(e.text))) for e in entities
        )

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


@memoized
def _dispatch() -> _Dispatch:
    from .registry import all_rules

    return _Dispatch(all_rules())


# -- rows: findings as JSON, without the path, which is the reader's affair ------------------------------------------------


def _row(finding: Finding) -> list[Any]:
    return [
        finding.line, finding.column, finding.end_line, finding.end_column, finding.code, finding.slug,
        str(finding.severity), str(finding.consequence), finding.message,
    ]  # fmt: skip


def _result(display: str, row: Mapping[str, Any]) -> FileResult:
    findings = tuple(
        Finding(display, *values[:6], Severity(values[6]), Consequence(values[7]), values[8]) for values in row["findings"]
    )
    kept = row["suppressions"]
    return FileResult(findings, Suppressions.from_json(kept) if kept is not None else Suppressions())


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _size(item: tuple[str, str, str]) -> int:
    try:
        return os.stat(item[1]).st_size
    except OSError:
        return 0
