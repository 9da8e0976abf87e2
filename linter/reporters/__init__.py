"""How findings are shown, a module a format, and how any text is made safe to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..finding import Severity

if TYPE_CHECKING:
    from ..finding import Finding
    from ..run import Result

__all__ = ["Paint", "counts", "header", "printable", "statistics", "summary"]

_COLORS = {"error": "31;1", "warning": "33;1", "info": "36;1", "bold": "1", "dim": "2", "code": "35"}


def printable(text: str) -> str:
    r"""The text with control, format and unpaired surrogate characters written as escapes such as ``\x1b``.

    A file's name and its lines are a stranger's: raw, they could move the cursor, recolour or hide what was printed.
    """
    return text if text.isprintable() else "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character.isprintable() or character in "\u00a0\u3000":
        return character
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if character in short:
        return short[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Paint:
    """Colours text, or leaves it as it is."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __call__(self, text: str, style: str) -> str:
        """The text in a style: a severity, ``bold``, ``dim`` or ``code``."""
        return f"\x1b[{_COLORS[style]}m{text}\x1b[0m" if self.enabled else text


def header(finding: Finding, paint: Paint) -> str:
    """``path:line:col: CODE[slug] severity message``; a notebook's cell stands before the line."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    place = f"{printable(finding.path)}:{cell}{finding.line}:{finding.column}:"
    rule = f"{paint(finding.code, 'code')}[{finding.slug}]"
    return f"{paint(place, 'bold')} {rule} {paint(finding.severity.value, finding.severity.value)} " + printable(
        finding.message
    )


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """The number of findings of each severity, worst first."""
    found = Counter(finding.severity for finding in findings)
    return {severity.value: found[severity] for severity in Severity}


def summary(result: Result, paint: Paint) -> list[str]:
    """The closing lines: the number of findings and files, and what each project's target was taken from."""
    files = _plural(result.files, "file")
    lines = [f"{printable(folder)}: 0 files were found in this folder" for folder in result.empty]
    if result.findings:
        found = ", ".join(
            paint(_plural(number, severity), severity) for severity, number in counts(result.findings).items() if number
        )
        lines.append(f"Found {found} in {files}.")
    elif result.files:
        lines.append(f"All checks passed: {files}.")
    else:
        lines.append("Nothing was checked: 0 files were found.")
    for project in result.projects:
        where = f"{printable(project.root)}: " if len(result.projects) > 1 else ""
        lines.append(paint(f"{where}target {project.target} ({printable(project.reason)})", "dim"))
    return lines


def statistics(findings: Iterable[Finding]) -> list[str]:
    """Two tables: findings by rule, the most frequent first, and by consequence."""
    findings = list(findings)
    rules = Counter((finding.code, finding.slug) for finding in findings)
    width = len(str(len(findings)))
    lines = [
        f"{number:>{width}}  {code}  {slug}"
        for (code, slug), number in sorted(rules.items(), key=lambda item: (-item[1], item[0]))
    ]
    meanings = {"breaks": "it raises", "changes": "it computes something else", "legacy": "it works through compat.v1"}
    consequences = Counter(finding.consequence.value for finding in findings)
    lines += [""] if lines else []
    lines += [
        f"{consequences[name]:>{width}}  {name:<7}  {meaning}"
        for name, meaning in meanings.items()
        if consequences[name]
    ]
    return lines


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
