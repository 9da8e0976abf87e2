"""Servers that show test results: JUnit XML, a suite a file, a case a finding.

Errors and warnings are failures, infos are skipped, as they do not set the exit status either; a file that could not be
checked is an error. A file without findings is one case that passes, since servers take an empty report for a lost one.
Cases are named by the rule and what is around the finding, without its line: servers compare runs by these names.
The attributes are those of Jenkins's schema, which knows no line of a case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...adoption.fingerprint import identities
from ...finding import INTERNAL_ERROR, PROBE_FAILED, PYTHON2_SOURCE, UNPARSABLE_FILE, Finding, Severity
from ...result import Result
from .. import Paint, printable
from ..ci import Repository, explained, place
from ..junit_xml import Case, Suite, counted, document

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = True

_UNCHECKED = frozenset({UNPARSABLE_FILE.code, PYTHON2_SOURCE.code, PROBE_FAILED.code, INTERNAL_ERROR.code})


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, in ASCII."""
    repository = Repository()
    files: dict[str, list[tuple[Finding, str]]] = {path: [] for path in sorted(result.sources)}
    for finding, named in zip(result.findings, identities(result.findings, result.source), strict=True):
        files.setdefault(finding.path, []).append((finding, named.scope))
    suites = [_suite(printable(repository.shown(path)), found) for path, found in files.items()]
    counts = counted(case for suite in suites for case in suite.cases)
    del counts["skipped"]
    yield from document(suites, {"name": "migrate-lint", **counts})


def _suite(path: str, found: Sequence[tuple[Finding, str]]) -> Suite:
    cases = [] if found else [Case({"name": "no findings", "classname": path})]
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


def _outcome(finding: Finding) -> str:
    if finding.code in _UNCHECKED:
        return "error"
    return "skipped" if finding.severity is Severity.INFO else "failure"
