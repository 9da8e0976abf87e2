"""JUnit XML: a suite a file, a case a finding.

Errors and warnings are failures, infos are skipped, as they do not set the exit status either; a file that could not be
checked is an error. A file without findings is one case that passes, since servers take an empty report for a lost one.
Cases are named by the rule and what is around the finding, without its line: servers compare runs by these names.
The attributes are those of Jenkins's schema, which knows no line of a case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from ..adoption.fingerprint import identities
from ..finding import INTERNAL_ERROR, PROBE_FAILED, PYTHON2_SOURCE, UNPARSABLE_FILE, Severity
from . import Paint, printable
from .ci import Repository, explained, place

if TYPE_CHECKING:
    from ..finding import Finding
    from ..result import Result

__all__ = ["report"]

_UNCHECKED = frozenset({UNPARSABLE_FILE.code, PYTHON2_SOURCE.code, PROBE_FAILED.code, INTERNAL_ERROR.code})


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, in ASCII."""
    for line in _report(result):
        yield line.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _report(result: Result) -> Iterator[str]:
    repository = Repository()
    files: dict[str, list[tuple[Finding, str]]] = {path: [] for path in sorted(result.sources)}
    for finding, named in zip(result.findings, identities(result.findings, result.source), strict=True):
        files.setdefault(finding.path, []).append((finding, named.scope))
    cases = sum(max(len(found), 1) for found in files.values())
    counts = Counter(_outcome(finding) for finding in result.findings)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites {_attributes({'name': 'migrate-lint', 'tests': cases} | _counted(counts))}>"
    for path, found in files.items():
        yield from _suite(repository.shown(path), found)
    yield "</testsuites>"


def _suite(path: str, found: Sequence[tuple[Finding, str]]) -> Iterator[str]:
    counts = Counter(_outcome(finding) for finding, _ in found)
    name = printable(path)
    facts = {"name": name, "tests": max(len(found), 1)} | _counted(counts)
    yield f"  <testsuite {_attributes(facts | {'skipped': counts['skipped'], 'file': name})}>"
    if not found:
        yield f"    <testcase {_attributes({'name': 'no findings', 'classname': name})}/>"
    seen: Counter[str] = Counter()
    for finding, scope in found:
        title = f"{finding.code} {finding.slug}" + (f" in {scope}" if scope else "")
        seen[title] += 1
        title += f" ({seen[title]})" if seen[title] > 1 else ""
        yield f"    <testcase {_attributes({'name': printable(title), 'classname': name})}>"
        yield from _case(finding, name)
        yield "    </testcase>"
    yield "  </testsuite>"


def _case(finding: Finding, path: str) -> Iterator[str]:
    outcome, text = _outcome(finding), explained(finding)
    facts = {"type": finding.severity.value, "message": f"{place(finding)}: {printable(finding.message)}"}
    where = f"{path}, {place(finding)}, column {finding.column} ({finding.consequence.value})"
    yield f"      <{outcome} {_attributes(facts)}>{escape(f'{where}: {text}')}</{outcome}>"


def _outcome(finding: Finding) -> str:
    if finding.code in _UNCHECKED:
        return "error"
    return "skipped" if finding.severity is Severity.INFO else "failure"


def _counted(outcomes: Mapping[str, int]) -> dict[str, object]:
    return {"failures": outcomes["failure"], "errors": outcomes["error"]}


def _attributes(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={quoteattr(str(value))}" for name, value in values.items())
