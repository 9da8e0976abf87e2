"""JUnit XML: a case a rung, so that a server shows the ladder beside the other tests.

A rung that fails is a failure, one that says nothing an error, one that was not run is skipped. A case has the file
and the line of the first value that failed, of the TF2 side where there is one, and the text of its failing values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from ...worker.recording.format.rows import Place
from ..results import Deviation, Results, Rung, Status
from ..wording import agreement, label, lines, printable, subject, verdict, when

__all__ = ["render"]

_OUTCOMES = {Status.FAIL: "failure", Status.VACUOUS: "error", Status.NOT_RUN: "skipped"}
_WRITTEN = 50
"""Failing values that are written out of each rung."""


def render(report: Results, color: bool = False) -> str:
    """The report as XML, in ASCII, whatever the colour."""
    text = "\n".join(_report(report)) + "\n"
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _report(report: Results) -> Iterator[str]:
    suite = printable(report.name)
    crashed = [(side.side, side.cause) for side in report.sides if side.cause]
    errors = [(f"{side} side", f"ended early: {cause}") for side, cause in crashed]
    errors += [("inputs", problem) for problem in report.problems]
    if report.status and not errors and not _complaints(report):
        errors = [("comparison", verdict(report))]
    counts = Counter(_OUTCOMES.get(rung.status, "passed") for rung in report.rungs)
    counted: dict[str, object] = {
        "tests": len(report.rungs) + len(errors),
        "failures": counts["failure"],
        "errors": counts["error"] + len(errors),
        "skipped": counts["skipped"],
    }
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites {_attributes({'name': 'migrate-lint verify', **counted})}>"
    yield f"  <testsuite {_attributes({'name': suite, **counted})}>"
    for rung in report.rungs:
        yield from _case(rung, suite, report)
    for name, words in errors:
        yield f"    <testcase {_attributes({'name': name, 'classname': suite})}>"
        yield from _outcome("error", "not comparable", words, words)
        yield "    </testcase>"
    yield "  </testsuite>"
    yield "</testsuites>"


def _complaints(report: Results) -> bool:
    return any(rung.status in (Status.FAIL, Status.VACUOUS) for rung in report.rungs)


def _case(rung: Rung, suite: str, report: Results) -> Iterator[str]:
    facts: dict[str, object] = {"name": printable(f"{rung.number} {rung.title}"), "classname": suite}
    where = _place(rung, report)
    if where is not None:
        facts |= {"file": printable(where[0]), "line": where[1]}
    outcome = _OUTCOMES.get(rung.status)
    if outcome is None:
        yield f"    <testcase {_attributes(facts)}/>"
        return
    yield f"    <testcase {_attributes(facts)}>"
    yield from _outcome(outcome, rung.status.value, rung.detail, "\n".join(_said(rung)))
    yield "    </testcase>"


def _place(rung: Rung, report: Results) -> Place | None:
    first = report.first_divergence
    checks = [first.deviation] if first is not None and first.rung == rung.number else []
    for check in (*checks, *rung.failures):
        if check.tf2_place or check.tf1_place:
            return check.tf2_place or check.tf1_place
    return None


def _said(rung: Rung) -> Iterator[str]:
    yield printable(rung.detail)
    for check in rung.failures[:_WRITTEN]:
        yield _value(check)
    if (more := len(rung.failures) - _WRITTEN) > 0:
        yield f"and {more} more"
    yield from lines(rung)


def _value(check: Deviation) -> str:
    return f"{subject(check)}, {', '.join(filter(None, (label(check.scenario), when(check))))}: {agreement(check)}"


def _outcome(outcome: str, kind: str, message: str, text: str) -> Iterator[str]:
    facts = {"type": kind, "message": printable(message)}
    body = "\n".join(printable(line) for line in text.split("\n"))
    yield f"      <{outcome} {_attributes(facts)}>{escape(body)}</{outcome}>"


def _attributes(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={quoteattr(str(value))}" for name, value in values.items())
