"""From what the workers said to verdicts: one for each finding, over all targets and devices."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..linter.finding import Consequence, Evidence, Finding, Severity, Target, Verdict
from .protocol import Observed

__all__ = ["PROBE_FAILED", "PROBE_ONLY", "failure", "merged", "observation", "shown", "together"]

PROBE_ONLY = ("TF907", "probe-only-finding")
PROBE_FAILED = ("TF908", "probe-failed")

_STRONGEST_FIRST = (Verdict.CONFIRMED, Verdict.FAILED, Verdict.UNREACHED, Verdict.REFUTED, Verdict.STATIC_ONLY)


def merged(finding: Finding, evidence: Sequence[Evidence]) -> Finding:
    """The finding with its evidence, and the strongest verdict of it.

    Over several targets and devices confirmed > failed > unreached > refuted; what no probe decides is static-only.
    """
    decided = [one for one in evidence if one.verdict is not Verdict.STATIC_ONLY]
    verdict = min((one.verdict for one in decided), key=_STRONGEST_FIRST.index, default=Verdict.STATIC_ONLY)
    return replace(finding, verdict=verdict, evidence=tuple(decided))


def observation(observed: Observed, *, path: str, text: str, target: Target, device: str) -> Finding:
    """A finding that only the run could make; it spans its line.

    Args:
        observed: what the worker said.
        path: the file as it is shown.
        text: the line's text, empty if it is not known.
        target: on which Keras it was seen.
        device: on which device.
    """
    line = max(observed.line, 1)
    came_by = [f"{os.path.basename(file)}:{number}" for file, number in observed.callers]
    message = observed.message + (f" (called from {', '.join(came_by)})" if came_by else "")
    column = len(text) - len(text.lstrip()) + 1
    return Finding(
        path=path,
        line=line,
        column=column,
        end_line=line,
        end_column=max(len(text.rstrip()), column) + 1,
        code=PROBE_ONLY[0],
        slug=PROBE_ONLY[1],
        severity=observed.severity,
        consequence=Consequence.CHANGES,
        message=message,
        origin="runtime",
        verdict=Verdict.CONFIRMED,
        evidence=(Evidence(target, device, observed.phase, Verdict.CONFIRMED, observed.message),),
    )


def failure(*, path: str, line: int, message: str, target: Target, device: str, phase: str) -> Finding:
    """The finding that the model could not be imported, built or called, at the line that raised."""
    return Finding(
        path=path,
        line=max(line, 1),
        column=1,
        end_line=max(line, 1),
        end_column=2,
        code=PROBE_FAILED[0],
        slug=PROBE_FAILED[1],
        severity=Severity.WARNING,
        consequence=Consequence.BREAKS,
        message=message,
        origin="runtime",
        verdict=Verdict.FAILED,
        evidence=(Evidence(target, device, phase, Verdict.FAILED, message),),
    )


def together(findings: Iterable[tuple[str, Finding]]) -> Iterator[Finding]:
    """Findings of several runs about the same line and of the same kind as one, the worst, with all evidence."""
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for kind, finding in findings:
        groups.setdefault((finding.path, finding.line, finding.code, kind), []).append(finding)
    severities = list(Severity)
    for group in groups.values():
        evidence = tuple(one for finding in group for one in finding.evidence)
        worst = min(group, key=lambda finding: severities.index(finding.severity))
        yield replace(worst, evidence=evidence)


def shown(path: str) -> str:
    """A path as findings show it: relative to the working directory, or absolute where it lies outside."""
    relative = os.path.relpath(path)
    return path.replace(os.sep, "/") if relative.startswith("..") else relative.replace(os.sep, "/")
