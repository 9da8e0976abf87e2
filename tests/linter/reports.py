"""Results and reports for the tests of the formats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from migrate_lint.linter.finding import Consequence, Finding, Severity, Target
from migrate_lint.linter.reporters import Paint
from migrate_lint.linter.result import LintedProject, Result
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

HOSTILE = "</failure>]]><script>\x00\x1b[31m\x0b\ufffe\u202e\udcff\n::error::%0A`](http://x)`\"'&amp;"
"""Markup, control characters and commands, as a linted file may hold them."""

FINDING = Finding(
    "pkg/m.py",
    2,
    5,
    2,
    11,
    "TF101",
    "variable-in-call",
    Severity.ERROR,
    Consequence.CHANGES,
    "made at every call",
)


def result_of(*findings: Finding, source: bytes = b"import tensorflow as tf\nx = foo(1)\n") -> Result:
    """A result of made-up findings, in files that all hold `source`."""
    projects = (LintedProject("/p", Target.KERAS3, "no evidence in the project", 1),)
    sources: dict[str, tuple[str, bytes | None]] = {finding.path: (finding.path, source) for finding in findings}
    ordered = tuple(sorted(findings, key=lambda finding: finding.sort_key))
    return Result(ordered, len(sources), projects, (), sources)


def linted(folder: Path, files: Mapping[str, str]) -> Result:
    """The result for these files, written below a folder that is the working folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return lint(sorted(files), Config(base=str(folder)))


def text_of(reporter: ModuleType, result: Result) -> str:
    """The whole report; it is ASCII, so that no terminal's encoding can spoil it."""
    text = "".join(f"{line}\n" for line in reporter.report(result, Paint(False)))
    assert text.isascii()
    return text
