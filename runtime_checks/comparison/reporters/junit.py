"""JUnit XML: a case a rung, so that a server shows the ladder beside the other tests.

A rung that fails is a failure, one that says nothing an error, one that was not run is skipped. A case has the file
and the line of the first value that failed, of the TF2 side where there is one, and the text of its failing values.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....linter.reporters.junit_xml import Case, Suite, counted, document
from ...worker.recording.format.rows import Place
from ..results import Deviation, Results, Rung, Status
from ..wording import agreement, label, lines, printable, subject, verdict, when

__all__ = ["render"]

_OUTCOMES = {Status.FAIL: "failure", Status.VACUOUS: "error", Status.NOT_RUN: "skipped"}
_WRITTEN = 50
"""Failing values that are written out of each rung."""


def render(report: Results, color: bool = False) -> str:
    """The report as XML, in ASCII, whatever the colour."""
    suite = printable(report.name)
    errors = [(f"{side.side} side", f"ended early: {side.cause}") for side in report.sides if side.cause]
    errors += [("inputs", problem) for problem in report.problems]
    if report.status and not errors and not _complaints(report):
        errors = [("comparison", verdict(report))]
    cases = [_case(rung, suite, report) for rung in report.rungs]
    if report.not_compared:
        facts = {"name": "not compared", "classname": suite}
        cases.append(Case(facts, "skipped", "not compared", _brief(report), _text("\n".join(report.not_compared))))
    cases += [
        Case({"name": name, "classname": suite}, "error", "not comparable", printable(words), _text(words))
        for name, words in errors
    ]
    lines = document([Suite(suite, cases)], {"name": "migrate-lint verify", **counted(cases)})
    return "".join(f"{line}\n" for line in lines)


def _brief(report: Results) -> str:
    return printable("; ".join(dict.fromkeys(one.partition(" (")[0] for one in report.not_compared)))


def _complaints(report: Results) -> bool:
    return any(rung.status in (Status.FAIL, Status.VACUOUS) for rung in report.rungs)


def _case(rung: Rung, suite: str, report: Results) -> Case:
    facts: dict[str, object] = {"name": printable(f"{rung.number} {rung.title}"), "classname": suite}
    where = _place(rung, report)
    if where is not None:
        facts |= {"file": printable(where[0]), "line": where[1]}
    outcome = _OUTCOMES.get(rung.status, "")
    return Case(facts, outcome, rung.status.value, printable(rung.detail), _text("\n".join(_said(rung))))


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


def _text(words: str) -> str:
    return "\n".join(printable(line) for line in words.split("\n"))
