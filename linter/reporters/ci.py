"""What the formats for CI servers share: where a file lies in the repository, what is said, what is worst."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ..finding import Consequence, Finding, Severity, Verdict
from ..rule_api.rule import Rule
from . import Paint, escape, said

_SEVERITIES, _CONSEQUENCES = list(Severity), list(Consequence)
_PROVEN = (Verdict.CONFIRMED, Verdict.FAILED, None, Verdict.UNREACHED, Verdict.STATIC_ONLY, Verdict.REFUTED)


class Repository:
    """The git checkout around the working folder, or this folder where there is none.

    CI servers look for files below it, wherever in it the linter was started.
    """

    def __init__(self) -> None:
        self.working_folder = os.getcwd()
        self.root = folder = self.working_folder
        while not os.path.lexists(os.path.join(folder, ".git")):
            if (parent := os.path.dirname(folder)) == folder:
                return
            folder = parent
        self.root = folder

    def relative(self, path: str) -> str | None:
        """The path of a finding as seen from the root, with ``/``; None for a file that lies elsewhere."""
        full = self.absolute(path)
        inside = self.root if self.root.endswith(os.sep) else self.root + os.sep
        if full != self.root and not full.startswith(inside):
            return None
        return os.path.relpath(full, self.root).replace(os.sep, "/")

    def absolute(self, path: str) -> str:
        """The path of a finding from the top of the file system."""
        return os.path.normpath(os.path.join(self.working_folder, path))

    def shown(self, path: str) -> str:
        """The relative path where there is one, and else the path as it is."""
        relative = self.relative(path)
        return path if relative is None else relative


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """By severity, then what a run has proven, then consequence, then the order of every report."""
    return sorted(
        findings,
        key=lambda one: (
            _SEVERITIES.index(one.severity),
            _PROVEN.index(one.verdict),
            _CONSEQUENCES.index(one.consequence),
            one.sort_key,
        ),
    )


def explained(finding: Finding) -> str:
    """The message, and on a line of its own the verdict with the first evidence for it; printable but for line ends."""
    text = escaped(finding.message)
    if finding.verdict is None:
        return text
    words = (said(one, finding.message, Paint(False)) for one in finding.evidence if one.verdict is finding.verdict)
    return f"{text}\n{next(words, finding.verdict.value)}"


def escaped(text: str) -> str:
    """Printable but for line ends and tabs."""
    return "".join(character if character in "\r\n\t" else escape(character) for character in text)


def place(finding: Finding) -> str:
    """``line 3``, or ``cell 2, line 3`` in a notebook."""
    return f"line {finding.line}" if finding.cell is None else f"cell {finding.cell}, line {finding.line}"


def documented_rules() -> Sequence[type[Rule]]:
    """Every rule there is, those of the tool itself included, by code."""
    from ..registry.registry import all_rules
    from ..registry.tool_rules import TOOL_RULES

    rules = {rule.code: type(rule) for rule in all_rules()} | {rule.code: rule for rule in TOOL_RULES}
    return [rules[code] for code in sorted(rules)]
