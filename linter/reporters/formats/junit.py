"""Servers that show test results: JUnit XML, a suite a file, a case a finding.

Errors and warnings are failures, infos are skipped, as they do not set the exit status either; a file that could not be
checked is an error. A file without findings is one case that passes, since servers take an empty report for a lost one;
it is skipped where no file reaches TensorFlow. A run of the model is a suite, too, and its phases are cases: those that
did not come to their end are skipped, with the reason.
Cases are named by the rule and what is around the finding, without its line: servers compare runs by these names.
The attributes are those of Jenkins's schema, which knows no line of a case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...adoption.fingerprint import identities
from ...finding import INTERNAL_ERROR, PROBE_FAILED, PYTHON2_SOURCE, UNPARSABLE_FILE, Finding, Severity
from ...result import Result
from ...runtime_report import WorkerRun
from .. import Paint, printable
from ..ci import Repository, explained, place
from ..junit_xml import Case, Suite, counted, document

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = True

_UNREACHED = "nothing to check: no file reaches TensorFlow"
_UNCHECKED = frozenset({UNPARSABLE_FILE.code, PYTHON2_SOURCE.code, PROBE_FAILED.code, INTERNAL_ERROR.code})


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, in ASCII."""
    repository = Repository()
    files: dict[str, list[tuple[Finding, str]]] = {path: [] for path in sorted(result.sources)}
    for finding, named in zip(result.findings, identities(result.findings, result.source), strict=True):
        files.setdefault(finding.path, []).append((finding, named.scope))
    reached = result.coverage is None or result.coverage.files > 0
    suites = [_suite(printable(repository.shown(path)), found, reached) for path, found in files.items()]
    suites += [_phases(run) for run in (result.runtime.runs if result.runtime else ())]
    counts = counted(case for suite in suites for case in suite.cases)
    del counts["skipped"]
    yield from document(suites, {"name": "migrate-lint", **counts})


def _suite(path: str, found: Sequence[tuple[Finding, str]], reached: bool) -> Suite:
    silent = Case({"name": "no findings", "classname": path})
    cases = [] if found else [silent if reached else silent._replace(outcome="skipped", message=_UNREACHED)]
    seen: Counter[str] = Counter()
    for finding, scope in found:
        title = f"{finding.code} {finding.slug}" + (f" in {scope}" if scope else "")
        seen[title] += 1
        title += f" ({seen[title]})" if seen[title] > 1 else ""
        facts = {"name": printable(title), "classname": path}
        message = f"{place(finding)}: {printable(finding.message)}"
        where = f"{path}, {place(finding)}, column {finding.column} ({finding.consequence.value})"
        text = f"{where}: {explained(finding)}"
        cases.append(Case(facts, _outcome(finding), finding.severity.value, message, text))
    return Suite(path, cases, {"file": path})


def _phases(run: WorkerRun) -> Suite:
    name = printable(" ".join(filter(None, ["runtime", run.model, run.target.value, "on", run.device])))
    cases = []
    for phase in run.phases:
        outcome = "" if phase.outcome == "ok" else "skipped"
        message = printable(phase.detail) if outcome else ""
        cases.append(Case({"name": printable(phase.name), "classname": name}, outcome, phase.outcome, message, message))
    return Suite(name, cases)


def _outcome(finding: Finding) -> str:
    if finding.code in _UNCHECKED:
        return "error"
    return "skipped" if finding.severity is Severity.INFO else "failure"
