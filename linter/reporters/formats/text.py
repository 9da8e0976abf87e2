"""People: errors first, with their source lines, carets and a short why; infos in brief."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from ...finding import Finding, Severity, Verdict
from ...result import Result
from ...rule_api.rule import documentation
from .. import Paint, header, printable, printable_characters, said
from ..causes import listed
from ..ci import documented_rules

__all__ = ["FOR_PROGRAMS", "in_full", "report"]

FOR_PROGRAMS = False

_WIDTH = 120
_TAB = 4


_SEVERITIES = list(Severity)


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the report, without its summary; of the infos of a rule one is shown, and where the others are."""
    shown, folded = _folded(result.findings)
    yield from _shown(result, shown, paint)
    for (code, slug), findings in sorted(folded.items()):
        info = paint(Severity.INFO.value, Severity.INFO.value)
        places = listed(_places(findings), "file")
        yield f"{paint(code, 'code')}[{slug}] {info} {len(findings)} more: {places}; --show-info"
    if folded:
        yield ""


def in_full(result: Result, paint: Paint) -> Iterator[str]:
    """The report with every info."""
    yield from _shown(result, result.findings, paint)


def _folded(findings: Iterable[Finding]) -> tuple[list[Finding], dict[tuple[str, str], list[Finding]]]:
    """The findings to be shown, and by rule the infos that no run has judged, after the first of each."""
    shown: list[Finding] = []
    folded: dict[tuple[str, str], list[Finding]] = {}
    seen: set[str] = set()
    for finding in findings:
        if finding.severity is not Severity.INFO or finding.evidence or finding.code not in seen:
            shown.append(finding)
        else:
            folded.setdefault((finding.code, finding.slug), []).append(finding)
        if finding.severity is Severity.INFO:
            seen.add(finding.code)
    return shown, folded


def _places(findings: Iterable[Finding]) -> list[str]:
    """Files and how often each is found in, those with most first; of one alone its line."""
    lines: dict[str, list[int]] = {}
    for finding in findings:
        lines.setdefault(printable(finding.path), []).append(finding.line)
    most = sorted(lines.items(), key=lambda item: -len(item[1]))
    return [f"{path} {len(found)}" if found[1:] else f"{path}:{found[0]}" for path, found in most]


def _shown(result: Result, findings: Iterable[Finding], paint: Paint) -> Iterator[str]:
    """Findings, the worst of a file first; a rule says why at its first."""
    reasons = _reasons() if result.findings else {}
    for path, of_file in groupby(findings, key=lambda finding: finding.path):
        source = result.source(path)
        texts = source.texts if source is not None else {}
        for finding in sorted(of_file, key=lambda finding: _SEVERITIES.index(finding.severity)):
            yield header(finding, paint)
            lines = texts.get(finding.cell, ())
            if finding.line <= len(lines) and lines[finding.line - 1].strip():
                shown, caret = _excerpt(lines[finding.line - 1], finding)
                yield f"    {shown}"
                yield f"    {paint(caret, finding.severity.value)}"
            yield from (f"    {line}" for line in _verdict(finding, paint))
            if reason := reasons.pop(finding.code, ""):
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
