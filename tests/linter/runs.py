"""Reports of a run of the model, as tests make them up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from migrate_lint.linter.finding import Evidence, Finding, Target, Verdict
from migrate_lint.linter.runtime_report import LinesRun, PhaseOutcome, RuntimeReport, WorkerRun

RUN = WorkerRun(Target.KERAS3, "CPU:0", "2.21.0", "3.15.1", "3.11.7", (), (), (), (), None, 5.5, 600_000_000)


def worker_run(**changes: Any) -> WorkerRun:
    return replace(RUN, **changes)


def report_of(
    findings: tuple[Finding, ...], added: tuple[Finding, ...] = (), runs: tuple[WorkerRun, ...] = (RUN,)
) -> RuntimeReport:
    return RuntimeReport(findings, added, runs)


def evidence(verdict: Verdict, detail: str = "", phase: str = "second call") -> Evidence:
    return Evidence(Target.KERAS3, "CPU:0", phase, verdict, detail)


__all__ = ["RUN", "LinesRun", "PhaseOutcome", "evidence", "report_of", "worker_run"]
