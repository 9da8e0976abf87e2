"""Finds the probes of findings, by the names of their rules, asks them, and what is left when all have answered."""

from __future__ import annotations

import copy
import importlib
import os
from typing import Any

from .observations import observe
from .phases import Phase
from .run import CONFIRMED, FAILED, STATIC_ONLY, Judgement, Run, Snapshot, StaticFinding

__all__ = ["judge", "report", "take_snapshots"]

_PROBES: dict[str, Any] = {}
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes")


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """The verdict on a finding, with the events that it accounts for; `STATIC_ONLY` where its rule has no probe."""
    seen = copy.copy(run)
    seen.asked = set()
    try:
        probe = _probe(finding.slug)
        if probe is None:
            return Judgement(STATIC_ONLY, None, "no probe decides this rule", ())
        if finding.id in run.troubles:
            raise run.troubles[finding.id]
        judgement = Judgement(*probe.judge(finding, seen))
    except Exception as error:
        return Judgement(FAILED, None, f"the probe itself failed: {type(error).__name__}: {error}", ())
    if judgement.explains is not None:
        return judgement
    kinds = sorted(seen.asked) if judgement.verdict == CONFIRMED else ()
    return judgement._replace(explains=[event for kind in kinds for event in run.events_at(finding, kind)])


def report(run: Run) -> tuple[dict[str, Judgement], list[dict[str, Any]]]:
    """The verdicts, by the number of the finding, and what the run showed that no finding accounts for."""
    judgements = {str(finding.id): judge(finding, run) for finding in run.findings}
    explained = frozenset(event for one in judgements.values() for event in one.explains or ())
    decided = [(finding, judgements[str(finding.id)]) for finding in run.findings]
    return judgements, observe(run, explained, [one for one in decided if one[1].phase is not None])


def take_snapshots(run: Run, phase: Phase | None) -> None:
    """Let the probes that have a ``snapshot`` look at the program, at the end of a phase or, with None, of the run."""
    for finding in run.findings:
        try:
            snapshot = getattr(_probe(finding.slug), "snapshot", None)
            value = None if snapshot is None else snapshot(finding, run, phase)
        except (Exception, SystemExit) as error:  # a probe may call the program again, which may end itself
            trouble = error if isinstance(error, Exception) else RuntimeError(f"the program exits: {error}")
            run.troubles[finding.id] = trouble.with_traceback(None)
            continue
        run.troubles.pop(finding.id, None)
        if value is not None:
            run.snapshots[finding.id].append(Snapshot(phase, value))


def _probe(slug: str) -> Any:
    if slug not in _PROBES:
        name = slug.replace("-", "_")
        exists = os.path.exists(os.path.join(_FOLDER, name + ".py"))
        _PROBES[slug] = importlib.import_module(".probes." + name, __package__) if exists else None
    return _PROBES[slug]
