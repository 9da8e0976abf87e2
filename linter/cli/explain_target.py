"""Which TF2 each project is moved to, by what evidence, and what the other one would change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..finding import Finding, Severity, Target
from ..reporters import printable
from ..result import LintedProject, Result
from ..run.pipeline import lint
from ..settings.config import Config
from ..settings.target import statements

_OTHER = {Target.KERAS2: Target.KERAS3, Target.KERAS3: Target.KERAS2}
_WHAT = {
    Target.KERAS2: "TF up to 2.15, or tf_keras with TF_USE_LEGACY_KERAS=1",
    Target.KERAS3: "TF from 2.16 on with its Keras 3",
}


def explain_target(paths: Sequence[str], config: Config, jobs: int, cache: Path | None) -> Iterator[str]:
    """Lines on each project of some paths: its target, what it states, and the findings that hang on it."""
    chosen = lint(paths, config, jobs=jobs, cache=cache)
    found = {
        target: lint(paths, config.aimed_at(target.value), jobs=jobs, cache=cache).findings for target in Target
    }
    for project in chosen.projects:
        other = _OTHER[project.target]
        yield f"{printable(project.root)}: {project.target}, {_WHAT[project.target]}"
        yield f"  because: {printable(project.reason)}"
        for text, target in statements(Path(project.root)):
            yield f"  stated: {printable(text)} ({target or 'for either'})"
        here, there = (_counted(found[target], project, chosen) for target in (project.target, other))
        yield f"  with {other}, {_WHAT[other]}:"
        more, fewer = there - here, here - there
        yield from (f"    {sign}{line}" for sign, some in (("+", more), ("-", fewer)) for line in _rows(some))
        if not more and not fewer:
            yield "    nothing else is found"


def _counted(findings: Sequence[Finding], project: LintedProject, result: Result) -> Counter[tuple[str, str, Severity]]:
    """The findings of a project by rule and severity."""
    roots = sorted((other.root for other in result.projects), key=len, reverse=True)
    own = (finding for finding in findings if _root_of(finding.path, roots) == project.root)
    return Counter((finding.code, finding.slug, finding.severity) for finding in own)


def _root_of(path: str, roots: Sequence[str]) -> str:
    """The innermost of some folders, the longest first, in which a file is."""
    place = os.path.abspath(path)
    return next((root for root in roots if place.startswith(os.path.join(os.path.abspath(root), ""))), "")


def _rows(found: Counter[tuple[str, str, Severity]]) -> Iterator[str]:
    ranks = list(Severity)
    for (code, slug, severity), number in sorted(found.items(), key=lambda item: (ranks.index(item[0][2]), item[0])):
        yield f"{number} {severity}{'s' if number > 1 else ''}: {code} {slug}"
