"""People: every finding with its source line, a caret and a short why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from ...finding import Finding, Verdict
from ...result import Result
from ...rule_api.rule import documentation
from .. import Paint, header, printable_characters, said
from ..ci import documented_rules

__all__ = ["FOR_PROGRAMS", "report"]

FOR_PROGRAMS = False

_WIDTH = 120
_TAB = 4


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, without its summary."""
    reasons: dict[str, str] = {}
    if result.findings:
        reasons = _reasons()
    for path, findings in groupby(result.findings, key=lambda finding: finding.path):
        source = result.source(path)
        texts = source.texts if source is not None else {}
        for finding in findings:
            yield header(finding, paint)
            lines = texts.get(finding.cell, ())
            if finding.line <= len(lines) and lines[finding.line - 1].strip():
                shown, caret = _excerpt(lines[finding.line - 1], finding)
                yield f"    {shown}"
                yield f"    {paint(caret, finding.severity.value)}"
            yield from (f"    {line}" for line in _verdict(finding, paint))
            if reason := reasons.get(finding.code):
                yield f"    {paint(reason, 'dim')}"
            yield ""


def _verdict(finding: Finding, paint: Paint) -> Iterator[str]:
    """What each run said of a finding, a line each."""
    if finding.evidence:
        yield from dict.fromkeys(said(evidence, finding.message, paint) for evidence in finding.evidence)
    elif finding.verdict is Verdict.STATIC_ONLY:
        yield paint(f"{finding.verdict.value}: no probe decides this rule", finding.verdict.value)
    elif finding.verdict is not None:
        yield paint(finding.verdict.value, finding.verdict.value)


def _reasons() -> dict[str, str]:
    """The first sentence of what each rule says of itself."""
    return {rule.code: _first_sentence(documentation(rule)["Summary"]) for rule in documented_rules()}


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", " ".join(text.split()), maxsplit=1)[0]


def _excerpt(line: str, finding: Finding) -> tuple[str, str]:
    """The source line as it can be shown, cut to the width of a screen, and the caret line below it."""
    start = min(finding.column, len(line) + 1) - 1
    end = finding.end_column - 1 if finding.end_line == finding.line else len(line.rstrip())
    end = max(end, start + 1)
    indent = len(line) - len(line.lstrip(" \t\f"))
    first = min(indent, start)
    if end - first > _WIDTH:
        first = max(first, start - _WIDTH // 3)
    last = min(len(line), first + _WIDTH)
    cut = line[first:last]
    shown = [" " * _TAB if raw == "\t" else safe for raw, safe in zip(cut, printable_characters(cut), strict=True)]
    before, after = ("…" if first > indent else ""), ("…" if last < len(line) else "")
    offset = len(before) + sum(map(_columns, shown[: start - first]))
    width = sum(map(_columns, shown[start - first : end - first]))
    return before + "".join(shown) + after, " " * offset + "^" * max(width, 1)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
