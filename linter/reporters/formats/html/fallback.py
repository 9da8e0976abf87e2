"""The page for a reader without scripts: the same numbers and findings, as markup that nothing folds or filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....finding import Consequence, Severity, Verdict
from ...page import markup
from .page_data import MENDS, UNOWNED, Row

_SEVERITIES, _CONSEQUENCES, _VERDICTS = list(Severity), list(Consequence), list(Verdict)
_MENDED = {"safe": "--fix mends it", "unsafe": "--unsafe-fixes mends it", "person": "a person mends it"}


def fallback(data: Mapping[str, Any], known: str) -> str:
    """What stands on the page in place of what its script makes of the same data.

    Args:
        data: as `page_data` gives it.
        known: the section on known findings, as markup.
    """
    findings, files = data["findings"], data["files"]
    rules = [f"{rule['code']} {rule['slug']}" for rule in data["rules"]]
    parts = [
        f"<p>{markup(_summary(data))}</p>",
        known,
        *_reports(data),
        "<p>The script of this page, which folds, filters and shows code, is switched off here.</p>",
        _table("Findings by rule", (rules[row.rule] for row in findings)),
        _table("Findings by who mends them", (_MENDED[MENDS[row.mends]] for row in findings)),
    ]
    if data["owners"]:
        owned = (owner for row in findings for owner in files[row.file]["owners"] or [UNOWNED])
        parts.append(_table(f"Findings by owner, of {data['owners']}", owned))
    parts.append(_table("Findings by file", (files[row.file]["path"] for row in findings)))
    by_file: dict[int, list[Row]] = {}
    for row in findings:
        by_file.setdefault(row.file, []).append(row)
    parts += [_file(files[number], rows, rules, data) for number, rows in by_file.items()]
    return "\n".join(filter(None, parts))


def _summary(data: Mapping[str, Any]) -> str:
    findings = data["findings"]
    if not findings:
        return str(data["passed"])
    severities = Counter(row.severity for row in findings)
    consequences = Counter(row.consequence for row in findings)
    words = [f"{consequences[number]} {one.value}" for number, one in enumerate(_CONSEQUENCES)]
    words += [f"{severities[number]} {one.value}" for number, one in enumerate(_SEVERITIES)]
    return f"Findings: {len(findings)}, in {data['checked']} files: {', '.join(words)}."


def _reports(data: Mapping[str, Any]) -> Iterator[str]:
    for report in data["reports"]:
        named = f" It names {report['findings']} of these findings."
        yield f"<p>verify: {_link(report['href'], report['name'])}: {markup(report['verdict'])}{named}</p>"


def _table(caption: str, names: Iterable[str]) -> str:
    """How often each name occurs, the most frequent first; nothing where there are none."""
    ordered = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    rows = "".join(f"<tr><td>{number}<td>{markup(name)}" for name, number in ordered)
    return f"<table><caption>{markup(caption)}</caption>{rows}</table>" if rows else ""


def _file(file: Mapping[str, Any], rows: Iterable[Row], rules: list[str], data: Mapping[str, Any]) -> str:
    owners = f"<p>{markup(' '.join(file['owners']) or UNOWNED)}</p>" if file["owners"] is not None else ""
    items = "".join(_finding(row, rules[row.rule], data) for row in rows)
    return f"<h2>{markup(file['path'])}</h2>{owners}<ul>{items}</ul>"


def _finding(row: Row, rule: str, data: Mapping[str, Any]) -> str:
    cell = "" if row.cell is None else f"cell {row.cell}, "
    facts = [_SEVERITIES[row.severity].value, _CONSEQUENCES[row.consequence].value]
    facts += [] if row.verdict < 0 else [_VERDICTS[row.verdict].value]
    facts += ["found at run time only"] if row.runtime else []
    facts += [_MENDED[MENDS[row.mends]]]
    said = [markup(row.message)]
    said += [markup(" ".join(filter(None, one))) for one in row.evidence]
    for number, words in row.reports:
        report = data["reports"][number]
        said.append(f"verify: {_link(report['href'], report['name'])}: {markup(words)}")
    place = _link(row.href, f"{cell}{row.line}:{row.column}")
    return f"<li>{place} {markup(rule)} ({markup(', '.join(facts))})<br>{'<br>'.join(said)}</li>"


def _link(href: str | None, words: str) -> str:
    if href is None:
        return markup(words)
    return f'<a href="{markup(href)}" rel="noopener noreferrer">{markup(words)}</a>'
