"""What a run of the model adds to a result: verdicts, and findings that only a run could make."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from ..finding import Finding, Verdict
from ..registry import registry
from ..result import Result, Runtime
from ..runtime_report import RuntimeReport
from ..source.suppressions import Suppressions, find_suppressions


def with_verdicts(result: Result, report: RuntimeReport, trust: bool = False) -> Result:
    """A result with the verdicts of a run, and with what only the run has found.

    The added findings are selected and suppressed like any other.
    With `trust` refuted findings are left out, and only those.
    """
    shown = [one for one in report.findings if not (trust and one.verdict is Verdict.REFUTED)]
    found = {finding.path: os.path.abspath(finding.path) for finding in report.added}
    more = replace(result, sources={display: (path, None) for display, path in found.items()} | dict(result.sources))
    added: list[Finding] = []
    for display in sorted(found):
        codes = result.selected(more.sources[display][0])
        mine = [finding for finding in report.added if finding.path == display and finding.code in codes]
        source = more.source(display)
        comments = Suppressions() if source is None else find_suppressions(source)
        shown_here = comments.without_hidden(mine, codes=registry.codes())
        notebook = None if source is None else source.notebook
        added += shown_here if notebook is None else map(notebook.places.located, shown_here)
    findings = sorted([*shown, *added], key=lambda finding: finding.sort_key)
    runtime = Runtime(tuple(report.runs), tally(report.findings), trust)
    return replace(more, findings=tuple(findings), runtime=runtime)


def tally(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """The number of findings with each verdict, none left out."""
    found = Counter(finding.verdict for finding in findings)
    return {verdict: found[verdict] for verdict in Verdict}
