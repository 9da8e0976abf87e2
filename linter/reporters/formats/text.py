"""People: errors first, with their source lines, carets and a short why; infos in brief."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ...finding import Finding, Severity, Verdict
from ...result import Result
from ...rule_api.rule import documentation
from .. import Paint, header, printable, printable_characters, said
from ..causes import listed
from ..ci import documented_rules
from ..echoes import Links, links, place_of
from ..wrapping import columns

__all__ = ["FOR_PROGRAMS", "WRAPS", "in_full", "report"]

FOR_PROGRAMS = False
WRAPS = True
"""Whether lines may be broken where they are too long for a terminal."""

_WIDTH, _NARROWEST = 120, 20
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
    """Findings: files without which others cannot be imported first, the worst of a file first, echoes after causes.

    A rule says why at its first.
    """
    reasons = _reasons() if result.findings else {}
    known = links(result)
    by_path = [(path, list(found)) for path, found in groupby(findings, key=lambda finding: finding.path)]
    for path, of_file in sorted(by_path, key=lambda item: known.rank(item[0])):
        source = result.source(path)
        texts = source.texts if source is not None else {}
        order = {one: (_SEVERITIES.index(one.severity), not known.stops(one), one in known.causes) for one in of_file}
        for finding in sorted(of_file, key=order.__getitem__):
            yield header(finding, paint)
            lines = texts.get(finding.cell, ())
            if finding.line <= len(lines) and lines[finding.line - 1].strip():
                number = str(finding.line)
                gutter = 4 + len(number) + 3
                most = _WIDTH if paint.width is None else max(paint.width - gutter - 2, _NARROWEST)
                shown, caret = _excerpt(lines[finding.line - 1], finding, min(most, _WIDTH))
                yield f"    {paint(f'{number} |', 'dim')} {shown}"
                yield f"    {' ' * len(number)} {paint('|', 'dim')} {paint(caret, finding.severity.value)}"
            yield from (f"    {line}" for line in _verdict(finding, paint))
            yield from (f"    {line}" for line in _ties(finding, known))
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


def _ties(finding: Finding, known: Links) -> Iterator[str]:
    """What fails with a finding, and what it follows from."""
    if known.stops(finding) and (stop := known.stopped[finding.path]).others:
        others = listed([*map(printable, stop.first)], "file", stop.others)
        yield f"until this is mended, this file cannot be imported, nor {others}"
    if causes := known.causes.get(finding, ()):
        others = f" and {len(causes) - 1} like it" if causes[1:] else ""
        yield f"follows from {place_of(causes[0])}{others}"


def _reasons() -> dict[str, str]:
    """The first sentence of what each rule says of itself."""
    return {rule.code: _first_sentence(documentation(rule)["Summary"]) for rule in documented_rules()}


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", " ".join(text.split()), maxsplit=1)[0]


def _excerpt(line: str, finding: Finding, most: int) -> tuple[str, str]:
    """The source line as it can be shown, cut to `most` columns, and the caret line below it."""
    start = min(finding.column, len(line) + 1) - 1
    end = finding.end_column - 1 if finding.end_line == finding.line else len(line.rstrip())
    end = max(end, start + 1)
    indent = len(line) - len(line.lstrip(" \t\f"))
    safe = zip(line, printable_characters(line), strict=True)
    shown = [" " * _TAB if raw == "\t" else text for raw, text in safe]
    widths = [*map(columns, shown)]
    first = min(indent, start)
    if sum(widths[first:end]) > most:
        first = _back(widths, start, most // 3, first)
    last = first
    room = most
    while last < len(line) and widths[last] <= room:
        room -= widths[last]
        last += 1
    before, after = ("…" if first > indent else ""), ("…" if last < len(line) else "")
    offset = len(before) + sum(widths[first:start])
    marked = sum(widths[start : min(end, last)])
    return before + "".join(shown[first:last]) + after, " " * offset + "^" * max(marked, 1)


def _back(widths: Sequence[int], place: int, room: int, first: int) -> int:
    """As far before a place as there is room for, but not before the first, nor at a mark of the letter before."""
    back = place
    while back > first and widths[back - 1] <= room:
        back -= 1
        room -= widths[back]
    while first < back < place and not widths[back]:
        back += 1
    return back
