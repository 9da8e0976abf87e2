"""The ladder for a terminal: a line a rung, and more only where something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..results import Cause, Deviation, Divergence, OperationPair, Results, Rung, SideSummary, Status
from ..wording import (
    agreement,
    detail,
    farthest,
    figure,
    found,
    label,
    lines,
    operation,
    place,
    planted,
    printable,
    subject,
    timed,
    verdict,
    when,
)

__all__ = ["render"]

_MARKS = {Status.PASS: "+", Status.FAIL: "x", Status.NOT_RUN: "-", Status.VACUOUS: "?"}
_COLOURS = {Status.PASS: "32", Status.FAIL: "31;1", Status.NOT_RUN: "2", Status.VACUOUS: "33;1"}
_FAILURES = 3
"""Failing values that are written out of each rung."""

Paint = Callable[[str, str], str]


def render(report: Results, color: bool = False) -> str:
    """The report as text, which ends with its verdict.

    Args:
        report: what was found.
        color: whether to colour it for a terminal.
    """
    return "\n".join(_report(report, _coloured if color else _plain)) + "\n"


def _coloured(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def _plain(text: str, style: str) -> str:
    return text


def _report(report: Results, paint: Paint) -> Iterator[str]:
    yield paint(printable(report.name), "1") + paint(f"  policy {printable(report.policy)}", "2")
    width = max((len(rung.title) for rung in report.rungs), default=0)
    for rung in report.rungs:
        yield from _rung(rung, width, paint)
    if report.first_divergence is not None:
        yield ""
        yield from _divergence(report.first_divergence, paint)
    if report.causes:
        yield ""
        yield paint("Causes that would look like this, the likeliest first (evidence, not proof)", "1")
        for cause in report.causes:
            yield from _cause(cause, paint)
    tries = [found(report.trial)] if report.trial else []
    for title, words in [*tries, *([planted(report.self_test)] if report.self_test else [])]:
        yield ""
        yield paint(title, "1")
        yield from (f"  {line}" for line in words)
    yield ""
    for side in report.sides:
        yield from _side(side, paint)
    yield from _timed(report, paint)
    for problem in report.problems:
        yield paint(f"not comparable: {printable(problem)}", _COLOURS[Status.VACUOUS])
    if report.not_compared:
        yield f"not compared: {'; '.join(map(printable, report.not_compared))}"
    yield paint(verdict(report), "32;1" if report.equal else "31;1")


def _rung(rung: Rung, width: int, paint: Paint) -> Iterator[str]:
    colour = _COLOURS[rung.status]
    said = ", ".join(filter(None, (detail(rung), _farthest(rung))))
    gap = " " * (9 - len(rung.status.value)) if said else ""
    title = f"{printable(rung.number):>2}  {printable(rung.title):<{width}}"
    yield f"{paint(_MARKS[rung.status], colour)} {title}  {paint(rung.status.value, colour)}{gap}{said}"
    for check in rung.failures[:_FAILURES]:
        yield f"       {_failure(check, paint)}"
    if (more := len(rung.failures) - _FAILURES) > 0:
        yield f"       and {more} more"
    for line in lines(rung):
        yield paint(f"       {line}", "2")


def _farthest(rung: Rung) -> str:
    """What came nearest to its tolerance in a rung that passed."""
    worst = farthest(rung)
    return f"the farthest is {subject(worst)}" if worst is not None and rung.status is Status.PASS else ""


def _failure(check: Deviation, paint: Paint) -> str:
    context = ", ".join(filter(None, (label(check.scenario), when(check))))
    passing = "" if check.problem else f"; rtol {figure(check.needed_rtol)} would pass"
    return f"{paint(subject(check), '1')}, {context}: {agreement(check)}{passing}"


def _divergence(first: Divergence, paint: Paint) -> Iterator[str]:
    check = first.deviation
    context = ", ".join(filter(None, (f"rung {first.rung}", label(check.scenario), when(check))))
    yield paint("First divergence", "1") + f" ({context}): {paint(subject(check), '31;1')}"
    yield f"  {printable(first.text)}"
    for side, name, where in (("TF1", check.tf1_name, check.tf1_place), ("TF2", check.tf2_name, check.tf2_place)):
        yield f"  {side}  {printable(name) or 'none'}  {place(where)}"
    if first.operation is not None:
        yield from _operation(first.operation, paint)
    if not check.problem:
        where_in = f"at {list(check.at)} " if check.at else ""
        values = f"TF1 has {check.tf1_value:.9g}, TF2 {check.tf2_value:.9g}"
        yield f"  {where_in}{values} (rtol {figure(check.rtol)}, atol {figure(check.atol)})"
    if first.before is not None and subject(first.before) not in first.text:
        yield paint(f"  the last that agreed: {subject(first.before)}", "2")


def _operation(found: OperationPair, paint: Paint) -> Iterator[str]:
    yield f"  begins with {paint(operation(found), '31;1')}"
    for name, side in (("TF1", found.tf1), ("TF2", found.tf2)):
        made = "has no such operation" if side is None else f"{side.op} of {', '.join(side.inputs) or 'nothing else'}"
        more = "" if side is None else f", shape {list(side.shape)}"
        if side is not None and side.made is not None:
            more += f", in a layer made at {place(side.made)}"
        yield printable(f"    {name}  {made}{more}")
    if found.agree:
        yield printable(f"    its inputs agree: {', '.join(found.agree)}")
    for words in found.differences:
        yield printable(f"    different: {words}")


def _cause(cause: Cause, paint: Paint) -> Iterator[str]:
    tried = {"found": ", found by trying", "refuted": ", tried and refuted"}.get(cause.tried, "")
    style = "9" if cause.tried == "refuted" else "1"
    look = f", look at {place(cause.tf2_place)}" if cause.tf2_place and cause.tried != "refuted" else ""
    yield f"  {paint(printable(cause.kind), style)} ({cause.weight:.0%}){tried}{look}"
    for words in cause.evidence:
        yield f"    {printable(words)}"
    for finding in cause.findings:
        where = f"{finding.path}:{finding.line}" if finding.cell is None else f"{finding.path}:{finding.cell}"
        yield f"    {printable(where)}: {paint(printable(finding.code), '35')} {printable(finding.message)}"


def _timed(report: Results, paint: Paint) -> Iterator[str]:
    rows, problems = timed(report)
    for what, tf1, tf2 in rows:
        yield paint(f"{what}: TF1 {tf1}; TF2 {tf2}", "2")
    for words in problems:
        yield paint(words, _COLOURS[Status.VACUOUS])


def _side(side: SideSummary, paint: Paint) -> Iterator[str]:
    versions = ", ".join(f"{name} {version}" for name, version in side.versions.items())
    yield paint(printable(f"{side.side.upper()}: {versions or 'unknown versions'}"), "2")
    if side.cause:
        yield paint(printable(f"  ended early: {side.cause}"), _COLOURS[Status.FAIL])
    for words in side.adaptations:
        yield paint(printable(f"  adapted: {words}"), "2")
    for words in side.notes:
        yield paint(printable(f"  {words}"), "2")
